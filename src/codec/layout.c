/* layout.c - rows of pixels -> the tensor: type, order, normalization.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/layout.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"

/* value = (level / 255 - mean) / std in one multiplication and addition; u8
 * stays a level, plus the half that turns cutting into rounding. */
static void make_affine(const weir_picture_config *spec, struct wr_affine *ret)
{
    for (int c = 0; c < 4; c++) {
        double mean = c < 3 ? spec->mean[c] : 0;
        double std = c < 3 ? spec->std[c] : 1;

        if (spec->dtype == WEIR_U8) {
            ret->scale[c] = 1 / WR_LEVEL;
            ret->bias[c] = 0.5f;
        } else {
            ret->scale[c] = (float)(1 / (255.0 * WR_LEVEL * std));
            ret->bias[c] = (float)(-mean / std);
        }
    }
}

int wr_layout_init(struct wr_layout *l, const weir_picture_config *spec,
                   const struct wr_kernels *kernels, weir_err *err)
{
    float *row = malloc((size_t)spec->width * spec->channels * sizeof(*row));

    if (!row)
        return wr_fail(err, WEIR_ENOMEM, "no memory for a row of %u pixels",
                       spec->width);
    *l = (struct wr_layout){
        .kernels = kernels,
        .width = spec->width,
        .height = spec->height,
        .channels = spec->channels,
        .dtype = spec->dtype,
        .layout = spec->layout,
        .elem_bytes = wr_dtype_bytes(spec->dtype),
        .row = row,
    };
    make_affine(spec, &l->affine);
    return 0;
}

void wr_layout_done(struct wr_layout *l)
{
    free(l->row);
    l->row = NULL;
}

/* n values to their type and place, which may have any alignment. */
static void convert(const struct wr_layout *l, const float *in, size_t n,
                    uint8_t *dst)
{
    uint16_t part[64];

    if (l->dtype == WEIR_F32) {
        memcpy(dst, in, n * sizeof(*in));
        return;
    }
    if (l->dtype == WEIR_U8) {
        l->kernels->to_u8(in, n, dst);
        return;
    }
    for (size_t i = 0; i < n; i += 64) {
        size_t m = n - i < 64 ? n - i : 64;

        l->kernels->to_f16(in + i, m, part);
        memcpy(dst + i * sizeof(*part), part, m * sizeof(*part));
    }
}

/* One component `c` of a row. */
static void put_one(const struct wr_layout *l, const float *in, int c,
                    uint8_t *dst)
{
    float scale = l->affine.scale[c], bias = l->affine.bias[c];

    for (uint32_t i = 0; i < l->width; i++)
        l->row[i] = in[i] * scale + bias;
    convert(l, l->row, l->width, dst);
}

/* f32 goes straight to its place when that is a place for floats. */
static bool is_direct(const struct wr_layout *l, const void *dst)
{
    return l->dtype == WEIR_F32 && (uintptr_t)dst % sizeof(float) == 0;
}

static void put_nhwc(const struct wr_layout *l, const float *quads,
                     uint8_t *dst)
{
    if (is_direct(l, dst)) {
        l->kernels->pack(&l->affine, quads, l->width, (float *)(void *)dst);
        return;
    }
    l->kernels->pack(&l->affine, quads, l->width, l->row);
    convert(l, l->row, (size_t)l->width * 3, dst);
}

static void put_nchw(const struct wr_layout *l, const float *quads,
                     uint8_t *dst)
{
    size_t plane = (size_t)l->width * l->height * l->elem_bytes;
    bool direct = is_direct(l, dst);
    float *rows[3];

    for (size_t c = 0; c < 3; c++)
        rows[c] = direct ? (float *)(void *)(dst + c * plane)
                         : l->row + c * l->width;
    l->kernels->split(&l->affine, quads, l->width, rows);
    for (size_t c = 0; c < 3 && !direct; c++)
        convert(l, rows[c], l->width, dst + c * plane);
}

void wr_layout_put(const struct wr_layout *l, const float *pixels, uint32_t y,
                   void *slot)
{
    size_t per_row = l->width * l->elem_bytes;
    uint8_t *dst = slot;

    if (l->channels == 1)
        put_one(l, pixels, 0, dst + y * per_row);
    else if (l->layout == WEIR_NHWC)
        put_nhwc(l, pixels, dst + y * per_row * 3);
    else
        put_nchw(l, pixels, dst + y * per_row);
}

void wr_layout_put_ycc(const struct wr_layout *l, float *const planes[3],
                       uint32_t y, void *slot)
{
    size_t per_row = l->width * l->elem_bytes;
    uint8_t *dst = slot;

    if (l->layout == WEIR_NCHW) {
        l->kernels->ycc(&l->affine, planes, l->width);
        for (int c = 0; c < 3; c++)
            put_one(l, planes[c], c,
                    dst + ((size_t)c * l->height + y) * per_row);
        return;
    }
    dst += y * per_row * 3;
    if (is_direct(l, dst)) {
        l->kernels->ycc_pack(&l->affine, planes, l->width,
                             (float *)(void *)dst);
        return;
    }
    l->kernels->ycc_pack(&l->affine, planes, l->width, l->row);
    convert(l, l->row, (size_t)l->width * 3, dst);
}
