/* layout.h - rows of pixels -> the tensor: type, order, normalization.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_LAYOUT_H
#define WR_CODEC_LAYOUT_H

#include "codec/kernel.h"
#include "codec/picture.h"

/* Zero it to start; belongs to one decoder. */
struct wr_layout {
    const struct wr_kernels *kernels; /* borrowed, static */
    struct wr_affine affine;          /* level * 2^21 -> value */
    uint32_t width, height, channels;
    enum weir_dtype dtype;
    enum weir_layout layout;
    size_t elem_bytes;
    float *row; /* owned: one row of values on its way to another type */
};

int wr_layout_init(struct wr_layout *l, const weir_picture_config *spec,
                   const struct wr_kernels *kernels, weir_err *err);
void wr_layout_done(struct wr_layout *l);

/* Writes row `y`, given as quads (3 channels) or floats, to its place. */
void wr_layout_put(const struct wr_layout *l, const float *pixels, uint32_t y,
                   void *slot);

/* The same, given as y, cb and cr, which are changed on the way. */
void wr_layout_put_ycc(const struct wr_layout *l, float *const planes[3],
                       uint32_t y, void *slot);

#endif
