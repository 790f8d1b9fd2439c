/* rng.h - counter-based random numbers: a value is a function of its key.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing here keeps hidden state, so a result never depends on how many
 * threads asked, or in which order. */
#ifndef WR_BASE_RNG_H
#define WR_BASE_RNG_H

#include <stdint.h>

/* Bijective 64-bit mixer (the finalizer known from splitmix64). */
static inline uint64_t wr_mix64(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Value number `counter` of the stream named by (seed, stream). */
static inline uint64_t wr_rng_at(uint64_t seed, uint64_t stream,
                                 uint64_t counter)
{
    uint64_t key = wr_mix64(seed + UINT64_C(0x9e3779b97f4a7c15));

    key = wr_mix64(key ^ (stream * UINT64_C(0xd1342543de82ef95)));
    return wr_mix64(key + counter * UINT64_C(0x9e3779b97f4a7c15));
}

/* A small sequential generator on top, for generators of test data. */
struct wr_rng {
    uint64_t seed, stream, counter;
};

static inline uint64_t wr_rng_next(struct wr_rng *r)
{
    return wr_rng_at(r->seed, r->stream, r->counter++);
}

/* Uniform in [0, 1). */
static inline double wr_rng_unit(struct wr_rng *r)
{
    return (double)(wr_rng_next(r) >> 11) * 0x1.0p-53;
}

/* Uniform in [0, n), n > 0. */
static inline uint64_t wr_rng_below(struct wr_rng *r, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)wr_rng_next(r) * n) >> 64);
}

#endif
