/* optvalue.c - the text of one option's value into its field.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/optvalue.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "cli/suggest.h"

#define ITEM_MAX 128 /* longest single value of a list */

char *wr_choice_join(const struct wr_choice *choices, char *buf, size_t cap)
{
    size_t used = 0;

    buf[0] = '\0';
    for (size_t i = 0; choices[i].name && used < cap; i++) {
        const char *sep = !i ? "" : choices[i + 1].name ? ", " : " or ";

        used += (size_t)snprintf(buf + used, cap - used, "%s%s", sep,
                                 choices[i].name);
    }
    return buf;
}

int wr_choice_find(const struct wr_choice *choices, const char *text,
                   int *ret_value, weir_err *err)
{
    struct wr_suggest near;
    char all[256];

    wr_suggest_init(&near, text);
    for (size_t i = 0; choices[i].name; i++) {
        if (!strcmp(choices[i].name, text)) {
            *ret_value = choices[i].value;
            return 0;
        }
        wr_suggest_try(&near, choices[i].name);
    }
    wr_choice_join(choices, all, sizeof(all));
    if (near.best)
        return wr_fail(err, WEIR_EINVAL,
                       "'%s' is not one of %s (did you mean %s?)", text, all,
                       near.best);
    return wr_fail(err, WEIR_EINVAL, "'%s' is not one of %s", text, all);
}

const char *wr_choice_name(const struct wr_choice *choices, int value)
{
    for (size_t i = 0; choices[i].name; i++)
        if (choices[i].value == value)
            return choices[i].name;
    return "?";
}

static int parse_uint(const struct wr_option *opt, const char *text,
                      uint64_t *ret, weir_err *err)
{
    uint64_t max = opt->max > 0 ? (uint64_t)opt->max : UINT64_MAX;

    return wr_parse_uint(text, (uint64_t)opt->min, max, ret, err);
}

static int parse_size(const struct wr_option *opt, const char *text,
                      uint64_t *ret, weir_err *err)
{
    uint64_t value;
    int r = wr_parse_size(text, &value, err);

    if (r < 0)
        return r;
    if ((double)value < opt->min)
        return wr_fail(err, WEIR_EINVAL, "'%s' is less than %.0f bytes", text,
                       opt->min);
    if (opt->max > 0 && (double)value > opt->max)
        return wr_fail(err, WEIR_EINVAL, "'%s' is more than %.0f bytes", text,
                       opt->max);
    *ret = value;
    return 0;
}

static int parse_flag(const char *text, bool *ret, weir_err *err)
{
    bool yes = !strcmp(text, "yes") || !strcmp(text, "true");

    if (!yes && strcmp(text, "no") && strcmp(text, "false"))
        return wr_fail(err, WEIR_EINVAL, "'%s' is not yes or no", text);
    *ret = yes;
    return 0;
}

/* One element of a list option, appended. */
static int append_item(const struct wr_option *opt, const char *item,
                       struct wr_uint_list *uints, struct wr_enum_list *enums,
                       weir_err *err)
{
    size_t count = uints ? uints->count : enums->count;
    int r;

    if (count == WR_LIST_MAX)
        return wr_fail(err, WEIR_EINVAL, "more than %d values", WR_LIST_MAX);
    if (uints) {
        int word;

        if (opt->choices &&
            wr_choice_find(opt->choices, item, &word, NULL) == 0) {
            uints->v[count] = (uint32_t)word;
            r = 0;
        } else if (opt->flags & WR_OPTION_BYTES) {
            r = parse_size(opt, item, &uints->v[count], err);
        } else {
            r = parse_uint(opt, item, &uints->v[count], err);
        }
        uints->count += r == 0;
    } else {
        r = wr_choice_find(opt->choices, item, &enums->v[count], err);
        enums->count += r == 0;
    }
    return r;
}

/* A comma-separated list; it replaces what was there. */
static int parse_list(const struct wr_option *opt, const char *text,
                      void *field, weir_err *err)
{
    struct wr_uint_list uints = {0};
    struct wr_enum_list enums = {0};
    bool is_uint = opt->type == WR_OPTION_UINT_LIST;
    char item[ITEM_MAX];

    for (const char *at = text;;) {
        size_t len = strcspn(at, ",");
        int r;

        if (len == 0)
            return wr_fail(err, WEIR_EINVAL,
                           "'%s': a value is missing (write a,b,c)", text);
        if (len >= sizeof(item))
            return wr_fail(err, WEIR_EINVAL, "'%.20s...' is too long", at);
        memcpy(item, at, len);
        item[len] = '\0';
        r = append_item(opt, item, is_uint ? &uints : NULL,
                        is_uint ? NULL : &enums, err);
        if (r < 0)
            return r;
        if (!at[len])
            break;
        at += len + 1;
    }
    if (is_uint)
        *(struct wr_uint_list *)field = uints;
    else
        *(struct wr_enum_list *)field = enums;
    return 0;
}

static int append_string(const char *text, struct wr_string_list *list,
                         weir_err *err)
{
    if (list->count == WR_LIST_MAX)
        return wr_fail(err, WEIR_EINVAL, "given more than %d times",
                       WR_LIST_MAX);
    list->v[list->count++] = text;
    return 0;
}

static int parse_value(const struct wr_option *opt, const char *text,
                       void *field, weir_err *err)
{
    switch (opt->type) {
    case WR_OPTION_FLAG:
        return parse_flag(text, field, err);
    case WR_OPTION_UINT:
        return parse_uint(opt, text, field, err);
    case WR_OPTION_SIZE:
        return parse_size(opt, text, field, err);
    case WR_OPTION_DOUBLE:
        return wr_parse_double(text, opt->min,
                               opt->max > 0 ? opt->max : DBL_MAX, field, err);
    case WR_OPTION_STRING:
        *(const char **)field = text;
        return 0;
    case WR_OPTION_ENUM:
        return wr_choice_find(opt->choices, text, field, err);
    case WR_OPTION_UINT_LIST:
    case WR_OPTION_ENUM_LIST:
        return parse_list(opt, text, field, err);
    case WR_OPTION_STRINGS:
        return append_string(text, field, err);
    }
    return wr_fail(err, WEIR_EINVAL, "unknown type of option");
}

int wr_option_set_value(const struct wr_option *opt, const char *text,
                        void *args, weir_err *err)
{
    int r = parse_value(opt, text, (char *)args + opt->offset, err);

    if (r < 0)
        return wr_fail_prefix(err, r, "option --%s", opt->name);
    return 0;
}
