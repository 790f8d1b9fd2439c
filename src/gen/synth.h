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

#endif
