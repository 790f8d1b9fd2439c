/* perm.h - a keyed pseudo-random permutation of [0, n) in O(1) memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An alternating Feistel network on the smallest power of two that holds n,
 * walked until it lands inside [0, n) ("cycle walking", Black and Rogaway
 * 2002): fewer than two steps on average, and exactly a bijection. */
#ifndef WR_BASE_PERM_H
#define WR_BASE_PERM_H

#include <stdint.h>

#define WR_PERM_ROUNDS 8

struct wr_perm {
    uint64_t n;
    uint32_t lo_bits, hi_bits;
    uint64_t key[WR_PERM_ROUNDS];
};

/* Any n, 0 and 1 included. */
void wr_perm_init(struct wr_perm *p, uint64_t n, uint64_t seed,
                  uint64_t stream);

/* Image of i < n. */
uint64_t wr_perm_at(const struct wr_perm *p, uint64_t i);

#endif
