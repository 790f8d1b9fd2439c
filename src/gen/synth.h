/* synth.h - pictures of shapes on textures, with photographic detail.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The class alone decides the shape, the two colour schemes and the two
 * textures; the sample decides place, size, angle, light, clutter and noise.
 * Class 7 therefore looks like class 7 under every seed, and a small network
 * can learn on one data set and be tested on another. */
#ifndef WR_GEN_SYNTH_H
#define WR_GEN_SYNTH_H

#include <stdint.h>
#include <stdbool.h>

#include "weir/error.h"

struct wr_textures;

struct wr_synth_picture {
    uint32_t label;
    uint64_t key; /* what makes this sample differ from all others */
    uint32_t width, height;
    uint32_t channels; /* 1: gray, 3: RGB, 4: RGB and a byte of 0 */
    uint32_t grain;    /* noise amplitude, 256: standard deviation of 32 */
    uint32_t detail;   /* contrast of the textures, of 256 */
};

/* Draws into `pixels`, width * height * channels bytes. The result is a function
 * of `p` and the textures' seed alone. */
void wr_synth_draw(const struct wr_textures *t,
                   const struct wr_synth_picture *p, uint8_t *pixels);

#define WR_SHAPE_STRIP 64 /* points that are asked for at once */

/* About the distance of each point to the edge: positive inside, negative
 * outside, in the unit of u and v. */
typedef void wr_shape_depths(const float u[WR_SHAPE_STRIP],
                             const float v[WR_SHAPE_STRIP],
                             float ret[WR_SHAPE_STRIP]);

/* A shape lies in |u|, |v| <= 1. */
struct wr_shape {
    const char *name;
    wr_shape_depths *plain;
    wr_shape_depths *wide; /* the same, for machines with AVX2 */
};

#define WR_SHAPE_COUNT 12
extern const struct wr_shape wr_shapes[WR_SHAPE_COUNT];

#endif
