/* perm.c - a keyed pseudo-random permutation of [0, n) in O(1) memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/perm.h"

#include "base/rng.h"

#include <assert.h>

/* Bits of the numbers below n, n > 1. */
static uint32_t bits_for(uint64_t n)
{
    return 64 - (uint32_t)__builtin_clzll(n - 1);
}

/* Fisher and Yates: each permutation as often as any other. */
static void shuffle(struct wr_perm *p, uint64_t seed, uint64_t stream)
{
    struct wr_rng rng = {.seed = seed, .stream = stream};

    for (uint64_t i = 0; i < p->n; i++) {
        uint64_t k = wr_rng_below(&rng, i + 1);

        p->table[i] = (uint8_t)i; /* k may be i */
        p->table[i] = p->table[k];
        p->table[k] = (uint8_t)i;
    }
}

void wr_perm_init(struct wr_perm *p, uint64_t n, uint64_t seed, uint64_t stream)
{
    uint32_t bits;

    p->n = n;
    if (n < WR_PERM_SMALL) {
        shuffle(p, seed, stream);
        return;
    }
    bits = bits_for(n);
    p->lo_bits = bits / 2;
    p->hi_bits = bits - p->lo_bits;
    for (int r = 0; r < WR_PERM_ROUNDS; r++)
        p->key[r] = wr_rng_at(seed, stream, (uint64_t)r);
}

static uint64_t encrypt(const struct wr_perm *p, uint64_t x)
{
    uint64_t lo_mask = (UINT64_C(1) << p->lo_bits) - 1;
    uint64_t hi_mask = (UINT64_C(1) << p->hi_bits) - 1;
    uint64_t lo = x & lo_mask, hi = x >> p->lo_bits;

    for (int r = 0; r < WR_PERM_ROUNDS; r += 2) {
        lo ^= wr_mix64(hi ^ p->key[r]) & lo_mask;
        hi ^= wr_mix64(lo ^ p->key[r + 1]) & hi_mask;
    }
    return hi << p->lo_bits | lo;
}

uint64_t wr_perm_at(const struct wr_perm *p, uint64_t i)
{
    assert(i < p->n);
    if (p->n < WR_PERM_SMALL)
        return p->table[i];
    do
        i = encrypt(p, i);
    while (i >= p->n);
    return i;
}
