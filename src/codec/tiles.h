/* tiles.h - an array that is cut into equal tiles -> one piece, in C order.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tiles that reach over an edge of the array are as large as the others; what
 * lies outside is dropped. */
#ifndef WR_CODEC_TILES_H
#define WR_CODEC_TILES_H

#include <stdint.h>

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

#endif
