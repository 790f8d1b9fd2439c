/* pen.h - bytes and noise into an object, in large pieces.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is written comes in order, but for patches: headers whose contents are
 * known when what they describe has been written. A write that fails is kept:
 * what is put after it is dropped, and wr_pen_flush says so. */
#ifndef WR_GEN_PEN_H
#define WR_GEN_PEN_H

#include <stddef.h>
#include <stdint.h>

#include "storage/storage.h"
#include "weir/dtype.h"

/* --- random bytes as a function of where they stand ---
 *
 * A byte follows from a key and its offset alone: any stretch can be made
 * again, by any thread, without what comes before it. */

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

/* --- the pen --- */

/* Small enough to stay in a cache of the second level with what made it. */
#define WR_PEN_BYTES ((size_t)128 << 10)

struct wr_pen {
    struct wr_object *object; /* borrowed */
    uint8_t *buf;             /* borrowed: WR_PEN_BYTES */
    size_t len;               /* in it */
    uint64_t at;              /* where buf begins in the object */
    /* Counted over whatever is put while `sum` is set; a patch is not. */
    uint32_t (*sum)(uint32_t crc, const void *bytes, size_t len);
    uint32_t crc;
    weir_err failed; /* code: the first write that failed */
};

/* Begins an object that is empty. */
void wr_pen_init(struct wr_pen *p, struct wr_object *o, uint8_t *buf);

/* The offset of the next byte. */
uint64_t wr_pen_tell(const struct wr_pen *p);

void wr_pen_put(struct wr_pen *p, const void *bytes, size_t len);
void wr_pen_zeros(struct wr_pen *p, uint64_t len);

/* Zeros up to a multiple of `block` bytes. */
void wr_pen_pad(struct wr_pen *p, uint64_t block);

/* Leaves room for a patch. */
void wr_pen_skip(struct wr_pen *p, uint64_t len);

/* `len` bytes of `n` from its offset `from` on. */
void wr_pen_noise(struct wr_pen *p, const struct wr_noise *n, uint64_t from,
                  uint64_t len);

/* Writes into room that was left. */
void wr_pen_patch(struct wr_pen *p, uint64_t at, const void *bytes, size_t len);

/* Writes what is still in the buffer; returns the first failure of all. */
int wr_pen_flush(struct wr_pen *p, weir_err *err);

#endif
