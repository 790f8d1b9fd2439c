/* perm.c - a keyed pseudo-random permutation of [0, n) in O(1) memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/perm.h"

#include "base/rng.h"

#include <assert.h>

static uint32_t bits_for(uint64_t n)
{
    return n <= 1 ? 0 : 64 - (uint32_t)__builtin_clzll(n - 1);
}

void wr_perm_init(struct wr_perm *p, uint64_t n, uint64_t seed, uint64_t stream)
{
    /* Two bits at least, so that both halves of the network exist. */
    uint32_t bits = bits_for(n) < 2 ? 2 : bits_for(n);

    p->n = n;
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
    do
        i = encrypt(p, i);
    while (i >= p->n);
    return i;
}
