/* tensor_decode.c - stored tensors -> tensors as they were asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/tensor_decode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "codec/kernel.h"
#include "format/tensor.h"

/* How a sample becomes a tensor. */
struct plan {
    enum weir_dtype dtype; /* that comes out */
    bool convert;          /* u8 -> f32 or f16 */
    bool planar;           /* HWC -> CHW */
    uint32_t channels;     /* 1 or 3, when converted or planar */
    size_t pixels;         /* values per channel */
    size_t stored_bytes;   /* of one sample */
    size_t out_bytes;
};

struct tensor_decoder {
    struct wr_decoder base;
    struct plan plan;
    /* What each stored value becomes, by channel: with 256 values a table is
     * as exact as the arithmetic and needs no f16 in the processor. */
    float f32[3][256];
    uint16_t f16[3][256];
};

static bool is_channel(uint64_t dim)
{
    return dim == 1 || dim == 3;
}

static bool is_picture_dtype(enum weir_dtype t)
{
    return t == WEIR_F32 || t == WEIR_F16 || t == WEIR_U8;
}

static int make_plan(const weir_field *s, const weir_picture_config *pic,
                     struct plan *ret, weir_err *err)
{
    enum weir_dtype stored = s->dtype;
    bool channels = s->ndim && is_channel(s->dims[s->ndim - 1]);
    struct plan p = {.dtype = is_picture_dtype(stored) ? pic->dtype : stored};
    size_t values = 1;

    p.convert = p.dtype != stored;
    if (p.convert && stored != WEIR_U8)
        return wr_fail(err, WEIR_ENOTSUP,
                       "the samples are %s and are not converted to %s: ask "
                       "for dtype %s",
                       wr_dtype_text(stored), wr_dtype_text(pic->dtype),
                       wr_dtype_text(stored));
    if (p.convert && !channels)
        return wr_fail(err, WEIR_ENOTSUP,
                       "the samples are u8 without a last dimension of 1 or 3 "
                       "channels and are not normalized to %s: ask for dtype "
                       "u8",
                       wr_dtype_text(pic->dtype));
    p.planar = stored == WEIR_U8 && pic->layout == WEIR_NCHW && s->ndim == 3 &&
               channels;
    for (uint32_t k = 0; k < s->ndim; k++)
        values *= s->dims[k]; /* the indexer has checked it */
    p.channels = channels ? (uint32_t)s->dims[s->ndim - 1] : 1;
    p.pixels = values / p.channels;
    p.stored_bytes = values * wr_dtype_bytes(stored);
    p.out_bytes = values * wr_dtype_bytes(p.dtype);
    *ret = p;
    return 0;
}

int wr_tensor_shape(const weir_field *s, const struct wr_field_want *want,
                    struct wr_tensor_shape *ret, weir_err *err)
{
    const weir_picture_config *pic = &want->picture;
    struct wr_tensor_shape shape = {0};
    struct plan p = {0};
    int r;

    if (pic->orient != WEIR_ORIENT_IGNORE)
        return wr_fail(err, WEIR_EINVAL, "orient: pictures only, not tensors");
    if (pic->crop != WEIR_CROP_NONE || pic->flip)
        return wr_fail(err, WEIR_EINVAL, "%s: pictures only, not tensors",
                       pic->flip ? "flip" : "crop");
    r = make_plan(s, pic, &p, err);
    if (r < 0)
        return r;
    shape.dtype = p.dtype;
    shape.ndim = s->ndim;
    memcpy(shape.dims, s->dims, sizeof(shape.dims));
    if (p.planar) {
        shape.dims[0] = s->dims[2];
        shape.dims[1] = s->dims[0];
        shape.dims[2] = s->dims[1];
    }
    shape.bytes = p.out_bytes;
    /* One channel lies the same in both layouts. */
    shape.direct = !p.convert && (!p.planar || p.channels == 1);
    *ret = shape;
    return 0;
}

static void to_f32(const struct tensor_decoder *td, const uint8_t *in,
                   float *out)
{
    const struct plan *p = &td->plan;
    size_t step = p->planar ? 1 : p->channels;

    for (uint32_t c = 0; c < p->channels; c++) {
        float *to = out + (p->planar ? c * p->pixels : c);

        for (size_t i = 0; i < p->pixels; i++)
            to[i * step] = td->f32[c][in[i * p->channels + c]];
    }
}

static void to_f16(const struct tensor_decoder *td, const uint8_t *in,
                   uint16_t *out)
{
    const struct plan *p = &td->plan;
    size_t step = p->planar ? 1 : p->channels;

    for (uint32_t c = 0; c < p->channels; c++) {
        uint16_t *to = out + (p->planar ? c * p->pixels : c);

        for (size_t i = 0; i < p->pixels; i++)
            to[i * step] = td->f16[c][in[i * p->channels + c]];
    }
}

static void to_planes(const struct plan *p, const uint8_t *in, uint8_t *out)
{
    for (uint32_t c = 0; c < p->channels; c++)
        for (size_t i = 0; i < p->pixels; i++)
            out[c * p->pixels + i] = in[i * p->channels + c];
}

static int tensor_decode(struct wr_decoder *d, const struct wr_sample *s,
                         void *slot, struct wr_picture_times *times,
                         weir_err *err)
{
    struct tensor_decoder *td = (struct tensor_decoder *)d;
    const struct plan *p = &td->plan;
    uint64_t start = wr_clock_ns();

    if (s->len != p->stored_bytes)
        return wr_fail(err, WEIR_EFORMAT, "%zu bytes, not %zu", s->len,
                       p->stored_bytes);
    if (!slot)
        return 0;
    if (p->convert && p->dtype == WEIR_F32)
        to_f32(td, s->bytes, slot);
    else if (p->convert)
        to_f16(td, s->bytes, slot);
    else if (p->planar)
        to_planes(p, s->bytes, slot);
    else
        memcpy(slot, s->bytes, s->len);
    if (times)
        times->resample_ns += wr_clock_ns() - start;
    return 0;
}

static void tensor_free(struct wr_decoder *d)
{
    free(d);
}

static const struct wr_decoder_ops tensor_decoder_ops = {
    .decode = tensor_decode,
    .free = tensor_free,
};

int wr_tensor_decoder_new(const weir_field *s, const struct wr_field_want *want,
                          struct wr_decoder **ret, weir_err *err)
{
    const weir_picture_config *pic = &want->picture;
    struct tensor_decoder *td;
    struct plan p = {0};
    int r;

    r = make_plan(s, pic, &p, err);
    if (r < 0)
        return r;
    td = calloc(1, sizeof(*td));
    if (!td)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    td->base.ops = &tensor_decoder_ops;
    td->plan = p;
    for (unsigned c = 0; c < 3; c++)
        for (unsigned v = 0; v < 256; v++) {
            td->f32[c][v] = ((float)v / 255.0f - pic->mean[c]) / pic->std[c];
            td->f16[c][v] = wr_f16_from_f32(td->f32[c][v]);
        }
    *ret = &td->base;
    return 0;
}
