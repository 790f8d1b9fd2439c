/* texture.h - a bank of periodic noise tiles that surfaces are cut from.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Noise is computed once per seed; a picture then costs a few table look-ups
 * per pixel, at a place, angle and scale of its own. */
#ifndef WR_GEN_TEXTURE_H
#define WR_GEN_TEXTURE_H

#include <stdint.h>

#include "weir/error.h"

#define WR_TEXTURE_BITS  9
#define WR_TEXTURE_SIDE  (1 << WR_TEXTURE_BITS)
#define WR_TEXTURE_MASK  (WR_TEXTURE_SIDE - 1)
#define WR_TEXTURE_COUNT 8 /* clouds, stone, marble, wood, grass, ... */

/* Immutable once made: any number of threads may read it. */
struct wr_textures {
    /* [y][x], periodic in both; 0 to 255. */
    uint8_t tile[WR_TEXTURE_COUNT][WR_TEXTURE_SIDE][WR_TEXTURE_SIDE];
    /* The same element, and then those right of it, below, and both, as one
     * word that a look-up takes: the first is the lowest byte. */
    uint32_t four[WR_TEXTURE_COUNT][WR_TEXTURE_SIDE * WR_TEXTURE_SIDE];
    /* What a camera's sensor adds: mean 0, standard deviation about 32. */
    int8_t grain[WR_TEXTURE_SIDE][WR_TEXTURE_SIDE];
};

int wr_textures_new(struct wr_textures **ret, uint64_t seed, weir_err *err);
void wr_textures_free(struct wr_textures *t);

/* Where the element at (u, v) is, 16.16 fixed point, any value. */
static inline uint32_t wr_texture_place(uint32_t u, uint32_t v)
{
    return (v >> 16 & WR_TEXTURE_MASK) << WR_TEXTURE_BITS |
           (u >> 16 & WR_TEXTURE_MASK);
}

/* Between the four elements around (u, v). */
static inline int wr_texture_mix(uint32_t four, uint32_t u, uint32_t v)
{
    int a = four & 0xff, b = four >> 8 & 0xff;
    int c = four >> 16 & 0xff, d = (int)(four >> 24);
    int fx = (u >> 8) & 0xff, fy = (v >> 8) & 0xff;
    int top = (a << 8) + (b - a) * fx;
    int low = (c << 8) + (d - c) * fx;

    return ((top << 8) + (low - top) * fy) >> 16;
}

#endif
