/* noise.h - random bytes as a function of where they stand.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A byte follows from a key and its offset alone: any stretch can be made
 * again, by any thread, without what comes before it. */
#ifndef WR_GEN_NOISE_H
#define WR_GEN_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "weir/dtype.h"

/* Of each block of so many bytes, a part is constant (compressible data). */
#define WR_NOISE_BLOCK 4096u

struct wr_noise {
    uint64_t key;
    uint32_t mask[2];  /* of even and odd words of 32 bits: what may be set */
    uint32_t constant; /* bytes at the end of each block that are 0 */
};

/* Which noise: of one array of one file. */
struct wr_noise_place {
    uint64_t seed, file, array;
};

/* Any bits for integers; floats are finite and below 2 in size; `bool` is 0 or
 * 1. `compressible` is the constant part of each block, 0 to 1. */
void wr_noise_init(struct wr_noise *n, const struct wr_noise_place *place,
                   enum weir_dtype dtype, double compressible);

/* The bytes from `offset` on. */
void wr_noise_fill(const struct wr_noise *n, uint64_t offset, void *out,
                   size_t len);

#endif
