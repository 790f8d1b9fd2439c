/* number.c - decimal text to numbers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Digits are taken eight at once. Few digits and a small exponent make the
 * number by one exact operation (Clinger); others go to number_round.c; more
 * than 19 digits that are too near a tie go to strtod. */
#include "codec/number.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "codec/number_powers.h"

#define MAX_DIGITS   19  /* that a uint64_t holds, whatever they are */
#define SLOW_DIGITS  800 /* no tie of doubles has more than 768 */
#define BIG_EXPONENT ((int64_t)1 << 50)

/* A number as it is written: w * 10^q, and more digits. */
struct decimal {
    uint64_t w;
    int64_t q;
    const char *digits, *digits_end; /* with the point among them */
    int64_t exponent;                /* as it is written */
    bool negative;
    bool more; /* digits that are not in w, of which some are not 0 */
};

static inline bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* --- digits --- */

static inline uint64_t load8(const char *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof(v));
    return le64toh(v);
}

/* How many of the bytes, from the first (lowest) one on, are digits. */
static inline unsigned count_digits(uint64_t v)
{
    uint64_t other = ((v + 0x4646464646464646) | (v - 0x3030303030303030)) &
                     0x8080808080808080;

    return other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
}

/* The value of eight digits, '0' taken off each. */
static inline uint64_t value_of_8(uint64_t v)
{
    v = v * 10 + (v >> 8);
    return ((v & 0x000000ff000000ff) * 0x000f424000000064 +
            ((v >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >>
           32;
}

static inline const char *take_digits(const char *p, const char *end,
                                      uint64_t *w)
{
    static const uint32_t tens[] = {1,      10,      100,      1000,     10000,
                                    100000, 1000000, 10000000, 100000000};

    while (end - p >= 8) {
        uint64_t v = load8(p);
        unsigned n = count_digits(v);

        if (!n)
            return p;
        v = (v - 0x3030303030303030) << (64 - 8 * n);
        *w = *w * tens[n] + value_of_8(v);
        p += n;
        if (n < 8)
            return p;
    }
    for (; p < end && is_digit(*p); p++)
        *w = *w * 10 + (uint64_t)(*p - '0');
    return p;
}

/* --- what is written --- */

/* [e [+-] digits]; without digits it is none. */
static inline const char *take_exponent(const char *p, const char *end,
                                        int64_t *ret)
{
    const char *x = p + 1;
    bool negative = false;
    int64_t value = 0;

    if (x < end && (*x == '-' || *x == '+'))
        negative = *x++ == '-';
    if (x >= end || !is_digit(*x))
        return p;
    for (; x < end && is_digit(*x); x++)
        if (value < BIG_EXPONENT)
            value = value * 10 + (*x - '0');
    *ret = negative ? -value : value;
    return x;
}

/* The first 19 digits that count; a text of more than that, zeros included. */
static void recount(struct decimal *d)
{
    const char *p = d->digits;
    int64_t point = 0; /* digits taken behind it, less those left out before */
    unsigned taken = 0;
    bool behind = false;

    d->w = 0;
    for (; p < d->digits_end; p++) {
        if (*p == '.') {
            behind = true;
        } else if (taken < MAX_DIGITS) {
            d->w = d->w * 10 + (uint64_t)(*p - '0');
            taken += d->w != 0;
            point += behind;
        } else {
            d->more |= *p != '0';
            point -= !behind;
        }
    }
    d->q = d->exponent - point;
}

/* The number at p; returns where it ends, or NULL. */
static inline const char *take_decimal(const char *p, const char *end,
                                       bool strict, struct decimal *d)
{
    const char *start, *frac;
    bool odd = false;

    d->negative = p < end && *p == '-';
    p += d->negative || (!strict && p < end && *p == '+');
    start = p;
    d->w = 0;
    d->more = false;
    for (; p < end && is_digit(*p); p++)
        d->w = d->w * 10 + (uint64_t)(*p - '0');
    if (strict)
        odd = p == start || (*start == '0' && p - start > 1);
    d->digits = start;
    d->q = 0;
    d->digits_end = p;
    if (p < end && *p == '.') {
        frac = p + 1;
        d->digits_end = p = take_digits(frac, end, &d->w);
        d->q = frac - p;
        odd |= (strict && p == frac) || p - start == 1;
    }
    if (p == start || odd)
        return NULL;
    d->exponent = 0;
    if (p < end && (*p | 0x20) == 'e') {
        p = take_exponent(p, end, &d->exponent);
        d->q += d->exponent;
    }
    if (d->digits_end - start > MAX_DIGITS)
        recount(d);
    return p;
}

/* --- to floats --- */

/* The digits as strtod wants them, in `buf`: "DDD...e-12". */
static void spell(const struct decimal *d, char *buf)
{
    int64_t point = 0;
    bool behind = false, rest = false;
    unsigned n = 0;

    for (const char *p = d->digits; p < d->digits_end; p++) {
        if (*p == '.') {
            behind = true;
        } else if (n < SLOW_DIGITS) {
            buf[n] = *p;
            n += n || *p != '0';
            point += behind;
        } else {
            rest |= *p != '0';
            point -= !behind;
        }
    }
    if (rest) { /* any digit that is not 0 says on which side of a tie */
        buf[n++] = '1';
        point++;
    }
    snprintf(buf + n, 32, "e%lld", (long long)(d->exponent - point));
}

/* A float of the one width or the other, which are known where these functions
 * are inlined; a narrow one comes as the double that it is. */
#define INLINE static inline __attribute__((always_inline))

static double read_slowly(const struct decimal *d, bool wide)
{
    char buf[SLOW_DIGITS + 64];

    spell(d, buf);
    return wide ? wr_strtod(buf, NULL) : (double)wr_strtof(buf, NULL);
}

INLINE double round_float(const struct decimal *d, bool wide)
{
    double value = wr_number_round(d->w, d->q, wide);

    if (d->more && wr_number_round(d->w + 1, d->q, wide) != value)
        return read_slowly(d, wide);
    return value;
}

/* Few digits take one operation. For a float it is one of doubles, whose 53 bits
 * are twice 24 and two more: rounding its result again gives the right float. */
INLINE double to_float(const struct decimal *d, bool wide)
{
    static const double tens[] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    int bits = wide ? 53 : 24, most = wide ? 22 : 10;
    double value = (double)d->w;

    if (d->w >> bits == 0 && d->q >= -most && d->q <= most && !d->more) {
        value = d->q < 0 ? value / tens[-d->q] : value * tens[d->q];
        value = wide ? value : (double)(float)value;
    } else if (d->w) {
        value = round_float(d, wide);
    }
    return d->negative ? -value : value;
}

const char *wr_number_f32(const char *at, const char *end, float *ret)
{
    struct decimal d;
    const char *p = take_decimal(at, end, /* strict= */ false, &d);

    if (p)
        *ret = (float)to_float(&d, /* wide= */ false);
    return p;
}

const char *wr_number_f64(const char *at, const char *end, double *ret)
{
    struct decimal d;
    const char *p = take_decimal(at, end, /* strict= */ false, &d);

    if (p)
        *ret = to_float(&d, /* wide= */ true);
    return p;
}

/* --- many --- */

static inline const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && *p == ' ')
        p++;
    return p;
}

/* The next number of the list, which begins at *ret_start and is not taken
 * yet; NULL: there is none. */
static inline const char *next_decimal(const struct wr_number_list *l,
                                       struct decimal *d)
{
    const char *p = skip_blanks(l->at, l->end);

    p = l->strict ? take_decimal(p, l->end, true, d)
                  : take_decimal(p, l->end, false, d);
    return p ? skip_blanks(p, l->end) : NULL;
}

/* Steps behind a number that was taken; true: another one follows. */
static inline bool step(struct wr_number_list *l, const char *p)
{
    bool more = p < l->end && *p == l->separator;

    l->at = p + more;
    return more;
}

INLINE size_t take_list(struct wr_number_list *l, void *to, size_t count,
                        bool wide)
{
    size_t n = 0;
    bool more = true;

    while (n < count && more) {
        struct decimal d;
        const char *p = next_decimal(l, &d);
        double value;

        if (!p)
            break;
        value = to_float(&d, wide);
        if (isinf(value))
            break;
        if (wide)
            ((double *)to)[n++] = value;
        else
            ((float *)to)[n++] = (float)value;
        more = step(l, p);
    }
    return n;
}

size_t wr_number_list_f32(struct wr_number_list *l, float *to, size_t count)
{
    return take_list(l, to, count, /* wide= */ false);
}

size_t wr_number_list_f64(struct wr_number_list *l, double *to, size_t count)
{
    return take_list(l, to, count, /* wide= */ true);
}

/* --- words and integers --- */

static const char *take_word(const char *p, const char *end, const char *word)
{
    for (; *word; word++, p++)
        if (p >= end || (*p | 0x20) != *word)
            return NULL;
    return p;
}

const char *wr_number_word(const char *at, const char *end, double *ret)
{
    bool negative = at < end && *at == '-';
    const char *p = at + (at < end && (*at == '-' || *at == '+')), *behind;
    double value = (double)NAN;

    behind = take_word(p, end, "nan");
    if (!behind) {
        value = (double)INFINITY;
        behind = take_word(p, end, "infinity");
    }
    if (!behind)
        behind = take_word(p, end, "inf");
    if (behind)
        *ret = negative ? -value : value;
    return behind;
}

const char *wr_number_u64(const char *at, const char *end, uint64_t *ret,
                          bool *ret_large)
{
    const char *p = at + (at < end && *at == '+'), *start = p;
    uint64_t v = 0;
    bool large = false;

    for (; p < end && is_digit(*p); p++)
        large |= __builtin_mul_overflow(v, 10, &v) ||
                 __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v);
    *ret_large = large;
    if (p == start || large)
        return NULL;
    *ret = v;
    return p;
}

const char *wr_number_i64(const char *at, const char *end, int64_t *ret,
                          bool *ret_large)
{
    bool negative = at < end && *at == '-';
    const char *p = at + negative;
    uint64_t v;

    *ret_large = false;
    if (negative && p < end && *p == '+')
        return NULL;
    p = wr_number_u64(p, end, &v, ret_large);
    if (!p)
        return NULL;
    if (v > (uint64_t)INT64_MAX + negative) {
        *ret_large = true;
        return NULL;
    }
    *ret = negative ? (int64_t)-v : (int64_t)v;
    return p;
}
