/* codec.c - what every picture codec needs: limits, crops, grey.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/mem.h"

int wr_codec_check_size(const struct wr_picture_info *info,
                        const struct wr_picture_crop *crop, weir_err *err)
{
    if (!info->width || !info->height)
        return wr_fail(err, WEIR_EFORMAT,
                       "picture of %" PRIu32 "x%" PRIu32 " pixels", info->width,
                       info->height);
    if (info->width > WR_PICTURE_MAX_SIDE ||
        info->height > WR_PICTURE_MAX_SIDE ||
        (uint64_t)info->width * info->height > WR_PICTURE_MAX_PIXELS)
        return wr_fail(err, WEIR_ELIMIT,
                       "picture of %" PRIu32 "x%" PRIu32 " pixels: the limit "
                       "is %u a side and %" PRIu64 " in all",
                       info->width, info->height, WR_PICTURE_MAX_SIDE,
                       WR_PICTURE_MAX_PIXELS);
    if (crop->width &&
        (!crop->height || (uint64_t)crop->x + crop->width > info->width ||
         (uint64_t)crop->y + crop->height > info->height))
        return wr_fail(err, WEIR_EINVAL,
                       "crop %" PRIu32 "x%" PRIu32 "+%" PRIu32 "+%" PRIu32
                       " leaves the picture of %" PRIu32 "x%" PRIu32,
                       crop->width, crop->height, crop->x, crop->y, info->width,
                       info->height);
    return 0;
}

void wr_codec_whole_plane(const struct wr_codec_job *job,
                          const struct wr_picture_info *info,
                          struct wr_codec_plane *ret)
{
    const struct wr_picture_crop *crop = &job->crop;

    *ret = (struct wr_codec_plane){
        .width = crop->width ? crop->width : info->width,
        .height = crop->width ? crop->height : info->height,
        .skip = crop->width ? crop->x : 0,
        .upsample_x = 1,
        .upsample_y = 1,
    };
    ret->box_x[1] = ret->width;
    ret->box_y[1] = ret->height;
}

void wr_codec_gray_row(uint8_t *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = row + 3 * i;

        row[i] = (uint8_t)((p[0] * 19595u + p[1] * 38470u + p[2] * 7471u +
                            0x8000u) >>
                           16);
    }
}

void wr_codec_drop_large(uint8_t **memory, size_t *cap, size_t need)
{
    if (*cap <= WR_CODEC_KEEP_BYTES || need >= *cap / 4)
        return;
    free(*memory);
    *memory = NULL;
    *cap = 0;
}

/* --- the registry of picture kinds, by first bytes and by name --- */

/* One line per kind. */
static const struct wr_codec *const codecs[] = {
    &wr_codec_jpeg, &wr_codec_png, &wr_codec_webp, &wr_codec_tiff,
    &wr_codec_gif,  &wr_codec_bmp, &wr_codec_pnm,
};
_Static_assert(WR_ARRAY_LEN(codecs) == WR_CODEC_COUNT,
               "codec.h says how many there are");

const struct wr_codec *wr_codec_at(size_t i)
{
    return codecs[i];
}

/* The codec for these bytes, built or not; -1: none. */
static int sniff(const void *bytes, size_t len)
{
    for (size_t i = 0; i < WR_CODEC_COUNT; i++)
        if (codecs[i]->sniff(bytes, len))
            return (int)i;
    return -1;
}

static int fail_unknown(const uint8_t *b, size_t len, weir_err *err)
{
    if (len == 0)
        return wr_fail(err, WEIR_EFORMAT, "empty: 0 bytes");
    if (len < 4)
        return wr_fail(err, WEIR_EFORMAT,
                       "not a picture of a known kind: %zu bytes", len);
    return wr_fail(err, WEIR_EFORMAT,
                   "not a picture of a known kind (begins with "
                   "%02x %02x %02x %02x)",
                   b[0], b[1], b[2], b[3]);
}

int wr_codec_find(const void *bytes, size_t len, weir_err *err)
{
    int i = sniff(bytes, len);

    if (i < 0)
        return fail_unknown(bytes, len, err);
    if (codecs[i]->missing)
        return wr_fail(err, WEIR_ENOTSUP, "%s: %s", codecs[i]->name,
                       codecs[i]->missing);
    return i;
}

unsigned wr_codec_orientation(const void *bytes, size_t len)
{
    int i = sniff(bytes, len);

    return i < 0 || !codecs[i]->orientation
               ? WR_PICTURE_UPRIGHT
               : codecs[i]->orientation(bytes, len);
}

enum wr_picture_kind wr_picture_probe(const void *bytes, size_t len)
{
    int i = sniff(bytes, len);

    return i < 0 ? WR_PICTURE_UNKNOWN : codecs[i]->kind;
}

static const struct wr_codec *of_kind(enum wr_picture_kind kind)
{
    for (size_t i = 0; i < WR_CODEC_COUNT; i++)
        if (codecs[i]->kind == kind)
            return codecs[i];
    return NULL;
}

const char *wr_picture_kind_name(enum wr_picture_kind kind)
{
    const struct wr_codec *c = of_kind(kind);

    return c ? c->name : "unknown";
}

const char *wr_picture_kind_ext(enum wr_picture_kind kind)
{
    const struct wr_codec *c = of_kind(kind);

    return c ? c->exts[0] : "";
}

const char *wr_picture_ext_at(unsigned k)
{
    for (size_t i = 0; i < WR_CODEC_COUNT; i++)
        for (size_t n = 0; n < WR_ARRAY_LEN(codecs[i]->exts); n++)
            if (codecs[i]->exts[n] && k-- == 0)
                return codecs[i]->exts[n];
    return NULL;
}

static bool has_ext(const char *name, size_t len, const char *ext)
{
    size_t n = strlen(ext);

    return len > n && !wr_strncasecmp(name + len - n, ext, n);
}

enum wr_picture_kind wr_picture_kind_of_name(const char *name, size_t len)
{
    for (size_t i = 0; i < WR_CODEC_COUNT; i++)
        for (size_t k = 0; k < WR_ARRAY_LEN(codecs[i]->exts); k++)
            if (codecs[i]->exts[k] && has_ext(name, len, codecs[i]->exts[k]))
                return codecs[i]->kind;
    return WR_PICTURE_UNKNOWN;
}

#define STRIP_ROWS 8u

/* Of what is larger than this, the pixels take at most so many times as many
 * bytes as the file has: each thread holds such a picture. */
#define FRAME_FREE  ((size_t)256 << 20)
#define FRAME_RATIO 64u

/* --- pictures that are decoded at once, then delivered row by row --- */

void wr_frame_done(void *state)
{
    free(((struct wr_frame_state *)state)->rgb);
}

static int reserve(struct wr_frame_state *s, const struct wr_picture_info *info,
                   size_t stored, weir_err *err)
{
    size_t need = (size_t)info->width * info->height * 3;

    if (need > FRAME_FREE && need / FRAME_RATIO > stored)
        return wr_fail(err, WEIR_ELIMIT,
                       "%ux%u pixels from %zu bytes: more than %zu MiB of them "
                       "may be %u times as many bytes at most",
                       info->width, info->height, stored, FRAME_FREE >> 20,
                       FRAME_RATIO);
    wr_codec_drop_large(&s->rgb, &s->cap, 0); /* of one that failed */
    if (!wr_grow(&s->rgb, &s->cap, need, 1))
        return wr_fail(err, WEIR_ENOMEM, "no memory for %ux%u pixels",
                       info->width, info->height);
    return 0;
}

int wr_frame_start(const struct wr_codec *self, void *state,
                   const struct wr_codec_job *job, struct wr_codec_shape *ret,
                   weir_err *err)
{
    struct wr_frame_state *s = state;
    struct wr_codec_shape shape = {.planes = 1, .rows = STRIP_ROWS};
    struct wr_frame f = {.bytes = job->bytes, .len = job->len};
    int r = self->info(job->bytes, job->len, &shape.info, err);

    if (r >= 0)
        r = wr_codec_check_size(&shape.info, &job->crop, err);
    if (r >= 0 && self->check)
        r = self->check(job->bytes, job->len, err);
    if (r >= 0)
        r = reserve(s, &shape.info, job->len, err);
    if (r < 0)
        return r;
    f.width = shape.info.width;
    f.height = shape.info.height;
    f.rgb = s->rgb;
    r = self->paint(&f, err);
    if (r < 0)
        return r;
    wr_codec_whole_plane(job, &shape.info, &shape.plane[0]);
    shape.plane[0].row_bytes = f.width * 3;
    s->channels = job->channels;
    s->width = f.width;
    s->row = job->crop.width ? job->crop.y : 0;
    s->end = s->row + shape.plane[0].height;
    *ret = shape;
    return 0;
}

int wr_frame_read(void *state, struct wr_codec_rows *rows, weir_err *err)
{
    struct wr_frame_state *s = state;
    size_t bytes = (size_t)s->width * 3;
    uint32_t got = 0;

    (void)err; /* all pixels are there */
    for (; got < STRIP_ROWS && s->row < s->end; got++, s->row++) {
        uint8_t *row = rows->row[0][got];

        memcpy(row, s->rgb + s->row * bytes, bytes);
        if (s->channels == 1)
            wr_codec_gray_row(row, s->width);
    }
    rows->count[0] = got;
    return 0;
}

int wr_frame_finish(void *state, weir_err *err)
{
    struct wr_frame_state *s = state;

    wr_codec_drop_large(&s->rgb, &s->cap, 0);
    return 0;
}
