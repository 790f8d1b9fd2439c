/* perm.h - a keyed pseudo-random permutation of [0, n) in O(1) memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An alternating Feistel network on the smallest power of two that holds n,
 * walked until it lands inside [0, n) ("cycle walking", Black and Rogaway
 * 2002): fewer than two steps on average, and exactly a bijection. On a few
 * elements such a network reaches the n! permutations unequally (5 elements:
 * chi-square 20 times its degrees of freedom), so below WR_PERM_SMALL a shuffled
 * table, of the size that the keys have, takes its place. */
#ifndef WR_BASE_PERM_H
#define WR_BASE_PERM_H

#include <stdint.h>

#define WR_PERM_ROUNDS 8
#define WR_PERM_SMALL  64 /* fewer elements than this lie in the table */

struct wr_perm {
    uint64_t n;
    uint32_t lo_bits, hi_bits;
    union {
        uint64_t key[WR_PERM_ROUNDS];
        uint8_t table[WR_PERM_SMALL]; /* n < WR_PERM_SMALL */
    };
};

/* Any n, 0 and 1 included. */
void wr_perm_init(struct wr_perm *p, uint64_t n, uint64_t seed,
                  uint64_t stream);

/* Image of i < n. */
uint64_t wr_perm_at(const struct wr_perm *p, uint64_t i);

#endif
