/* shrink.c - an encoded picture as a smaller JPEG.
 * SPDX-License-Identifier: Apache-2.0 */
#include "convert/shrink.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "codec/jpegenc.h"
#include "convert/kind.h"

/* A decoder is made for one size; photographs share a few. */
#define DECODERS 8

struct sized {
    struct wr_picture_decoder *decoder; /* owned; NULL: free */
    uint32_t width, height, channels;   /* 0 x 0: any, nothing is resized */
    uint64_t used;
};

struct wr_shrink {
    uint32_t max_side;
    unsigned quality;       /* 0: not asked for */
    bool check;             /* what keeps its bytes is decoded all the same */
    bool all;               /* all become JPEGs */
    const weir_field *raw;  /* borrowed: samples are pixels; NULL: encoded */
    struct wr_bytes framed; /* owned: pixels as PNM, for the decoder */
    enum weir_orient orient;
    struct sized sized[DECODERS];
    uint64_t clock;
    struct wr_jpegenc *enc; /* owned */
    uint8_t *pixels;        /* owned */
    size_t cap;
};

/* Gray or RGB pixels? */
static bool is_raw_picture(const weir_field *f)
{
    return f->dtype == WEIR_U8 &&
           (f->ndim == 2 ||
            (f->ndim == 3 && (f->dims[2] == 1 || f->dims[2] == 3))) &&
           f->dims[0] <= UINT16_MAX && f->dims[1] <= UINT16_MAX;
}

int wr_shrink_takes(const struct wr_index *ix, weir_err *err)
{
    const weir_field *t = wr_index_tensor(ix);
    const struct wr_field *f = wr_schema_first(wr_index_schema(ix));

    if (!t || (is_raw_picture(t) && !f->unpacked && !f->strided && !f->tiled))
        return 0;
    return wr_fail(err, WEIR_ENOTSUP,
                   "'%s' is neither a picture nor an array of u8 of the shape "
                   "HxW, HxWx1 or HxWx3 as it is stored: tensors become arrays "
                   "or text ('tensor', 'npz', 'csv'...)",
                   t->name);
}

int wr_shrink_new(struct wr_shrink **ret, const struct wr_convert_config *cfg,
                  weir_err *err)
{
    struct wr_shrink *s = calloc(1, sizeof(*s));
    int r;

    if (!s)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    s->max_side = cfg->max_side;
    s->quality = cfg->quality;
    s->orient = cfg->tensor.picture.orient;
    s->check = cfg->check;
    s->raw = wr_index_tensor(cfg->ds->index);
    s->all = s->raw || !strcmp(cfg->to, wr_convert_jpeg.name);
    r = wr_jpegenc_new(&s->enc, err);
    if (r < 0) {
        wr_shrink_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

void wr_shrink_free(struct wr_shrink *s)
{
    if (!s)
        return;
    for (int k = 0; k < DECODERS; k++)
        wr_picture_free(s->sized[k].decoder);
    wr_jpegenc_free(s->enc);
    free(s->pixels);
    free(s->framed.bytes);
    free(s);
}

void wr_shrink_size(uint32_t max_side, uint32_t *width, uint32_t *height)
{
    uint64_t w = *width, h = *height, longer = WR_MAX(w, h);

    if (!max_side || longer <= max_side)
        return;
    *width = (uint32_t)WR_MAX((w * max_side + longer / 2) / longer,
                              (uint64_t)1);
    *height = (uint32_t)WR_MAX((h * max_side + longer / 2) / longer,
                               (uint64_t)1);
}

/* The decoder for this size; the one that was not used for longest makes
 * room. */
static int find_decoder(struct wr_shrink *s, const weir_picture_config *spec,
                        struct wr_picture_decoder **ret, weir_err *err)
{
    struct sized *oldest = &s->sized[0];
    int r;

    s->clock++;
    for (struct sized *d = s->sized; d < s->sized + DECODERS; d++) {
        if (d->decoder && d->width == spec->width &&
            d->height == spec->height && d->channels == spec->channels) {
            d->used = s->clock;
            *ret = d->decoder;
            return 0;
        }
        if (d->used < oldest->used)
            oldest = d;
    }
    wr_picture_free(oldest->decoder);
    oldest->decoder = NULL;
    r = wr_picture_new(&oldest->decoder, spec, err);
    if (r < 0)
        return r;
    oldest->width = spec->width;
    oldest->height = spec->height;
    oldest->channels = spec->channels;
    oldest->used = s->clock;
    *ret = oldest->decoder;
    return 0;
}

static weir_picture_config spec_of(const struct wr_shrink *s, uint32_t width,
                                   uint32_t height, uint32_t channels)
{
    return (weir_picture_config){.width = width,
                                 .height = height,
                                 .channels = channels,
                                 .dtype = WEIR_U8,
                                 .orient = s->orient,
                                 .layout = WEIR_NHWC};
}

/* Decodes into pixels of the wanted size. */
static int decode(struct wr_shrink *s, const struct wr_shrink_picture *in,
                  const weir_picture_config *spec, const uint8_t **ret,
                  weir_err *err)
{
    bool resize = spec->width != in->info.width ||
                  spec->height != in->info.height;
    weir_picture_config plain = spec_of(s, 0, 0, spec->channels);
    struct wr_picture_decoder *d = NULL;
    int r = find_decoder(s, resize ? spec : &plain, &d, err);

    if (r < 0)
        return r;
    if (!resize)
        return wr_picture_decode_only(d, in->bytes, in->len, NULL, ret, err);
    if (!wr_grow(&s->pixels, &s->cap, wr_picture_slot_bytes(spec), 1))
        return wr_fail(err, WEIR_ENOMEM, "no memory for %ux%u pixels",
                       spec->width, spec->height);
    *ret = s->pixels;
    return wr_picture_decode(d, in->bytes, in->len, NULL, s->pixels, NULL, err);
}

/* What it costs this processor to decode a picture, in full. */
static int time_decode(struct wr_shrink *s, const struct wr_shrink_picture *p,
                       uint64_t *sum, weir_err *err)
{
    weir_picture_config plain = spec_of(s, 0, 0, 3);
    struct wr_picture_decoder *d = NULL;
    uint64_t start;
    int r = find_decoder(s, &plain, &d, err);

    if (r < 0)
        return r;
    start = wr_clock_thread_cpu_ns();
    r = wr_picture_decode_only(d, p->bytes, p->len, NULL, NULL, err);
    *sum += wr_clock_thread_cpu_ns() - start;
    return r;
}

static int measure(struct wr_shrink *s, const struct wr_shrink_picture *before,
                   const struct wr_shrink_picture *after,
                   struct wr_convert_saving *saving, weir_err *err)
{
    uint64_t old_ns = 0, new_ns = 0;
    int r = time_decode(s, before, &old_ns, err);

    if (r == 0)
        r = time_decode(s, after, &new_ns, err);
    if (r < 0)
        return r;
    saving->before_ns += old_ns;
    saving->after_ns += new_ns;
    saving->samples++;
    return 0;
}

/* Puts a head of PNM in front of pixels: from here on they are a picture. */
static int frame_pixels(struct wr_shrink *s, struct wr_shrink_picture *io,
                        weir_err *err)
{
    const uint64_t *dims = s->raw->dims;
    bool rgb = s->raw->ndim == 3 && dims[2] == 3;
    char head[64];
    size_t n = (size_t)snprintf(head, sizeof(head),
                                "P%d %" PRIu64 " %" PRIu64 " 255\n",
                                rgb ? 6 : 5, dims[1], dims[0]);
    uint8_t *to;

    s->framed.len = 0;
    to = wr_bytes_room(&s->framed, n + io->len);
    if (!to)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(to, head, n);
    memcpy(to + n, io->bytes, io->len);
    io->bytes = to;
    io->len += n;
    return 0;
}

/* A picture that keeps its bytes. */
static int keep_bytes(struct wr_shrink *s, const struct wr_shrink_picture *io,
                      struct wr_convert_saving *saving, weir_err *err)
{
    uint64_t unused = 0;

    if (saving && (s->max_side || s->quality))
        return measure(s, io, io, saving, err);
    return s->check ? time_decode(s, io, &unused, err) : 0;
}

int wr_shrink_apply(struct wr_shrink *s, struct wr_shrink_picture *io,
                    struct wr_convert_saving *saving, weir_err *err)
{
    weir_picture_config spec;
    struct wr_shrink_picture out = {0};
    struct wr_jpegenc_picture p;
    const uint8_t *pixels = NULL;
    int r = s->raw ? frame_pixels(s, io, err) : 0;
    bool turn;

    if (r == 0)
        r = wr_picture_info(io->bytes, io->len, &io->info, err);
    if (r < 0)
        return r;
    if (!s->max_side && !s->quality &&
        !(s->all && io->info.kind != WR_PICTURE_JPEG))
        return keep_bytes(s, io, saving, err);
    turn = s->orient == WEIR_ORIENT_EXIF &&
           io->info.orientation != WR_PICTURE_UPRIGHT;
    if (turn)
        wr_picture_turn_size(io->info.orientation, &io->info.width,
                             &io->info.height);
    spec = spec_of(s, io->info.width, io->info.height,
                   io->info.components == 1 ? 1 : 3);
    wr_shrink_size(s->max_side, &spec.width, &spec.height);
    if (!s->quality && io->info.kind == WR_PICTURE_JPEG && !turn &&
        spec.width == io->info.width && spec.height == io->info.height)
        return keep_bytes(s, io, saving, err);
    r = decode(s, io, &spec, &pixels, err);
    if (r < 0)
        return r;
    p = (struct wr_jpegenc_picture){
        .pixels = pixels,
        .width = spec.width,
        .height = spec.height,
        .channels = spec.channels,
        .quality = s->quality ? s->quality : WR_CONVERT_QUALITY,
    };
    r = wr_jpegenc_encode(s->enc, &p, &out.bytes, &out.len, err);
    if (r < 0)
        return r;
    out.info = (struct wr_picture_info){.kind = WR_PICTURE_JPEG,
                                        .width = spec.width,
                                        .height = spec.height,
                                        .orientation = WR_PICTURE_UPRIGHT,
                                        .components = spec.channels};
    if (saving)
        r = measure(s, io, &out, saving, err);
    if (r == 0)
        *io = out;
    return r;
}
