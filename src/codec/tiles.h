/* tiles.h - arrays that are cut into tiles or strided -> one piece, in C order.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tiles that reach over an edge of the array are as large as the others; what
 * lies outside is dropped. */
#ifndef WR_CODEC_TILES_H
#define WR_CODEC_TILES_H

#include <stdint.h>
#include <stddef.h>

#define WR_TILED_DIMS 8

struct wr_tiles {
    uint32_t ndim;                /* at least 1 */
    uint32_t elem;                /* bytes of an element */
    uint64_t dims[WR_TILED_DIMS]; /* outermost first, none is 0 */
    uint64_t tile[WR_TILED_DIMS]; /* of one tile, none is 0 */
};

/* How many there are, and bytes of each. The caller has checked that they do
 * not overflow. */
uint64_t wr_tiles_count(const struct wr_tiles *t);
uint64_t wr_tiles_bytes(const struct wr_tiles *t);

/* Copies tile `k`, in C order of the tiles, to its place in `out`. */
void wr_tiles_place(const struct wr_tiles *t, uint64_t k, const void *in,
                    void *out);

/* The other way: tile `k` of the array `in`, whole, to `out`; what reaches over
 * an edge is left as it is. */
void wr_tiles_take(const struct wr_tiles *t, uint64_t k, const void *in,
                   void *out);

#define WR_STRIDED_DIMS 8

struct wr_strides {
    uint32_t ndim;                   /* 0: one element */
    uint32_t elem;                   /* bytes of an element */
    uint64_t dims[WR_STRIDED_DIMS];  /* outermost first, none is 0 */
    uint64_t bytes[WR_STRIDED_DIMS]; /* from one index to the next */
};

/* From the first byte of the first element to behind the last one. The caller
 * has checked that it does not overflow. */
uint64_t wr_strides_span(const struct wr_strides *s);

/* Every element of `in`, one after another. */
void wr_strides_gather(const struct wr_strides *s, const void *in, void *out);

#endif
