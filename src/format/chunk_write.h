/* chunk_write.h - samples -> the equal chunks of one array, in C order.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Chunk k lies k times its bytes behind the first. A chunk may cut any axis,
 * and hold several samples; one that sticks out of the array is as large as the
 * others, and zeros where there are no elements. */
#ifndef WR_FORMAT_CHUNK_WRITE_H
#define WR_FORMAT_CHUNK_WRITE_H

#include "codec/tiles.h"
#include "storage/storage.h"

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
