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

#include "base/error.h"

static int suffix_shift(const char *s)
{
    static const char letters[] = "KMGT";
    const char *hit;
    int shift;

    if (!*s)
        return 0;
    if (!strcmp(s, "B"))
        return 0;
    hit = strchr(letters, *s >= 'a' ? *s - 'a' + 'A' : *s);
    if (!hit)
        return -1;
    shift = 10 * (int)(hit - letters + 1);
    s++;
    return !*s || !strcmp(s, "B") || !strcmp(s, "iB") ? shift : -1;
}

int wr_parse_size(const char *text, uint64_t *ret_bytes, weir_err *err)
{
    char *end;
    double value, bytes;
    int shift;

    if (*text < '0' || *text > '9')
        return wr_fail(err, WEIR_EINVAL, "'%s' is not a size", text);
    value = strtod(text, &end);
    shift = suffix_shift(end);
    if (shift < 0 || strpbrk(text, "xX")) /* strtod takes hexadecimals */
        return wr_fail(err, WEIR_EINVAL,
                       "'%s' is not a size (write 64K, 1.5G, 4096)", text);
    bytes = ldexp(value, shift);
    if (!(bytes >= 0 && bytes < 0x1p63))
        return wr_fail(err, WEIR_EINVAL, "'%s' is too large a size", text);
    *ret_bytes = (uint64_t)bytes;
    return 0;
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
    double value = strtod(text, &end);

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

char *wr_format_bytes(char *buf, size_t cap, double bytes)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
    int u = 0;

    while (bytes >= 999.5 && u < 5) {
        bytes /= 1000;
        u++;
    }
    snprintf(buf, cap, u == 0 || bytes >= 99.95 ? "%.0f %s" : "%.1f %s", bytes,
             units[u]);
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
        snprintf(buf, cap, "%.0f ns", ns);
    else if (ns < 1e6)
        snprintf(buf, cap, "%.1f us", ns / 1e3);
    else if (ns < 1e9)
        snprintf(buf, cap, ns < 1e8 ? "%.1f ms" : "%.0f ms", ns / 1e6);
    else
        snprintf(buf, cap, "%.2f s", ns / 1e9);
    return buf;
}
