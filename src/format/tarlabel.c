/* tarlabel.c - what a member of an archive is to its sample, and labels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/tarlabel.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/ascii.h"
#include "base/error.h"
#include "base/mem.h"
#include "codec/picture.h"
#include "weir/dataset.h"

static const struct {
    const char *ext;
    enum wr_tar_part part;
} endings[] = {
    {"cls", WR_TAR_LABEL_TEXT},
    {"cls.txt", WR_TAR_LABEL_TEXT},
    {"label", WR_TAR_LABEL_TEXT},
    {"json", WR_TAR_JSON},
    {"id", WR_TAR_ID},
};

static enum wr_tar_part find_ending(const char *ext, unsigned *ret_bit)
{
    for (unsigned k = 0; k < WR_ARRAY_LEN(endings); k++)
        if (!wr_strcasecmp(ext, endings[k].ext)) {
            *ret_bit = 1u << k;
            return endings[k].part;
        }
    for (unsigned k = 0; wr_picture_ext_at(k); k++)
        if (!wr_strcasecmp(ext, wr_picture_ext_at(k) + 1)) {
            *ret_bit = 1u << (WR_ARRAY_LEN(endings) + k);
            return WR_TAR_PICTURE;
        }
    *ret_bit = 0;
    return WR_TAR_NO_PART;
}

enum wr_tar_part wr_tar_part_of(const char *ext, unsigned *ret_bit)
{
    const char *dot = strrchr(ext, '.');
    enum wr_tar_part part = find_ending(ext, ret_bit);
    unsigned other;

    if (part == WR_TAR_NO_PART && dot &&
        find_ending(dot + 1, &other) == WR_TAR_PICTURE)
        return WR_TAR_VIEW;
    return part;
}

static int fail_number(weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT,
                   "the label is no number below 4294967295");
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* "7\n" -> 7, "-1" -> WEIR_NO_LABEL */
static int parse_text(const char *p, size_t len, uint32_t *ret, weir_err *err)
{
    uint64_t value = 0;

    while (len && is_space(p[len - 1]))
        len--;
    while (len && is_space(*p)) {
        p++;
        len--;
    }
    if (len == 2 && !memcmp(p, "-1", 2)) {
        *ret = WEIR_NO_LABEL;
        return 0;
    }
    if (!len)
        return fail_number(err);
    for (size_t k = 0; k < len; k++) {
        if (p[k] < '0' || p[k] > '9')
            return fail_number(err);
        value = value * 10 + (uint64_t)(p[k] - '0');
        if (value >= WEIR_NO_LABEL)
            return fail_number(err);
    }
    *ret = (uint32_t)value;
    return 0;
}

/* The number in a document, or NULL. */
static const json_t *find_number(const json_t *doc)
{
    static const char *const keys[] = {"label", "cls", "class", "class_id"};

    if (json_is_integer(doc))
        return doc;
    for (size_t k = 0; k < WR_ARRAY_LEN(keys); k++) {
        const json_t *value = json_object_get(doc, keys[k]);

        if (json_is_integer(value))
            return value;
    }
    return NULL;
}

static int load_json(const char *bytes, size_t len, json_t **ret, weir_err *err)
{
    locale_t before = wr_locale_enter();
    json_error_t why;
    json_t *doc;

    errno = 0;
    doc = json_loadb(bytes, len, JSON_DECODE_ANY, &why);
    wr_locale_leave(before);
    /* jansson blames the text when memory is short; errno has kept it. */
    if (errno == ENOMEM) { /* also when something was left out */
        json_decref(doc);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    if (!doc)
        return wr_fail(err, WEIR_EFORMAT, "not JSON: %s", why.text);
    *ret = doc;
    return 0;
}

static int parse_json(const char *bytes, size_t len, uint32_t *ret,
                      weir_err *err)
{
    const json_t *number;
    json_t *doc = NULL;
    int r = load_json(bytes, len, &doc, err);

    if (r < 0)
        return r;
    number = find_number(doc);
    if (!number || json_integer_value(number) == -1)
        *ret = WEIR_NO_LABEL;
    else if (json_integer_value(number) < 0 ||
             json_integer_value(number) >= WEIR_NO_LABEL)
        r = fail_number(err);
    else
        *ret = (uint32_t)json_integer_value(number);
    json_decref(doc);
    return r;
}

int wr_tar_label_parse(enum wr_tar_part part, const char *bytes, size_t len,
                       uint32_t *ret, weir_err *err)
{
    if (part == WR_TAR_JSON)
        return parse_json(bytes, len, ret, err);
    if (part == WR_TAR_ID && parse_text(bytes, len, ret, NULL) < 0) {
        *ret = WEIR_NO_LABEL; /* ids are words as often as numbers */
        return 0;
    }
    return part == WR_TAR_ID ? 0 : parse_text(bytes, len, ret, err);
}

int wr_tar_is_only_label(enum wr_tar_part part, const char *bytes, size_t len,
                         weir_err *err)
{
    json_t *doc = NULL;
    uint32_t label;
    int r;

    if (part == WR_TAR_ID)
        return parse_text(bytes, len, &label, NULL) == 0;
    r = load_json(bytes, len, &doc, err);
    if (r < 0)
        return r == WEIR_ENOMEM ? r : 0;
    r = find_number(doc) &&
        (json_is_integer(doc) || json_object_size(doc) == 1);
    json_decref(doc);
    return r;
}
