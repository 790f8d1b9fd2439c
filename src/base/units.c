/* units.c - sizes, counts and durations, from text and to text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/error.h"
#include "base/mem.h"

double wr_unit_factor(const char *unit, bool is_rate)
{
    static const char letters[] = "KMGT";
    size_t len = strlen(unit);
    const char *hit;
    bool binary;

    if (is_rate && len >= 2 && !strcmp(unit + len - 2, "/s"))
        len -= 2;
    if (!len || (len == 1 && *unit == 'B'))
        return 1;
    hit = strchr(letters, *unit >= 'a' ? *unit - 'a' + 'A' : *unit);
    binary = len == 3 && unit[1] == 'i' && unit[2] == 'B';
    if (!hit || !(binary || len == 1 || (len == 2 && unit[1] == 'B')))
        return 0;
    return pow(binary ? 1024 : 1000, (double)(hit - letters + 1));
}

static int parse_amount(const char *text, bool is_rate, uint64_t *ret,
                        weir_err *err)
{
    const char *what = is_rate ? "rate" : "size";
    char *end;
    double value, factor, bytes;

    if (*text < '0' || *text > '9')
        return wr_fail(err, WEIR_EINVAL, "'%s' is not a %s", text, what);
    value = wr_strtod(text, &end);
    factor = wr_unit_factor(end, is_rate);
    if (!(factor > 0) || strpbrk(text, "xX")) /* it takes hexadecimals */
        return wr_fail(
            err, WEIR_EINVAL, "'%s' is not a %s (write %s)", text, what,
            is_rate ? "500MB/s, 1.5GB/s, 2GiB/s" : "64KiB, 1.5GB, 4096");
    bytes = round(value * factor);
    if (!(bytes >= 0 && bytes < 0x1p63))
        return wr_fail(err, WEIR_EINVAL, "'%s' is too large a %s", text, what);
    *ret = (uint64_t)bytes;
    return 0;
}

int wr_parse_size(const char *text, uint64_t *ret_bytes, weir_err *err)
{
    return parse_amount(text, /* is_rate= */ false, ret_bytes, err);
}

int wr_parse_rate(const char *text, uint64_t *ret_bytes_per_s, weir_err *err)
{
    return parse_amount(text, /* is_rate= */ true, ret_bytes_per_s, err);
}

bool wr_take_digits(const char **at, const char *end, uint64_t *ret)
{
    const char *s = *at;
    uint64_t v = 0;

    for (; s != end && *s >= '0' && *s <= '9'; s++)
        if (__builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
            return false;
    if (s == *at)
        return false;
    *at = s;
    *ret = v;
    return true;
}

int wr_parse_uint(const char *text, uint64_t min, uint64_t max, uint64_t *ret,
                  weir_err *err)
{
    unsigned long long value;
    char *end;

    if (*text < '0' || *text > '9')
        return wr_fail(err, WEIR_EINVAL, "'%s' is not a whole number", text);
    errno = 0;
    value = strtoull(text, &end, 10);
    if (*end)
        return wr_fail(err, WEIR_EINVAL, "'%s' is not a whole number", text);
    if (!errno && value < min && max == UINT64_MAX)
        return wr_fail(err, WEIR_EINVAL, "'%s' is less than %" PRIu64, text,
                       min);
    if (errno || value < min || value > max)
        return wr_fail(err, WEIR_EINVAL,
                       "'%s' is not between %" PRIu64 " and %" PRIu64, text,
                       min, max);
    *ret = value;
    return 0;
}

int wr_parse_double(const char *text, double min, double max, double *ret,
                    weir_err *err)
{
    char *end;
    double value = wr_strtod(text, &end);

    if (end == text || *end || !isfinite(value) || strpbrk(text, "xX \t\n"))
        return wr_fail(err, WEIR_EINVAL, "'%s' is not a number", text);
    if (value < min && max >= DBL_MAX)
        return wr_fail(err, WEIR_EINVAL, "'%s' is less than %g", text, min);
    if (value < min || value > max)
        return wr_fail(err, WEIR_EINVAL, "'%s' is not between %.10g and %.10g",
                       text, min, max);
    *ret = value;
    return 0;
}

/* Scales to below 999.5 of a decimal unit (which would be shown as 1000), whose
 * name is returned. */
static const char *scale_decimal(double *bytes)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
    size_t u = 0;

    for (; *bytes >= 999.5 && u + 1 < WR_ARRAY_LEN(units); u++)
        *bytes /= 1000;
    return units[u];
}

char *wr_format_bytes(char *buf, size_t cap, double bytes)
{
    const char *unit = scale_decimal(&bytes);

    wr_snprintf(buf, cap,
                unit[0] == 'B' || bytes >= 99.95 ? "%.0f %s" : "%.1f %s", bytes,
                unit);
    return buf;
}

char *wr_format_three(char *buf, size_t cap, double bytes)
{
    const char *unit = scale_decimal(&bytes);

    wr_snprintf(buf, cap, "%.3g %s", bytes, unit);
    return buf;
}

char *wr_format_binary(char *buf, size_t cap, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t u = 0;

    for (; bytes >= 1024 && u + 1 < WR_ARRAY_LEN(units); u++)
        bytes /= 1024;
    wr_snprintf(buf, cap, "%.4g %s", bytes, units[u]);
    return buf;
}

char *wr_format_count(char *buf, size_t cap, uint64_t count)
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    size_t used = 0;

    for (int i = 0; i < n && used + 2 < cap; i++) {
        if (i && (n - i) % 3 == 0)
            buf[used++] = ',';
        buf[used++] = digits[i];
    }
    buf[used] = '\0';
    return buf;
}

char *wr_format_ns(char *buf, size_t cap, double ns)
{
    if (ns < 1e3)
        wr_snprintf(buf, cap, "%.0f ns", ns);
    else if (ns < 1e6)
        wr_snprintf(buf, cap, "%.1f us", ns / 1e3);
    else if (ns < 1e9)
        wr_snprintf(buf, cap, ns < 1e8 ? "%.1f ms" : "%.0f ms", ns / 1e6);
    else
        wr_snprintf(buf, cap, "%.2f s", ns / 1e9);
    return buf;
}
