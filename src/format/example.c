/* example.c - tf.train.Example: the picture, label and key in it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/example.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "codec/picture.h"
#include "format/features.h"

/* The first value of a feature. */
struct first_value {
    enum wr_feature_kind kind;
    bool has_value;
    struct wr_pb_span bytes;
    uint64_t number;
};

/* Features that mean something, the better one of each kind first. */
#define NAME(text)                                                             \
    {                                                                          \
        text, sizeof(text) - 1                                                 \
    }
static const struct {
    const char *text;
    size_t len;
} known[] = {
    NAME(WR_EXAMPLE_ENCODED),
    NAME("image"),
    NAME("image_raw"),
    NAME("jpeg"),
    NAME("png"),
    NAME("encoded"),
    NAME(WR_EXAMPLE_LABEL),
    NAME("label"),
    NAME("class"),
    NAME("cls"),
    NAME("image/label"),
    NAME(WR_EXAMPLE_FILENAME),
    NAME("filename"),
    NAME("__key__"),
};
enum { FIRST_LABEL = 6, FIRST_KEY = 11, KNOWN = WR_ARRAY_LEN(known) };

struct search {
    struct first_value features[KNOWN];
    struct wr_pb_span other;     /* a picture in a feature that is not known */
    struct wr_pb_span other_key; /* the name of that feature */
    unsigned others;             /* how many such features */
};

/* --- features --- */

/* The first value of a feature that means something. */
static bool read_first(const struct wr_feature *from, struct first_value *ret)
{
    struct wr_pb_span list = from->list;
    struct wr_pb_field f;

    *ret = (struct first_value){.kind = from->kind};
    if (from->kind == WR_FEATURE_BYTES) {
        if (!wr_feature_bytes(from, &ret->bytes))
            return false;
        ret->has_value = ret->bytes.at != NULL;
    }
    while (from->kind == WR_FEATURE_INT && list.len) {
        if (!wr_pb_field(&list, &f))
            return false;
        if (f.number != 1 || ret->has_value)
            continue;
        ret->has_value = f.wire == WR_PB_VARINT ||
                         (f.wire == WR_PB_LEN && f.body.len);
        ret->number = f.value;
        if (f.wire == WR_PB_LEN && f.body.len &&
            !wr_pb_varint(&f.body, &ret->number))
            return false;
    }
    return true;
}

/* Some feature of another name: remembered if it looks like a picture. */
static void note_other(struct search *to, struct wr_pb_span key,
                       const struct first_value *f)
{
    bool again = to->others && key.len == to->other_key.len &&
                 (!key.len || !memcmp(key.at, to->other_key.at, key.len));

    if (f->kind != WR_FEATURE_BYTES || !f->has_value ||
        wr_picture_probe(f->bytes.at, f->bytes.len) == WR_PICTURE_UNKNOWN)
        return;
    to->other = f->bytes;
    to->other_key = key;
    to->others += !again; /* of two with one name the last one counts */
}

static bool note_entry(void *arg, const struct wr_feature *from)
{
    struct search *to = arg;
    struct first_value f;

    if (!read_first(from, &f))
        return false;
    for (unsigned k = 0; k < KNOWN && from->name.len; k++)
        if (known[k].len == from->name.len &&
            !memcmp(known[k].text, from->name.at, from->name.len)) {
            to->features[k] = f;
            return true;
        }
    note_other(to, from->name, &f);
    return true;
}

/* --- what was found --- */

/* The best that looks like a picture; else the best that has bytes at all, of
 * which the decoder will say what is wrong with them. */
static struct wr_pb_span pick_picture(const struct search *s)
{
    struct wr_pb_span first = {0};

    for (unsigned k = 0; k < FIRST_LABEL; k++) {
        const struct first_value *f = &s->features[k];

        if (f->kind != WR_FEATURE_BYTES || !f->has_value)
            continue;
        if (wr_picture_probe(f->bytes.at, f->bytes.len) != WR_PICTURE_UNKNOWN)
            return f->bytes;
        if (!first.at)
            first = f->bytes;
    }
    if (s->others == 1)
        return s->other;
    return first;
}

static uint32_t pick_label(const struct search *s)
{
    for (unsigned k = FIRST_LABEL; k < FIRST_KEY; k++) {
        const struct first_value *f = &s->features[k];

        if (f->kind == WR_FEATURE_INT && f->has_value)
            return f->number < WEIR_NO_LABEL ? (uint32_t)f->number
                                             : WEIR_NO_LABEL;
    }
    return WEIR_NO_LABEL;
}

static size_t stem_length(const char *name, size_t len)
{
    if (wr_picture_kind_of_name(name, len) == WR_PICTURE_UNKNOWN)
        return len;
    while (name[len - 1] != '.')
        len--;
    return len - 1;
}

static void pick_key(const struct search *s, struct wr_example *ret)
{
    for (unsigned k = FIRST_KEY; k < KNOWN; k++) {
        const struct first_value *f = &s->features[k];

        if (f->kind != WR_FEATURE_BYTES || !f->has_value || !f->bytes.len)
            continue;
        ret->key = (const char *)f->bytes.at;
        ret->key_len = stem_length(ret->key, f->bytes.len);
        return;
    }
    ret->key = NULL;
    ret->key_len = 0;
}

struct names {
    char text[200];
    size_t len;
};

static bool name_entry(void *arg, const struct wr_feature *f)
{
    const struct wr_pb_span key = f->name;
    struct names *n = arg;

    if (n->len + 8 > sizeof(n->text))
        return true;
    if (n->len) {
        n->text[n->len++] = ',';
        n->text[n->len++] = ' ';
    }
    for (size_t k = 0; k < key.len && n->len + 5 < sizeof(n->text); k++) {
        uint8_t c = key.at[k];

        n->text[n->len++] = c >= 0x20 && c < 0x7f ? (char)c : '?';
    }
    if (n->len + 5 >= sizeof(n->text)) {
        memcpy(n->text + n->len, "...", 3);
        n->len = sizeof(n->text) - 1;
    }
    return true;
}

static int fail_no_picture(struct wr_pb_span example, weir_err *err)
{
    struct names n = {.len = 0};

    wr_features_each(example, name_entry, &n);
    return wr_fail(err, WEIR_EFORMAT,
                   "no picture in the Example (features: %s)",
                   n.len ? n.text : "none");
}

const char *wr_example_label_name(unsigned k)
{
    return k < FIRST_KEY - FIRST_LABEL ? known[FIRST_LABEL + k].text : NULL;
}

int wr_example_read(const void *bytes, size_t len, struct wr_example *ret,
                    weir_err *err)
{
    const struct wr_pb_span example = {bytes, len};
    struct search s = {.others = 0};
    struct wr_pb_span picture;

    if (!wr_features_each(example, note_entry, &s))
        return wr_fail(err, WEIR_EFORMAT, "not a tf.train.Example");
    picture = pick_picture(&s);
    ret->picture = picture.at;
    ret->picture_len = picture.len;
    ret->label = pick_label(&s);
    pick_key(&s, ret);
    return 0;
}

int wr_example_parse(const void *bytes, size_t len, struct wr_example *ret,
                     weir_err *err)
{
    struct wr_example ex;
    int r = wr_example_read(bytes, len, &ex, err);

    if (r == 0 && !ex.picture)
        r = fail_no_picture((struct wr_pb_span){bytes, len}, err);
    if (r == 0)
        *ret = ex;
    return r;
}
