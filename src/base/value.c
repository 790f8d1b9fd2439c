/* value.c - one value of a setting or an option, from text and to text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/value.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/named.h"
#include "base/units.h"

#define MANY 1e6 /* no limit of a setting of several numbers is larger */

/* --- choices --- */

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
    return wr_fail(err, WEIR_EINVAL, "'%s' is not one of %s%s", text, all,
                   wr_suggest_said(&near, "").text);
}

const char *wr_choice_name(const struct wr_choice *choices, int value)
{
    for (size_t i = 0; choices[i].name; i++)
        if (choices[i].value == value)
            return choices[i].name;
    return "?";
}

/* --- from text --- */

static int parse_yes(const char *text, bool *ret, weir_err *err)
{
    bool yes = !strcmp(text, "yes") || !strcmp(text, "true");

    if (!yes && strcmp(text, "no") && strcmp(text, "false"))
        return wr_fail(err, WEIR_EINVAL, "'%s' is not yes or no", text);
    *ret = yes;
    return 0;
}

static int parse_u32(const struct wr_value *v, const char *text, uint32_t *ret,
                     weir_err *err)
{
    uint64_t max = v->max > 0 ? (uint64_t)v->max : UINT32_MAX, value;
    int word, r;

    if (v->choices && wr_choice_find(v->choices, text, &word, NULL) == 0) {
        *ret = (uint32_t)word;
        return 0;
    }
    r = wr_parse_uint(text, (uint64_t)v->min, max, &value, err);
    if (r < 0)
        return r;
    if (v->odd && !(value & 1))
        return wr_fail(err, WEIR_EINVAL, "%s is not one of %g, %g", text,
                       v->min, v->max);
    *ret = (uint32_t)value;
    return 0;
}

static int parse_bytes(const struct wr_value *v, const char *text,
                       uint64_t *ret, weir_err *err)
{
    uint64_t value;
    int r = v->type == WR_VALUE_RATE ? wr_parse_rate(text, &value, err)
                                     : wr_parse_size(text, &value, err);

    if (r < 0)
        return r;
    if ((double)value < v->min)
        return wr_fail(err, WEIR_EINVAL, "'%s' is less than %.0f bytes", text,
                       v->min);
    if (v->max > 0 && (double)value > v->max)
        return wr_fail(err, WEIR_EINVAL, "'%s' is more than %.0f bytes", text,
                       v->max);
    *ret = value;
    return 0;
}

/* "0.08,1": written only when all of it is right. */
static int parse_floats(const struct wr_value *v, const char *text, float *ret,
                        weir_err *err)
{
    unsigned count = WR_MAX(v->count, 1u), commas = 0;
    double value[4], max = v->max > 0 ? v->max : count > 1 ? MANY : DBL_MAX;
    const char *at = text;
    char one[32];

    for (const char *c = text; *c; c++)
        commas += *c == ',';
    if (count > 1 && commas != count - 1)
        return wr_fail(err, WEIR_EINVAL,
                       "'%s' is not %s numbers with a comma between them", text,
                       count == 2 ? "two" : "three");
    for (unsigned i = 0; i < count; i++) {
        size_t len = strcspn(at, count > 1 ? "," : "");
        const char *item = at;
        int r;

        if (count > 1) {
            snprintf(one, sizeof(one), "%.*s",
                     (int)WR_MIN(len, sizeof(one) - 1), at);
            item = one;
        }
        r = wr_parse_double(item, v->min, max, &value[i], err);
        if (r < 0)
            return r;
        at += len + 1;
    }
    for (unsigned i = 0; i < count; i++)
        ret[i] = (float)value[i];
    return 0;
}

static int parse_sides(const struct wr_value *v, const char *text,
                       uint32_t *ret, weir_err *err)
{
    size_t len = strcspn(text, "x");
    uint64_t most = (uint64_t)v->max, w, h;
    char first[16];

    snprintf(first, sizeof(first), "%.*s", (int)WR_MIN(len, (size_t)15), text);
    if (wr_parse_uint(first, 1, most, &w, NULL) < 0 ||
        wr_parse_uint(text[len] ? text + len + 1 : first, 1, most, &h, NULL) <
            0)
        return wr_fail(err, WEIR_EINVAL,
                       "'%s' is not a size of pictures (write 224x224, or 224 "
                       "for a square; up to %g)",
                       text, v->max);
    ret[0] = (uint32_t)w;
    ret[1] = (uint32_t)h;
    return 0;
}

int wr_value_parse(const struct wr_value *v, const char *text, void *field,
                   weir_err *err)
{
    bool yes = false;
    int r;

    switch (v->type) {
    case WR_VALUE_BOOL:
        return parse_yes(text, field, err);
    case WR_VALUE_YES:
        r = parse_yes(text, &yes, err);
        if (r == 0)
            *(int *)field = yes;
        return r;
    case WR_VALUE_U32:
        return parse_u32(v, text, field, err);
    case WR_VALUE_U64:
        return wr_parse_uint(text, (uint64_t)v->min,
                             v->max > 0 ? (uint64_t)v->max : UINT64_MAX, field,
                             err);
    case WR_VALUE_BYTES:
    case WR_VALUE_RATE:
        return parse_bytes(v, text, field, err);
    case WR_VALUE_DOUBLE:
        return wr_parse_double(text, v->min, v->max > 0 ? v->max : DBL_MAX,
                               field, err);
    case WR_VALUE_FLOATS:
        return parse_floats(v, text, field, err);
    case WR_VALUE_SIDES:
        return parse_sides(v, text, field, err);
    case WR_VALUE_CHOICE:
        return wr_choice_find(v->choices, text, field, err);
    case WR_VALUE_TEXT:
        *(const char **)field = text;
        return 0;
    }
    return wr_fail(err, WEIR_EINVAL, "unknown type of value");
}

/* --- to text --- */

/* As few digits as bring it back. */
static int print_float(char *buf, size_t cap, float value)
{
    int n = wr_snprintf(buf, cap, "%.6g", (double)value);

    return wr_strtof(buf, NULL) == value
               ? n
               : wr_snprintf(buf, cap, "%.9g", (double)value);
}

static size_t floats_text(const float *value, unsigned count, char *buf,
                          size_t cap)
{
    char all[128];
    size_t used = 0;

    for (unsigned i = 0; i < count; i++) {
        if (i)
            all[used++] = ',';
        used += (size_t)print_float(all + used, sizeof(all) - used, value[i]);
    }
    all[used] = '\0';
    return (size_t)snprintf(buf, cap, "%s", all);
}

size_t wr_value_text(const struct wr_value *v, const void *field, char *buf,
                     size_t cap)
{
    const uint32_t *u32 = field;
    const char *text;
    int n = 0;

    switch (v->type) {
    case WR_VALUE_BOOL:
    case WR_VALUE_YES:
        n = v->type == WR_VALUE_BOOL ? *(const bool *)field
                                     : *(const int *)field;
        return (size_t)snprintf(buf, cap, "%s", n ? "yes" : "no");
    case WR_VALUE_U32:
        text = v->choices ? wr_choice_name(v->choices, (int)*u32) : "?";
        return *text == '?' ? (size_t)snprintf(buf, cap, "%" PRIu32, *u32)
                            : (size_t)snprintf(buf, cap, "%s", text);
    case WR_VALUE_U64:
    case WR_VALUE_BYTES:
    case WR_VALUE_RATE:
        n = snprintf(buf, cap, "%" PRIu64, *(const uint64_t *)field);
        break;
    case WR_VALUE_DOUBLE:
        n = wr_snprintf(buf, cap, "%.17g", *(const double *)field);
        break;
    case WR_VALUE_FLOATS:
        return floats_text(field, WR_MAX(v->count, 1u), buf, cap);
    case WR_VALUE_SIDES:
        n = snprintf(buf, cap, "%" PRIu32 "x%" PRIu32, u32[0], u32[1]);
        break;
    case WR_VALUE_CHOICE:
        text = wr_choice_name(v->choices, *(const int *)field);
        n = snprintf(buf, cap, "%s", text);
        break;
    case WR_VALUE_TEXT:
        text = *(const char *const *)field;
        n = snprintf(buf, cap, "%s", text ? text : "");
        break;
    }
    return (size_t)n;
}
