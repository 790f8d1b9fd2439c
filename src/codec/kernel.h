/* kernel.h - the inner loops of resampling and layout, plain and SIMD.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every table gives the same bits: sums are integers, and floating-point work
 * is single operations in one order, never contracted. Units on the way:
 *   u8 rows --vertical--> int16, level * 2^7
 *           --horizontal--> float, level * 2^21 (WR_LEVEL)
 *           --pack, split--> float, value * scale + bias
 * A `quad` is a pixel in four floats: r g b and one that is ignored. */
#ifndef WR_CODEC_KERNEL_H
#define WR_CODEC_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "codec/filter.h"

#define WR_MID_BITS   7
#define WR_LEVEL_BITS (WR_MID_BITS + WR_WEIGHT_BITS)
#define WR_LEVEL      ((float)(1 << WR_LEVEL_BITS)) /* one grey level */

/* JFIF's conversion (BT.601, full range). */
#define WR_CR_TO_R 1.402f
#define WR_CB_TO_G 0.344136286f
#define WR_CR_TO_G 0.714136286f
#define WR_CB_TO_B 1.772f

/* Kernels read and write up to this many bytes behind a row's end. */
#define WR_ROW_SLACK 64u

/* Up to this many taps, vertical sums are made in int16, from the packed
 * weights: with each pair's lower halves rounded for themselves. */
#define WR_NARROW_TAPS 64u

/* One output row out of `taps` input rows. */
struct wr_vertical {
    const uint8_t *const *rows; /* [taps rounded up to 2], last one twice */
    const int16_t *weights;     /* [taps rounded up to 2] */
    const int8_t *packed;       /* see WR_FILTER_ROWS */
    uint32_t taps;
    size_t n; /* values per row */
    int16_t *out;
};

/* What becomes of a pixel. */
struct wr_affine {
    float scale[4], bias[4];
    float lift; /* added to y, cb and cr first, in WR_LEVELs */
};

struct wr_kernels {
    const char *name;
    void (*vertical)(const struct wr_vertical *v);
    /* `row` is followed by f->padded samples and the slack, any content;
     * room for f->key.out rounded up to 8 outputs. */
    void (*horizontal_rgb)(const struct wr_taps *f, const int16_t *row,
                           float *quads);
    void (*horizontal_one)(const struct wr_taps *f, const int16_t *row,
                           float *out);
    /* y, cb, cr -> r, g, b in place, clamped to 0..255; rooms of n rounded up
     * to 8. */
    void (*ycc)(const struct wr_affine *a, float *const planes[3], size_t n);
    /* y, cb, cr -> 3 n floats, clamped and normalized; nothing is written
     * behind them. */
    void (*ycc_pack)(const struct wr_affine *a, float *const planes[3],
                     size_t n, float *out);
    /* n quads -> 3 n floats; nothing is written behind them. */
    void (*pack)(const struct wr_affine *a, const float *quads, size_t n,
                 float *out);
    /* n quads -> three rows of n floats. */
    void (*split)(const struct wr_affine *a, const float *quads, size_t n,
                  float *const out[3]);
    void (*to_f16)(const float *in, size_t n, uint16_t *out);
    void (*to_u8)(const float *in, size_t n, uint8_t *out); /* cut off */
};

extern const struct wr_kernels wr_kernels_plain;

/* The fastest for this processor. */
const struct wr_kernels *wr_kernels_best(void);

/* This table or NULL where the processor cannot run it. */
const struct wr_kernels *wr_kernels_avx2(void);

/* Nearest half, ties to even, overflow to infinity. */
static inline uint16_t wr_f16_from_f32(float value)
{
    union {
        float f;
        uint32_t u;
    } in = {.f = value}, magic = {.u = 0x3f000000u}, small;
    uint32_t sign = in.u >> 16 & 0x8000u, mag = in.u & 0x7fffffffu;
    uint32_t normal = mag - 0x38000000u + 0xfffu + (mag >> 13 & 1);
    uint32_t big = mag > 0x7f800000u ? 0x7e00u : 0x7c00u;
    uint32_t half;

    /* Below 2^-14 an addition of 0.5 shifts the bits to their place and
     * rounds them; each branch is a select when vectorized. */
    small.u = mag < 0x38800000u ? mag : 0;
    small.f += magic.f;
    half = mag < 0x38800000u ? small.u - magic.u : normal >> 13;
    half = mag >= 0x47800000u ? big : half;
    return (uint16_t)(sign | half);
}

/* Cut off behind the point and at both ends. */
static inline uint8_t wr_u8_from_f32(float value)
{
    int32_t v = (int32_t)value;

    v = v > 0 ? v : 0;
    return (uint8_t)(v < 255 ? v : 255);
}

#endif
