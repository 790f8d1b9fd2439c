/* numbers.c - numbers of a description, checked.
 * SPDX-License-Identifier: Apache-2.0 */
#include "workload/numbers.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

#define EXACT_BELOW 9007199254740992.0 /* 2^53 */

/* A text for a message, cut and without what a terminal cannot show. */
const char *wr_wl_shown(const char *text, char buf[64])
{
    char all[200];

    snprintf(buf, 64, "%.60s", wr_text_show(text, true, all, sizeof(all)));
    buf[wr_text_fit(buf, 60)] = '\0';
    return buf;
}

/* Without the underscores that YAML 1.1 allows between digits. */
static bool bare_number(const char *text, char buf[64])
{
    size_t used = 0;

    for (const char *c = text; *c; c++) {
        if (*c == '_')
            continue;
        if (used == 63)
            return false;
        buf[used++] = *c;
    }
    buf[used] = '\0';
    return used > 0;
}

static int out_of_range(const struct wr_wl_key *k, const char *text,
                        weir_err *err)
{
    char cut[64];

    if (k->max > 0)
        return wr_fail(err, WEIR_EINVAL, "%s is not between %.15g and %.15g",
                       wr_wl_shown(text, cut), k->min, k->max);
    return wr_fail(err, WEIR_EINVAL, "%s is less than %.15g",
                   wr_wl_shown(text, cut), k->min);
}

static bool in_range(const struct wr_wl_key *k, double value)
{
    return value >= k->min && (k->max <= 0 || value <= k->max);
}

int wr_wl_parse_number(const struct wr_wl_key *k, const char *text, double *ret,
                       weir_err *err)
{
    char bare[64], cut[64];
    double value;

    /* What strtod takes besides: infinity, nan, hexadecimals. */
    if (!bare_number(text, bare) ||
        strspn(bare, "0123456789+-.eE") != strlen(bare) ||
        wr_parse_double(bare, -DBL_MAX, DBL_MAX, &value, NULL) < 0)
        return wr_fail(err, WEIR_EINVAL, "'%s' is not a number",
                       wr_wl_shown(text, cut));
    if (!in_range(k, value))
        return out_of_range(k, text, err);
    *ret = value;
    return 0;
}

/* Digits, or a number such as 1e6 or 400.0 that is a whole one. */
int wr_wl_parse_whole(const struct wr_wl_key *k, const char *text, int64_t *ret,
                      weir_err *err)
{
    char bare[64], cut[64];
    uint64_t whole;
    double value;
    int r;

    if (bare_number(text, bare) &&
        wr_parse_uint(bare, 0, UINT64_MAX, &whole, NULL) == 0) {
        if (!in_range(k, (double)whole))
            return out_of_range(k, text, err);
        *ret = (int64_t)whole;
        return 0;
    }
    r = wr_wl_parse_number(k, text, &value, err);
    if (r < 0)
        return r;
    if (fabs(value) >= EXACT_BELOW)
        return wr_fail(err, WEIR_EINVAL, "%s is too large",
                       wr_wl_shown(text, cut));
    if (value != floor(value))
        return wr_fail(err, WEIR_EINVAL, "'%s' is not a whole number",
                       wr_wl_shown(text, cut));
    *ret = (int64_t)value;
    return 0;
}

/* A number, or one with a unit (base/units.h). */
int wr_wl_parse_bytes(const struct wr_wl_key *k, const char *text, double *ret,
                      weir_err *err)
{
    uint64_t bytes;

    if (*text && strchr("kKmMgGtTbB", text[strlen(text) - 1]) &&
        wr_parse_size(text, &bytes, NULL) == 0) {
        if (!in_range(k, (double)bytes))
            return out_of_range(k, text, err);
        *ret = (double)bytes;
        return 0;
    }
    return wr_wl_parse_number(k, text, ret, err);
}
