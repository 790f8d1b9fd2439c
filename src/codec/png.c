/* png.c - PNG through libspng, row by row where it is not interlaced.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"

#include <string.h>

static bool png_sniff(const uint8_t *bytes, size_t len)
{
    return len >= 8 && !memcmp(bytes, "\x89PNG\r\n\x1a\n", 8);
}

#ifdef WR_HAVE_SPNG

#include <stdlib.h>

#include <spng.h>

#include "base/be.h"
#include "base/error.h"
#include "base/mem.h"
#include "codec/turn.h"

#define STRIP_ROWS 8u
#define MAX_CHUNK  (64u << 20) /* bytes of one chunk, and of kept ones */

struct png_state {
    spng_ctx *ctx; /* owned */
    bool is_interlaced;
    uint32_t channels, width;
    uint32_t row, first, end; /* next row decoded; rows wanted */
    uint32_t height;
    uint8_t *whole; /* owned: an interlaced picture, RGB */
    size_t whole_cap;
};

static int fail_spng(int r, const char *where, weir_err *err)
{
    if (r == SPNG_EMEM)
        return wr_fail(err, WEIR_ENOMEM, "no memory to decode a PNG");
    if (r == SPNG_EOF || r == SPNG_IO_EOF)
        return wr_fail(err, WEIR_EFORMAT, "truncated PNG: data end %s", where);
    return wr_fail(err, WEIR_EFORMAT, "damaged PNG: %s %s", spng_strerror(r),
                   where);
}

static int fail_row(const struct png_state *s, int r, weir_err *err)
{
    char where[64];

    snprintf(where, sizeof(where), "at row %u of %u", s->row, s->height);
    return fail_spng(r, where, err);
}

static void png_state_done(void *state)
{
    struct png_state *s = state;

    spng_ctx_free(s->ctx);
    free(s->whole);
}

/* A context behind the header of `bytes`. */
static int open_header(const uint8_t *bytes, size_t len, spng_ctx **ret,
                       struct spng_ihdr *ret_ihdr, weir_err *err)
{
    spng_ctx *ctx = spng_ctx_new(0);
    int r;

    if (!ctx)
        return wr_fail(err, WEIR_ENOMEM, "no memory for a PNG decoder");
    spng_set_chunk_limits(ctx, MAX_CHUNK, MAX_CHUNK);
    r = spng_set_png_buffer(ctx, bytes, len);
    if (!r)
        r = spng_get_ihdr(ctx, ret_ihdr);
    if (r) {
        spng_ctx_free(ctx);
        return fail_spng(r, "in the header", err);
    }
    *ret = ctx;
    return 0;
}

static void info_of(const struct spng_ihdr *h, struct wr_picture_info *ret)
{
    static const uint32_t components[] = {1, 0, 3, 3, 2, 0, 4};

    *ret = wr_picture_info_of(WR_PICTURE_PNG, h->width, h->height,
                              h->color_type < WR_ARRAY_LEN(components)
                                  ? components[h->color_type]
                                  : 0);
}

static int png_info(const uint8_t *bytes, size_t len,
                    struct wr_picture_info *ret, weir_err *err)
{
    struct spng_ihdr h;
    spng_ctx *ctx = NULL;
    int r = open_header(bytes, len, &ctx, &h, err);

    if (r < 0)
        return r;
    info_of(&h, ret);
    spng_ctx_free(ctx);
    return 0;
}

/* The chunk of EXIF, wherever it lies. */
static unsigned png_orientation(const uint8_t *bytes, size_t len)
{
    size_t at = 8;

    while (len - at >= 12) {
        const uint8_t *p = bytes + at;
        size_t size = wr_be32(p);

        if (size > len - at - 12)
            break;
        if (!memcmp(p + 4, "eXIf", 4))
            return wr_exif_orientation(p + 8, size);
        at += 12 + size;
    }
    return WR_PICTURE_UPRIGHT;
}

/* Interlaced rows come in seven passes: all of it is decoded at once. */
static int decode_whole(struct png_state *s, weir_err *err)
{
    size_t size;
    int r = spng_decoded_image_size(s->ctx, SPNG_FMT_RGB8, &size);

    if (r)
        return fail_spng(r, "in the header", err);
    if (!wr_grow(&s->whole, &s->whole_cap, size, 1))
        return wr_fail(err, WEIR_ENOMEM, "no memory for %zu bytes", size);
    r = spng_decode_image(s->ctx, s->whole, size, SPNG_FMT_RGB8, 0);
    return r ? fail_spng(r, "in interlaced data", err) : 0;
}

static int begin_decode(struct png_state *s, weir_err *err)
{
    int r;

    if (s->is_interlaced)
        return decode_whole(s, err);
    r = spng_decode_image(s->ctx, NULL, 0, SPNG_FMT_RGB8,
                          SPNG_DECODE_PROGRESSIVE);
    return r ? fail_spng(r, "before the first row", err) : 0;
}

static int png_start(const struct wr_codec *self, void *state,
                     const struct wr_codec_job *job, struct wr_codec_shape *ret,
                     weir_err *err)
{
    struct png_state *s = state;
    struct wr_codec_shape shape = {.planes = 1, .rows = STRIP_ROWS};
    struct spng_ihdr h;
    int r;

    spng_ctx_free(s->ctx);
    s->ctx = NULL;
    wr_codec_drop_large(&s->whole, &s->whole_cap, 0); /* of one that failed */
    r = open_header(job->bytes, job->len, &s->ctx, &h, err);
    if (r < 0)
        return r;
    info_of(&h, &shape.info);
    r = wr_codec_check_size(&shape.info, &job->crop, err);
    if (r < 0)
        return r;
    wr_codec_whole_plane(job, &shape.info, &shape.plane[0]);
    shape.plane[0].row_bytes = h.width * 3;
    s->is_interlaced = h.interlace_method != SPNG_INTERLACE_NONE;
    s->channels = job->channels;
    s->width = h.width;
    s->height = h.height;
    s->row = 0;
    s->first = job->crop.width ? job->crop.y : 0;
    s->end = s->first + shape.plane[0].height;
    r = begin_decode(s, err);
    if (r < 0)
        return r;
    *ret = shape;
    return 0;
}

static int read_row(struct png_state *s, uint8_t *row, weir_err *err)
{
    size_t bytes = (size_t)s->width * 3;

    if (s->is_interlaced) {
        memcpy(row, s->whole + s->row * bytes, bytes);
    } else {
        int r = spng_decode_row(s->ctx, row, bytes);

        if (r && !(r == SPNG_EOI && s->row + 1 == s->height))
            return fail_row(s, r, err);
    }
    if (s->channels == 1)
        wr_codec_gray_row(row, s->width);
    s->row++;
    return 0;
}

static int png_read(void *state, struct wr_codec_rows *rows, weir_err *err)
{
    struct png_state *s = state;
    uint32_t got = 0;

    while (s->row < s->first) {
        int r = read_row(s, rows->row[0][0], err);

        if (r < 0)
            return r;
    }
    while (got < STRIP_ROWS && s->row < s->end) {
        int r = read_row(s, rows->row[0][got], err);

        if (r < 0)
            return r;
        got++;
    }
    rows->count[0] = got;
    return 0;
}

static int png_finish(void *state, weir_err *err)
{
    struct png_state *s = state;
    int r = 0;

    if (s->end == s->height)
        r = spng_decode_chunks(s->ctx);
    spng_ctx_free(s->ctx);
    s->ctx = NULL;
    wr_codec_drop_large(&s->whole, &s->whole_cap, 0);
    return r ? fail_spng(r, "behind the last row", err) : 0;
}

#endif

const struct wr_codec wr_codec_png = {
    .name = "PNG",
    .kind = WR_PICTURE_PNG,
    .exts = {".png"},
    .sniff = png_sniff,
#ifdef WR_HAVE_SPNG
    .state_bytes = sizeof(struct png_state),
    .state_done = png_state_done,
    .info = png_info,
    .orientation = png_orientation,
    .start = png_start,
    .read = png_read,
    .finish = png_finish,
#else
    .missing = "weir was built without libspng (meson option 'png')",
#endif
};
