/* tensor_decode.c - stored tensors -> tensors as they were asked for.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/tensor_decode.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "codec/cast.h"
#include "codec/kernel.h"
#include "codec/strided.h"
#include "format/tensor.h"

/* How a sample becomes a tensor. */
struct tensor_plan {
    enum weir_dtype stored, dtype; /* and that comes out */
    bool normalize;                /* u8 -> f32 or f16 */
    bool planar;                   /* HWC -> CHW */
    uint32_t channels;             /* 1 or 3, when normalized or planar */
    size_t values, pixels;         /* all, and per channel */
    size_t stored_bytes;           /* of one sample, without gaps */
    size_t out_bytes;
    size_t span; /* bytes of the part; scaled: of one sample alone */
    bool strided, scaled, swap;
    struct wr_strides strides;
};

struct tensor_decoder {
    struct wr_decoder base;
    struct tensor_plan plan;
    uint8_t *scratch; /* owned: a sample in order, where it is changed again */
    /* What each stored value becomes, by channel: with 256 values a table is
     * as exact as the arithmetic and needs no f16 in the processor. */
    float f32[3][256];
    uint16_t f16[3][256];
};

bool wr_field_has_channels(const weir_field *f)
{
    uint64_t last = f->ndim ? f->dims[f->ndim - 1] : 0;

    return last == 1 || last == 3;
}

static bool is_picture_dtype(enum weir_dtype t)
{
    return t == WEIR_F32 || t == WEIR_F16 || t == WEIR_U8;
}

/* What comes out: what was asked for, else what is stored; types that pictures
 * come out as, as pictures do. */
static enum weir_dtype out_type(enum weir_dtype stored,
                                const struct wr_field_want *want)
{
    if (want->convert)
        return want->dtype;
    return is_picture_dtype(stored) ? want->picture.dtype : stored;
}

static int check_types(const struct tensor_plan *p, bool channels, bool asked,
                       weir_err *err)
{
    if (!wr_cast_can(p->stored, p->dtype))
        return wr_fail(err, WEIR_ENOTSUP,
                       "the samples are %s and are not converted to %s: ask "
                       "for dtype %s",
                       wr_dtype_text(p->stored), wr_dtype_text(p->dtype),
                       wr_dtype_text(p->stored));
    if (p->stored == WEIR_U8 && p->dtype != WEIR_U8 && !channels && !asked)
        return wr_fail(err, WEIR_ENOTSUP,
                       "the samples are u8 without a last dimension of 1 or 3 "
                       "channels and are not normalized to %s: ask for dtype "
                       "u8",
                       wr_dtype_text(p->dtype));
    return 0;
}

/* The settings of one field may be all zeros. */
static int check_normal(const struct tensor_plan *p,
                        const weir_picture_config *pic, weir_err *err)
{
    for (uint32_t c = 0; p->normalize && c < p->channels; c++)
        if (!isfinite(pic->mean[c]) || !isfinite(pic->std[c]) ||
            pic->std[c] == 0)
            return wr_fail(err, WEIR_EINVAL,
                           "cannot normalize with mean %g and std %g",
                           (double)pic->mean[c], (double)pic->std[c]);
    return 0;
}

static void plan_strides(const struct wr_field *f, struct tensor_plan *p)
{
    p->swap = f->swap;
    p->strided = f->strided;
    p->scaled = f->scaled;
    p->strides = (struct wr_strides){
        .ndim = f->pub.ndim, .elem = (uint32_t)wr_dtype_bytes(p->stored)};
    memcpy(p->strides.dims, f->pub.dims, sizeof(f->pub.dims));
    memcpy(p->strides.bytes, f->strides, sizeof(f->strides));
    p->span = f->strided ? wr_strides_span(&p->strides) : p->stored_bytes;
}

static int make_plan(const struct wr_field *f, const struct wr_field_want *want,
                     struct tensor_plan *ret, weir_err *err)
{
    const weir_field *s = &f->pub;
    bool channels = wr_field_has_channels(s);
    struct tensor_plan p = {
        .stored = s->dtype, .dtype = out_type(s->dtype, want), .values = 1};
    int r = check_types(&p, channels, want->convert, err);

    if (r < 0)
        return r;
    p.normalize = p.stored == WEIR_U8 && channels && !want->convert &&
                  p.dtype != WEIR_U8;
    p.planar = p.stored == WEIR_U8 && want->picture.layout == WEIR_NCHW &&
               s->ndim == 3 && channels && !want->convert;
    for (uint32_t k = 0; k < s->ndim; k++)
        p.values *= s->dims[k]; /* the indexer has checked it */
    p.channels = channels ? (uint32_t)s->dims[s->ndim - 1] : 1;
    p.pixels = p.values / p.channels;
    p.stored_bytes = p.values * wr_dtype_bytes(p.stored);
    p.out_bytes = p.values * wr_dtype_bytes(p.dtype);
    plan_strides(f, &p);
    r = check_normal(&p, &want->picture, err);
    if (r == 0)
        *ret = p;
    return r;
}

/* Are bytes in their order all that comes out? */
static bool is_copied(const struct tensor_plan *p)
{
    /* One channel lies the same in both layouts. */
    return p->stored == p->dtype && (!p->planar || p->channels == 1);
}

int wr_tensor_shape(const struct wr_field *f, const struct wr_field_want *want,
                    struct wr_tensor_shape *ret, weir_err *err)
{
    const weir_picture_config *pic = &want->picture;
    const weir_field *s = &f->pub;
    struct wr_tensor_shape shape = {0};
    struct tensor_plan p = {0};
    int r;

    if (pic->orient != WEIR_ORIENT_IGNORE)
        return wr_fail(err, WEIR_EINVAL, "orient: pictures only, not tensors");
    if (pic->crop != WEIR_CROP_NONE || pic->flip)
        return wr_fail(err, WEIR_EINVAL, "%s: pictures only, not tensors",
                       pic->flip ? "flip" : "crop");
    r = make_plan(f, want, &p, err);
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
    shape.direct = is_copied(&p) && !p.strided && !p.swap;
    *ret = shape;
    return 0;
}

static void to_f32(const struct tensor_decoder *td, const uint8_t *in,
                   float *out)
{
    const struct tensor_plan *p = &td->plan;
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
    const struct tensor_plan *p = &td->plan;
    size_t step = p->planar ? 1 : p->channels;

    for (uint32_t c = 0; c < p->channels; c++) {
        uint16_t *to = out + (p->planar ? c * p->pixels : c);

        for (size_t i = 0; i < p->pixels; i++)
            to[i * step] = td->f16[c][in[i * p->channels + c]];
    }
}

static void to_planes(const struct tensor_plan *p, const uint8_t *in,
                      uint8_t *out)
{
    for (uint32_t c = 0; c < p->channels; c++)
        for (size_t i = 0; i < p->pixels; i++)
            out[c * p->pixels + i] = in[i * p->channels + c];
}

/* The elements of a part one after another, in the processor's byte order;
 * returns where they are: in the part, `slot` or scratch. */
static const uint8_t *in_order(const struct tensor_decoder *td,
                               const struct wr_sample *s, uint8_t *slot)
{
    const struct tensor_plan *p = &td->plan;
    uint8_t *to = is_copied(p) ? slot : td->scratch;
    struct wr_strides strides = p->strides;
    const uint8_t *in = s->bytes;

    if (p->strided) {
        size_t elem = strides.elem;

        for (uint32_t k = 0; p->scaled && k < strides.ndim; k++)
            strides.bytes[k] *= (s->len - elem) / (p->span - elem);
        wr_strides_gather(&strides, in, to);
        in = to;
    }
    if (p->swap) {
        wr_swap(in, p->stored_bytes, wr_swap_width(p->stored), to);
        in = to;
    }
    return in;
}

/* Scaled parts are as long as so many whole samples of them make. */
static bool is_part(const struct tensor_plan *p, size_t len)
{
    size_t elem = p->strides.elem;

    if (!p->scaled || p->span == elem)
        return len == p->span;
    return len >= p->span && (len - elem) % (p->span - elem) == 0;
}

static int tensor_decode(struct wr_decoder *d, const struct wr_sample *s,
                         void *slot, struct wr_picture_times *times,
                         weir_err *err)
{
    struct tensor_decoder *td = (struct tensor_decoder *)d;
    const struct tensor_plan *p = &td->plan;
    uint64_t start = wr_clock_ns();
    const uint8_t *in;

    if (!is_part(p, s->len))
        return wr_fail(err, WEIR_EFORMAT, "%zu bytes, not %zu", s->len,
                       p->span);
    if (!slot)
        return 0;
    in = in_order(td, s, slot);
    if (p->normalize && p->dtype == WEIR_F32)
        to_f32(td, in, slot);
    else if (p->normalize)
        to_f16(td, in, slot);
    else if (p->planar)
        to_planes(p, in, slot);
    else if (in != slot)
        wr_cast(p->stored, p->dtype, in, p->values, slot);
    if (times)
        times->resample_ns += wr_clock_ns() - start;
    return 0;
}

static void tensor_free(struct wr_decoder *d)
{
    free(((struct tensor_decoder *)d)->scratch);
    free(d);
}

static const struct wr_decoder_ops tensor_decoder_ops = {
    .decode = tensor_decode,
    .free = tensor_free,
};

int wr_tensor_decoder_new(const struct wr_field *f,
                          const struct wr_field_want *want,
                          struct wr_decoder **ret, weir_err *err)
{
    const weir_picture_config *pic = &want->picture;
    struct tensor_decoder *td;
    struct tensor_plan p = {0};
    int r;

    r = make_plan(f, want, &p, err);
    if (r < 0)
        return r;
    td = calloc(1, sizeof(*td));
    if (!td)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    td->base.ops = &tensor_decoder_ops;
    td->plan = p;
    if (!is_copied(&p) && (p.strided || p.swap)) {
        td->scratch = malloc(p.stored_bytes);
        if (!td->scratch) {
            free(td);
            return wr_fail(err, WEIR_ENOMEM, "no memory for a sample");
        }
    }
    for (unsigned c = 0; c < 3; c++)
        for (unsigned v = 0; v < 256; v++) {
            td->f32[c][v] = ((float)v / 255.0f - pic->mean[c]) / pic->std[c];
            td->f16[c][v] = wr_f16_from_f32(td->f32[c][v]);
        }
    *ret = &td->base;
    return 0;
}
