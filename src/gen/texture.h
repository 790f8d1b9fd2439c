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
    /* What a camera's sensor adds: mean 0, standard deviation about 32. */
    int8_t grain[WR_TEXTURE_SIDE][WR_TEXTURE_SIDE];
};

int wr_textures_new(struct wr_textures **ret, uint64_t seed, weir_err *err);
void wr_textures_free(struct wr_textures *t);

/* Bilinear look-up; u and v are 16.16 fixed point, any value. */
static inline int wr_texture_at(const struct wr_textures *t, unsigned kind,
                                uint32_t u, uint32_t v)
{
    unsigned x0 = (u >> 16) & WR_TEXTURE_MASK, x1 = (x0 + 1) & WR_TEXTURE_MASK;
    unsigned y0 = (v >> 16) & WR_TEXTURE_MASK, y1 = (y0 + 1) & WR_TEXTURE_MASK;
    const uint8_t *r0 = t->tile[kind][y0], *r1 = t->tile[kind][y1];
    int fx = (u >> 8) & 0xff, fy = (v >> 8) & 0xff;
    int top = (r0[x0] << 8) + (r0[x1] - r0[x0]) * fx;
    int low = (r1[x0] << 8) + (r1[x1] - r1[x0]) * fx;

    return ((top << 8) + (low - top) * fy) >> 16;
}

/* The nearest element instead: for samplings denser than the tile. */
static inline int wr_texture_near(const struct wr_textures *t, unsigned kind,
                                  uint32_t u, uint32_t v)
{
    return t
        ->tile[kind][(v >> 16) & WR_TEXTURE_MASK][(u >> 16) & WR_TEXTURE_MASK];
}

#endif
