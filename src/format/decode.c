/* decode.c - what comes out of a field, and the decoders of its kinds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/decode.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "codec/augment.h"
#include "codec/cast.h"
#include "codec/kernel.h"
#include "codec/tiles.h"
#include "format/tensor.h"

/* --- stored tensors -> tensors as they were asked for --- */

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

/* One pass over the pixels: what a loop for each channel writes goes through the
 * caches that often. */
#define TO_FLOATS(type)                                                        \
    static void to_##type(const struct tensor_decoder *td,                     \
                          const uint8_t *restrict in, type##_t *restrict out)  \
    {                                                                          \
        const struct tensor_plan *p = &td->plan;                               \
        size_t step = p->planar ? 1 : p->channels;                             \
        size_t next = p->planar ? p->pixels : 1;                               \
                                                                               \
        for (size_t i = 0; i < p->pixels && p->channels == 1; i++)             \
            out[i] = td->type[0][in[i]];                                       \
        for (size_t i = 0; i < p->pixels && p->channels == 3; i++) {           \
            out[0] = td->type[0][in[0]];                                       \
            out[next] = td->type[1][in[1]];                                    \
            out[2 * next] = td->type[2][in[2]];                                \
            in += 3;                                                           \
            out += step;                                                       \
        }                                                                      \
    }

typedef float f32_t;
typedef uint16_t f16_t;
TO_FLOATS(f32)
TO_FLOATS(f16)
#undef TO_FLOATS

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

/* --- the decoder of fields that are encoded pictures --- */

struct pictures_decoder {
    struct wr_decoder base;
    struct wr_picture_decoder *picture; /* owned */
    struct wr_augment augment;
};

bool wr_is_picture_name(const char *name)
{
    return wr_picture_kind_of_name(name, strlen(name)) != WR_PICTURE_UNKNOWN;
}

static int check_picture(const weir_picture_config *pic, weir_err *err)
{
    if (pic->channels != 1 && pic->channels != 3)
        return wr_fail(err, WEIR_EINVAL, "channels: %u is neither 1 nor 3",
                       pic->channels);
    if (!pic->width || !pic->height || pic->width > WR_PICTURE_MAX_SIDE ||
        pic->height > WR_PICTURE_MAX_SIDE ||
        (uint64_t)pic->width * pic->height > WR_PICTURE_MAX_PIXELS)
        return wr_fail(err, WEIR_EINVAL,
                       "size: %ux%u is not between 1x1 and the limit",
                       pic->width, pic->height);
    return wr_augment_check(pic, err);
}

int wr_pictures_shape(const struct wr_field_want *want,
                      struct wr_tensor_shape *ret, weir_err *err)
{
    const weir_picture_config *pic = &want->picture;
    int r = check_picture(pic, err);

    if (r < 0)
        return r;
    *ret = (struct wr_tensor_shape){
        .dtype = pic->dtype,
        .ndim = 3,
        .dims = {pic->height, pic->width, pic->channels},
        .bytes = wr_picture_slot_bytes(pic),
    };
    if (pic->layout == WEIR_NCHW) {
        ret->dims[0] = pic->channels;
        ret->dims[1] = pic->height;
        ret->dims[2] = pic->width;
    }
    return 0;
}

/* The part of sample `s` that is used. Its header is read here and again when
 * it is decoded: that costs less than a hundredth of a decode. */
static int plan(const struct pictures_decoder *pd, const struct wr_sample *s,
                struct wr_picture_crop *ret, weir_err *err)
{
    const struct wr_augment *a = &pd->augment;
    struct wr_picture_info info = {0};
    int r = 0;

    if (a->picture.crop != WEIR_CROP_NONE)
        r = wr_picture_info(s->bytes, s->len, &info, err);
    if (r >= 0 && a->picture.orient == WEIR_ORIENT_EXIF)
        wr_picture_turn_size(info.orientation, &info.width, &info.height);
    if (r >= 0)
        *ret = wr_augment_plan(a, info.width, info.height, s->epoch, s->id);
    return r;
}

static int pictures_decode(struct wr_decoder *d, const struct wr_sample *s,
                           void *slot, struct wr_picture_times *times,
                           weir_err *err)
{
    struct pictures_decoder *pd = (struct pictures_decoder *)d;
    struct wr_picture_times unused = {0};
    struct wr_picture_crop crop;
    uint64_t start = wr_clock_ns();
    int r;

    if (!times)
        times = &unused;
    if (!s->len)
        return wr_fail(err, WEIR_EFORMAT, "empty file");
    r = plan(pd, s, &crop, err);
    if (r >= 0 && !slot)
        r = wr_picture_decode_drop(pd->picture, s->bytes, s->len, &crop, err);
    times->decode_ns += wr_clock_ns() - start;
    if (r < 0 || !slot)
        return r;
    return wr_picture_decode(pd->picture, s->bytes, s->len, &crop, slot, times,
                             err);
}

static void pictures_free(struct wr_decoder *d)
{
    struct pictures_decoder *pd = (struct pictures_decoder *)d;

    if (!pd)
        return;
    wr_picture_free(pd->picture);
    free(pd);
}

static const struct wr_decoder_ops pictures_decoder_ops = {
    .decode = pictures_decode,
    .free = pictures_free,
};

int wr_pictures_decoder_new(const struct wr_field_want *want,
                            struct wr_decoder **ret, weir_err *err)
{
    struct pictures_decoder *pd;
    int r = check_picture(&want->picture, err);

    if (r < 0)
        return r;
    pd = calloc(1, sizeof(*pd));
    if (!pd)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    pd->base.ops = &pictures_decoder_ops;
    pd->augment = (struct wr_augment){want->picture, want->seed};
    r = wr_picture_new(&pd->picture, &want->picture, err);
    if (r < 0) {
        free(pd);
        return r;
    }
    *ret = &pd->base;
    return 0;
}

/* --- what comes out of a field, and the decoder that makes it --- */

/* Bytes that come out as they lie. */
struct plain_decoder {
    struct wr_decoder base;
    uint64_t bytes; /* 0: any */
};

static int plain_decode(struct wr_decoder *d, const struct wr_sample *s,
                        void *slot, struct wr_picture_times *times,
                        weir_err *err)
{
    struct plain_decoder *pd = (struct plain_decoder *)d;

    if (pd->bytes && s->len != pd->bytes)
        return wr_fail(err, WEIR_EFORMAT, "%zu bytes, not %zu", s->len,
                       (size_t)pd->bytes);
    if (slot)
        memcpy(slot, s->bytes, s->len);
    return 0;
}

static void plain_free(struct wr_decoder *d)
{
    free(d);
}

static const struct wr_decoder_ops plain_decoder_ops = {
    .decode = plain_decode,
    .free = plain_free,
};

static bool is_plain(const struct wr_field *f)
{
    return f->pub.kind == WEIR_FIELD_BYTES ||
           f->pub.kind == WEIR_FIELD_SCALAR ||
           (f->pub.kind == WEIR_FIELD_TENSOR && !wr_field_bytes(&f->pub));
}

int wr_field_shape(const struct wr_field *f, const struct wr_field_want *want,
                   struct wr_tensor_shape *ret, weir_err *err)
{
    if (f->pub.kind == WEIR_FIELD_PICTURE)
        return wr_pictures_shape(want, ret, err);
    if (!is_plain(f))
        return wr_tensor_shape(f, want, ret, err);
    if (want->convert && want->dtype != f->pub.dtype)
        return wr_fail(err, WEIR_ENOTSUP,
                       "'%s' is not converted: only tensors of equal samples "
                       "are",
                       f->name);
    *ret = (struct wr_tensor_shape){.dtype = f->pub.dtype,
                                    .ndim = f->pub.ndim,
                                    .bytes = wr_field_bytes(&f->pub),
                                    .direct = true};
    memcpy(ret->dims, f->pub.dims, sizeof(ret->dims));
    return 0;
}

int wr_decoder_new(const struct wr_field *f, const struct wr_field_want *want,
                   struct wr_decoder **ret, weir_err *err)
{
    struct plain_decoder *pd;

    if (f->pub.kind == WEIR_FIELD_PICTURE)
        return wr_pictures_decoder_new(want, ret, err);
    if (!is_plain(f))
        return wr_tensor_decoder_new(f, want, ret, err);
    pd = calloc(1, sizeof(*pd));
    if (!pd)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    pd->base.ops = &plain_decoder_ops;
    pd->bytes = wr_field_bytes(&f->pub);
    *ret = &pd->base;
    return 0;
}

/* --- samples that are unpacked --- */

int wr_unpack_init(struct wr_unpack *u, const struct wr_schema *s,
                   weir_err *err)
{
    *u = (struct wr_unpack){
        .fields = calloc((size_t)s->count + 1, sizeof(*u->fields)),
        .wanted = calloc((size_t)s->count + 1, sizeof(*u->wanted)),
    };
    if (u->fields && u->wanted)
        return 0;
    wr_unpack_done(u);
    return wr_fail(err, WEIR_ENOMEM, "out of memory");
}

void wr_unpack_done(struct wr_unpack *u)
{
    free(u->fields);
    free(u->wanted);
    free(u->scratch);
    *u = (struct wr_unpack){0};
}

void wr_left_out_add(struct wr_left_out *l, const char *name, size_t len)
{
    pthread_mutex_lock(&l->lock);
    wr_intern_add(&l->names, name, strnlen(name, len));
    pthread_mutex_unlock(&l->lock);
}

/* --- the first tensor or picture alone --- */

static const struct wr_field *first_field(const struct wr_index *ix,
                                          weir_err *err)
{
    const struct wr_field *f = wr_schema_first(wr_index_schema(ix));

    if (!f)
        wr_fail(err, WEIR_ENOTSUP, "the samples have no picture and no tensor");
    return f;
}

int wr_first_shape(const struct wr_index *ix, const weir_pipeline_config *cfg,
                   struct wr_tensor_shape *ret, weir_err *err)
{
    const struct wr_field *f = first_field(ix, err);
    const struct wr_field_want want = wr_want_of(cfg);

    return f ? wr_field_shape(f, &want, ret, err) : WEIR_ENOTSUP;
}

int wr_first_decoder(const struct wr_index *ix, const weir_pipeline_config *cfg,
                     struct wr_decoder **ret, weir_err *err)
{
    const struct wr_field *f = first_field(ix, err);
    const struct wr_field_want want = wr_want_of(cfg);

    return f ? wr_decoder_new(f, &want, ret, err) : WEIR_ENOTSUP;
}

int wr_first_unpack(const weir_dataset *ds, struct wr_unpack *u,
                    struct wr_sample *io, weir_err *err)
{
    const struct wr_schema *s = wr_index_schema(ds->index);
    const struct wr_field *f;
    int r = 0;

    if (!ds->format->unpack)
        return 0;
    if (!u->fields)
        r = wr_unpack_init(u, s, err);
    f = r < 0 ? NULL : first_field(ds->index, err);
    if (!f)
        return r < 0 ? r : WEIR_ENOTSUP;
    u->wanted[f - s->fields] = true;
    r = ds->format->unpack(ds->index, 0, io, u, err);
    if (r < 0)
        return r;
    io->bytes = u->fields[f - s->fields].bytes;
    io->len = u->fields[f - s->fields].len;
    return 0;
}
