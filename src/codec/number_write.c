/* number_write.c - numbers to decimal text.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A number of digits is tried until reading them gives the same float: the
 * first candidate is right nearly always, because the product that makes it has
 * 64 good bits and more. Where no candidate is, printf knows. */
#include "codec/number.h"

#include <math.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "codec/number_powers.h"

/* digits * 10^-places */
struct shortened {
    uint64_t digits;
    int places;
};

static size_t write_digits(uint64_t v, char *buf)
{
    char text[24];
    size_t n = sizeof(text);

    do
        text[--n] = (char)('0' + v % 10);
    while (v /= 10);
    memcpy(buf, text + n, sizeof(text) - n);
    return sizeof(text) - n;
}

size_t wr_number_write_u64(uint64_t value, char *buf)
{
    return write_digits(value, buf);
}

size_t wr_number_write_i64(int64_t value, char *buf)
{
    if (value >= 0)
        return write_digits((uint64_t)value, buf);
    *buf = '-';
    return 1 + write_digits(-(uint64_t)value, buf + 1);
}

/* --- floats --- */

/* m * 2^e * 10^p to the nearest integer, or nearly; 0: not known here. */
static uint64_t scale(uint64_t m, int e, int p)
{
    int lead = __builtin_clzll(m), shift;
    const uint64_t *power;
    unsigned __int128 product;

    if (p < WR_POWER_FIRST || p > WR_POWER_LAST)
        return 0;
    power = wr_number_powers[p - WR_POWER_FIRST];
    product = (unsigned __int128)(m << lead) * power[0] +
              (uint64_t)((unsigned __int128)(m << lead) * power[1] >> 64);
    shift = 63 + lead - e - (int)(((152170 + 65536) * (int64_t)p) >> 16);
    if (shift < 65 || shift > 127)
        return 0;
    product += (unsigned __int128)1 << (shift - 1);
    return (uint64_t)(product >> shift);
}

static uint64_t ten_to(unsigned n)
{
    uint64_t v = 1;

    while (n--)
        v *= 10;
    return v;
}

/* `count` digits of m * 2^e, zeros at the end taken off. */
static bool shorten(uint64_t m, int e, unsigned count, struct shortened *ret)
{
    /* floor(log10) of the highest bit, which may be one too few */
    int top = e + 63 - __builtin_clzll(m);
    int places = (int)count - 1 - (int)((top * INT64_C(315653)) >> 20);
    uint64_t digits = scale(m, e, places);

    if (digits > ten_to(count))
        digits = scale(m, e, --places);
    if (!digits)
        return false;
    for (; digits % 10 == 0; places--)
        digits /= 10;
    *ret = (struct shortened){digits, places};
    return true;
}

/* As Python prints it: 0.001, 1234.5, 1e-07, 1.5e+16. */
static size_t spell(const struct shortened *s, char *buf)
{
    char text[24];
    int n = (int)write_digits(s->digits, text), point = n - s->places;
    char *p = buf;

    if (point > -4 && point <= 0) {
        p = mempcpy(p, "0.000", (size_t)(2 - point));
        p = mempcpy(p, text, (size_t)n);
    } else if (point > 0 && point <= 16) {
        int before = WR_MIN(n, point);

        p = mempcpy(p, text, (size_t)before);
        memset(p, '0', (size_t)(point - before));
        p += point - before;
        *p++ = '.';
        if (n > point)
            p = mempcpy(p, text + point, (size_t)(n - point));
        else
            *p++ = '0';
    } else {
        *p++ = text[0];
        if (n > 1) {
            *p++ = '.';
            p = mempcpy(p, text + 1, (size_t)(n - 1));
        }
        *p++ = 'e';
        p += wr_number_write_i64(point - 1, p);
    }
    return (size_t)(p - buf);
}

static size_t print_digits(double value, int digits, char *buf)
{
    return (size_t)wr_snprintf(buf, WR_NUMBER_TEXT, "%.*e", digits - 1, value);
}

/* The least and the largest numbers, which the table does not reach. */
static size_t print(double value, char *buf)
{
    for (int digits = 15; digits < 17; digits++) {
        size_t n = print_digits(value, digits, buf);
        double read = 0;

        wr_number_f64(buf, buf + n, &read);
        if (read == value)
            return n;
    }
    return print_digits(value, 17, buf);
}

static size_t write_other(double value, char *buf)
{
    const char *text = isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";

    if (value == 0)
        text = signbit(value) ? "-0.0" : "0.0";
    memcpy(buf, text, strlen(text));
    return strlen(text);
}

/* A float has the mantissa and exponent that it has as a double, too. */
static size_t write_float(double value, bool wide, char *buf)
{
    unsigned least = wide ? 15 : 6, most = wide ? 17 : 9;
    struct shortened s;
    uint64_t bits, m;
    int e;

    if (!isfinite(value) || value == 0)
        return write_other(value, buf);
    memcpy(&bits, &value, sizeof(bits));
    e = (int)(bits >> 52 & 0x7ff);
    m = (bits & ((UINT64_C(1) << 52) - 1)) | (e ? UINT64_C(1) << 52 : 0);
    e = WR_MAX(e, 1) - 1075;
    *buf = '-';
    for (unsigned n = least; n <= most; n++)
        if (shorten(m, e, n, &s) &&
            wr_number_round(s.digits, -s.places, wide) == fabs(value))
            return (value < 0) + spell(&s, buf + (value < 0));
    return print(value, buf);
}

size_t wr_number_write_f64(double value, char *buf)
{
    return write_float(value, /* wide= */ true, buf);
}

size_t wr_number_write_f32(float value, char *buf)
{
    return write_float((double)value, /* wide= */ false, buf);
}
