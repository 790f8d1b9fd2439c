/* chunks.h - the chunks of an array: what reading costs, and writing them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_CHUNKS_H
#define WR_FORMAT_CHUNKS_H

#include "codec/tiles.h"
#include "format/format.h"
#include "storage/storage.h"

#define WR_CHUNKS_MUCH 4.0 /* above this, another order or format pays */

struct wr_chunks {
    uint32_t ndim; /* of a chunk, samples first */
    uint64_t dims[8];
    uint32_t filters;     /* of the first one that is stored; 0: none */
    unsigned touched;     /* chunks that a sample lies in */
    uint64_t unpacked;    /* bytes of these; of those without filters, the part
                           that is read */
    double amplification; /* the same, times the bytes of a sample */
};

/* Of the first sample of field `k`; false: it is not in chunks. */
bool wr_chunks_of(const struct wr_index *ix, unsigned k, struct wr_chunks *ret);

/* "5x4x3, shuffle+zlib" into buf, which is returned. */
const char *wr_chunks_text(const struct wr_chunks *c, char *buf, size_t cap);

/* --- samples -> the equal chunks of one array, in C order --- */

/* Chunk k lies k times its bytes behind the first. A chunk may cut any axis,
 * and hold several samples; one that sticks out of the array is as large as
 * the others, and zeros where there are no elements. */

struct wr_chunk_write {
    struct wr_tiles tiles;      /* of a sample: what a chunk has of it */
    uint64_t count, tile_bytes; /* of them, and bytes of each */
    uint64_t samples;           /* of a chunk */
    uint64_t first, held, room; /* samples: number of the first in buf, how
                                   many are there, and fit */
    uint8_t *buf;               /* owned: by tile, then by sample */
};

/* `tiles` as of one sample, no side longer than its dimension; `samples` of a
 * chunk, at least 1. */
int wr_chunk_write_init(struct wr_chunk_write *w, const struct wr_tiles *tiles,
                        uint64_t samples, weir_err *err);
void wr_chunk_write_done(struct wr_chunk_write *w); /* takes all zeros */

/* The next sample; chunk 0 lies at `address` of the object. The last samples
 * are written by flush. Samples that the last chunks have room for are not
 * written: the caller makes the object as long, so that they read as zeros. */
int wr_chunk_write_add(struct wr_chunk_write *w, const void *sample,
                       struct wr_object *to, uint64_t address, weir_err *err);
int wr_chunk_write_flush(struct wr_chunk_write *w, struct wr_object *to,
                         uint64_t address, weir_err *err);

#endif
