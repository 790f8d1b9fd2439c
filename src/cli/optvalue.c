/* optvalue.c - the text of one option's value into its field.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/optvalue.h"

#include <string.h>

#include "base/error.h"

#define ITEM_MAX 128 /* longest single value of a list */

/* One value, as the option describes it. */
static int parse_one(const struct wr_option *opt, enum wr_value_type type,
                     const char *text, void *field, weir_err *err)
{
    const struct wr_value v = {
        .type = type,
        .count = opt->count,
        .odd = opt->odd,
        .min = opt->min,
        .max = opt->max,
        .choices = opt->choices,
    };

    return wr_value_parse(&v, text, field, err);
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
        } else {
            r = parse_one(opt,
                          opt->flags & WR_OPTION_BYTES ? WR_VALUE_BYTES
                                                       : WR_VALUE_U64,
                          item, &uints->v[count], err);
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
    static const enum wr_value_type types[] = {
        [WR_OPTION_FLAG] = WR_VALUE_BOOL,
        [WR_OPTION_UINT] = WR_VALUE_U64,
        [WR_OPTION_SIZE] = WR_VALUE_BYTES,
        [WR_OPTION_DOUBLE] = WR_VALUE_DOUBLE,
        [WR_OPTION_STRING] = WR_VALUE_TEXT,
        [WR_OPTION_ENUM] = WR_VALUE_CHOICE,
    };

    if (opt->type == WR_OPTION_UINT_LIST || opt->type == WR_OPTION_ENUM_LIST)
        return parse_list(opt, text, field, err);
    if (opt->type == WR_OPTION_STRINGS)
        return append_string(text, field, err);
    return parse_one(opt, opt->store ? opt->store : types[opt->type], text,
                     field, err);
}

int wr_option_set_value(const struct wr_option *opt, const char *text,
                        void *args, weir_err *err)
{
    int r = parse_value(opt, text, (char *)args + opt->offset, err);

    if (r < 0)
        return wr_fail_prefix(err, r, "option --%s", opt->name);
    return 0;
}
