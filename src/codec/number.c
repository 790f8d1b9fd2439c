/* number.c - decimal text to numbers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Digits are taken eight at once. Few digits and a small exponent make the
 * number by one exact operation (Clinger); others are rounded below; more
 * than 19 digits that are too near a tie go to strtod. */
#include "codec/number.h"

#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/mem.h"
#include "codec/number_powers.h"

/* --- w * 10^q as the nearest float or double --- */

/* The algorithm of Eisel and Lemire ("Number parsing at a gigabyte per
 * second", 2021): the product of w and the first 64 or 128 bits of 5^q has
 * enough right bits to round by for any w of 64 bits ("Fast number parsing
 * without fallback", 2022). */

/* What one type of float is made of. */
struct binary {
    int bits;                /* of the mantissa that are stored */
    int bias;                /* least exponent, minus one */
    int most;                /* exponent of infinity as it is stored */
    int least_q, most_q;     /* powers outside give 0 and infinity */
    int least_tie, most_tie; /* powers that ties can have */
};

static const struct binary f32 = {23, -127, 0xff, -65, 38, -17, 10};
static const struct binary f64 = {52, -1023, 0x7ff, -342, 308, -4, 23};

struct product {
    uint64_t high, low;
};

static inline struct product multiply(uint64_t a, uint64_t b)
{
    unsigned __int128 p = (unsigned __int128)a * b;

    return (struct product){(uint64_t)(p >> 64), (uint64_t)p};
}

/* w * 5^q from its highest bit on, right in the bits that matter. */
static inline struct product scale(uint64_t w, int64_t q, int bits)
{
    const uint64_t *power = wr_number_powers[q - WR_POWER_FIRST];
    uint64_t mask = UINT64_MAX >> (bits + 3);
    struct product p = multiply(w, power[0]), more;

    if ((p.high & mask) != mask)
        return p;
    more = multiply(w, power[1]);
    p.low += more.high;
    p.high += more.high > p.low;
    return p;
}

/* floor(log2(10^q)) + 63 */
static inline int log2_of_power(int64_t q)
{
    return (int)(((152170 + 65536) * q) >> 16) + 63;
}

/* No tie can be among them. One that becomes normal by rounding has its
 * exponent by that. */
static inline uint64_t round_subnormal(uint64_t mantissa, int shift)
{
    if (shift >= 64)
        return 0;
    mantissa >>= shift;
    mantissa += mantissa & 1;
    return mantissa >> 1;
}

/* The bits of the float, without its sign. */
static inline uint64_t round_to(uint64_t w, int64_t q, const struct binary *b)
{
    int lead = __builtin_clzll(w), upper, power, shift;
    uint64_t mantissa, infinity = (uint64_t)b->most << b->bits;
    struct product p;

    if (q < b->least_q)
        return 0;
    if (q > b->most_q)
        return infinity;
    p = scale(w << lead, q, b->bits);
    upper = (int)(p.high >> 63);
    shift = upper + 64 - b->bits - 3;
    mantissa = p.high >> shift;
    power = log2_of_power(q) + upper - lead - b->bias;
    if (power <= 0)
        return round_subnormal(mantissa, 1 - power);
    if (p.low <= 1 && q >= b->least_tie && q <= b->most_tie &&
        (mantissa & 3) == 1 && mantissa << shift == p.high)
        mantissa &= ~UINT64_C(1); /* a tie, and the lower one is even */
    mantissa += mantissa & 1;
    mantissa >>= 1;
    /* The highest bit of the mantissa is not stored: it adds one to the
     * exponent instead, and a second one if rounding carried so far. */
    mantissa += (uint64_t)(power - 1) << b->bits;
    return mantissa < infinity ? mantissa : infinity;
}

double wr_number_round(uint64_t w, int64_t q, bool wide)
{
    /* Two calls: each is inlined with numbers of its own. */
    uint64_t bits = wide ? round_to(w, q, &f64) : round_to(w, q, &f32);
    uint32_t few = (uint32_t)bits;
    double value;
    float narrow;

    memcpy(&value, &bits, sizeof(value));
    memcpy(&narrow, &few, sizeof(narrow));
    return wide ? value : (double)narrow;
}

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

/* --- numbers to decimal text --- */

/* A number of digits is tried until reading them gives the same float: the
 * first candidate is right nearly always, because the product that makes it has
 * 64 good bits and more. Where no candidate is, printf knows. */

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
static uint64_t write_scale(uint64_t m, int e, int p)
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
    uint64_t digits = write_scale(m, e, places);

    if (digits > ten_to(count))
        digits = write_scale(m, e, --places);
    if (!digits)
        return false;
    for (; digits % 10 == 0; places--)
        digits /= 10;
    *ret = (struct shortened){digits, places};
    return true;
}

/* As Python prints it: 0.001, 1234.5, 1e-07, 1.5e+16. */
static size_t spell_shortened(const struct shortened *s, char *buf)
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
            return (value < 0) + spell_shortened(&s, buf + (value < 0));
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
