/* number_round.c - w * 10^q as the nearest float or double.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The algorithm of Eisel and Lemire ("Number parsing at a gigabyte per
 * second", 2021): the product of w and the first 64 or 128 bits of 5^q has
 * enough right bits to round by for any w of 64 bits ("Fast number parsing
 * without fallback", 2022). */
#include "codec/number_powers.h"

#include <string.h>

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
