/* jpeg_noise.c - gray JPEGs of noise, of exactly so many bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/jpeg_noise.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/be.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "codec/jpegenc.h"

/* --- a JPEG with restart markers, taken apart --- */

#define SOS 0xdau

void wr_jpeg_parts_done(struct wr_jpeg_parts *p)
{
    free(p->intervals);
    *p = (struct wr_jpeg_parts){0};
}

/* The end of the segment at `at`; 0 if there is none. */
static size_t segment_end(const uint8_t *b, size_t len, size_t at)
{
    size_t end;

    if (at + 4 > len || b[at] != 0xff)
        return 0;
    end = at + 2 + wr_be16(b + at + 2);
    return end <= len ? end : 0;
}

static int find_head(const uint8_t *b, size_t len, struct wr_jpeg_parts *p,
                     weir_err *err)
{
    size_t at = 2, end;

    while ((end = segment_end(b, len, at))) {
        if (at == 2)
            p->soi_len = (uint32_t)end;
        if (b[at + 1] == SOS) {
            p->head_len = (uint32_t)end;
            return 0;
        }
        at = end;
    }
    return wr_fail(err, WEIR_EFORMAT, "a JPEG without a scan");
}

static int add_interval(struct wr_jpeg_parts *p, size_t *cap, size_t from,
                        size_t to, weir_err *err)
{
    if (!wr_grow(&p->intervals, cap, p->count + 1, sizeof(*p->intervals)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    p->intervals[p->count++] = (struct wr_jpeg_interval){(uint32_t)from,
                                                         (uint32_t)(to - from)};
    return 0;
}

int wr_jpeg_parts_find(const uint8_t *bytes, size_t len,
                       struct wr_jpeg_parts *ret, weir_err *err)
{
    struct wr_jpeg_parts p = {0};
    const uint8_t *at, *from;
    size_t cap = 0;
    int r = len < UINT32_MAX ? find_head(bytes, len, &p, err)
                             : wr_fail(err, WEIR_ELIMIT, "a JPEG too large");

    from = bytes + p.head_len;
    at = from;
    /* Within the scan, 0xff is a marker unless 0 follows. */
    while (r == 0) {
        at = memchr(at, 0xff, len - (size_t)(at - bytes));
        if (!at || at + 1 >= bytes + len) {
            r = wr_fail(err, WEIR_EFORMAT, "a JPEG without an end");
        } else if (at[1] == 0) {
            at += 2;
        } else {
            r = add_interval(&p, &cap, (size_t)(from - bytes),
                             (size_t)(at - bytes), err);
            if (at[1] == WR_JPEG_EOI)
                break;
            from = at += 2;
        }
    }
    if (r < 0)
        wr_jpeg_parts_done(&p);
    else
        *ret = p;
    return r;
}

/* --- pictures of noise --- */

#define BLOCKS    16u   /* of 8x8 pixels in an interval */
#define INTERVALS 2048u /* in stock */
#define QUALITY   100u  /* to begin with */
#define FILLED    0.97 /* of a byte per pixel: the rest is headers and padding */
#define NOISE     0x6a706567u /* which array the stock is made of */
#define NOTE      48u         /* bytes of text in the comment */
#define COM_MAX   65533u

struct wr_jpeg_noise {
    uint8_t *bytes; /* owned: a picture of all intervals */
    struct wr_jpeg_parts parts;
    uint32_t size_at; /* where its height stands in the head */
};

/* An interval of flat gray: no difference, end of block, for each. The codes
 * are those of the usual tables: 00 and 1010. */
struct flat_interval {
    uint8_t bytes[BLOCKS];
    size_t len;
};

static void make_flat(unsigned blocks, struct flat_interval *f)
{
    unsigned bits = blocks * 6;

    f->len = (bits + 7) / 8;
    memset(f->bytes, 0, sizeof(f->bytes));
    for (unsigned k = 0; k < f->len * 8; k++) {
        unsigned one = k >= bits || k % 6 == 2 || k % 6 == 4;

        f->bytes[k / 8] |= (uint8_t)(one << (7 - k % 8));
    }
}

void wr_jpeg_noise_free(struct wr_jpeg_noise *j)
{
    if (!j)
        return;
    wr_jpeg_parts_done(&j->parts);
    free(j->bytes);
    free(j);
}

/* Encodes the stock at the highest quality that leaves room for headers. */
static int encode(struct wr_jpeg_noise *j, struct wr_jpegenc *enc,
                  const uint8_t *pixels, weir_err *err)
{
    struct wr_jpegenc_picture pic = {.pixels = pixels,
                                     .width = BLOCKS * 8,
                                     .height = INTERVALS * 8,
                                     .channels = 1,
                                     .quality = QUALITY,
                                     .restart = BLOCKS};
    const uint8_t *bytes;
    size_t len;
    int r;

    do {
        r = wr_jpegenc_encode(enc, &pic, &bytes, &len, err);
    } while (r == 0 && (double)len > FILLED * INTERVALS * BLOCKS * 64 &&
             --pic.quality > 1);
    if (r < 0)
        return r;
    j->bytes = malloc(len);
    if (!j->bytes)
        return wr_fail(err, WEIR_ENOMEM, "no memory for pictures");
    memcpy(j->bytes, bytes, len);
    return wr_jpeg_parts_find(j->bytes, len, &j->parts, err);
}

/* The frame header: FF C0, length, precision, height, width. */
static int find_size(struct wr_jpeg_noise *j, weir_err *err)
{
    for (uint32_t at = 2; at + 9 < j->parts.head_len;
         at += 2 + wr_be16(j->bytes + at + 2)) {
        if (j->bytes[at + 1] == 0xc0) {
            j->size_at = at + 5;
            return 0;
        }
    }
    return wr_fail(err, WEIR_EFORMAT, "a JPEG without a frame");
}

int wr_jpeg_noise_new(struct wr_jpeg_noise **ret, uint64_t seed, weir_err *err)
{
    size_t count = (size_t)INTERVALS * BLOCKS * 64;
    struct wr_jpeg_noise *j = calloc(1, sizeof(*j));
    uint8_t *pixels = malloc(count);
    struct wr_jpegenc *enc = NULL;
    struct wr_noise_place place = {seed, 0, NOISE};
    struct wr_noise n;
    int r = j && pixels ? wr_jpegenc_new(&enc, err)
                        : wr_fail(err, WEIR_ENOMEM, "out of memory");

    if (r == 0) {
        wr_noise_init(&n, &place, WEIR_U8, 0);
        wr_noise_fill(&n, 0, pixels, count);
        r = encode(j, enc, pixels, err);
    }
    if (r == 0)
        r = find_size(j, err);
    wr_jpegenc_free(enc);
    free(pixels);
    if (r < 0)
        wr_jpeg_noise_free(j);
    else
        *ret = j;
    return r;
}

/* How a picture is put together. */
struct jpeg_plan {
    uint64_t whole;   /* intervals that are full */
    uint64_t noisy;   /* of them, the first: the others are flat */
    unsigned rest;    /* blocks of the last one */
    uint64_t comment; /* bytes of all comments */
    struct flat_interval flat, tail;
};

static const struct wr_jpeg_interval *
interval_at(const struct wr_jpeg_noise *j,
            const struct wr_jpeg_noise_picture *pic, uint64_t k)
{
    uint64_t which = wr_rng_at(pic->seed, pic->number ^ NOISE, k);

    return &j->parts.intervals[which % (j->parts.count - 1)];
}

/* As many intervals of noise as the size has room for. */
static void make_plan(const struct wr_jpeg_noise *j,
                      const struct wr_jpeg_noise_picture *pic,
                      struct jpeg_plan *ret)
{
    uint64_t blocks = (uint64_t)((pic->width + 7) / 8) *
                      ((pic->height + 7) / 8);
    uint64_t total, more;

    *ret = (struct jpeg_plan){.whole = blocks / BLOCKS,
                              .rest = (unsigned)(blocks % BLOCKS)};
    make_flat(BLOCKS, &ret->flat);
    make_flat(ret->rest, &ret->tail);
    total = j->parts.head_len + 4 + NOTE + 2 + ret->tail.len +
            ret->whole * (ret->flat.len + 2) - (ret->rest ? 0 : 2);
    for (; ret->noisy < ret->whole; ret->noisy++) {
        more = interval_at(j, pic, ret->noisy)->len - ret->flat.len;
        if (total + more > pic->bytes)
            break;
        total += more;
    }
    ret->comment = 4 + NOTE;
    if (pic->bytes > total)
        ret->comment += pic->bytes - total;
}

/* Comments of `left` bytes in all; the first says which picture it is. */
static void put_comments(const struct wr_jpeg_noise_picture *pic, uint64_t left,
                         struct wr_pen *pen)
{
    struct wr_noise_place place = {pic->seed, pic->number, NOISE + 1};
    char note[NOTE + 1];
    struct wr_noise n;
    uint64_t at = 0;

    snprintf(note, sizeof(note), "weir %-20" PRIu64 " %-20" PRIu64 " ",
             pic->seed, pic->number);
    wr_noise_init(&n, &place, WEIR_U8, 0);
    while (left) {
        uint64_t body = WR_MIN(left - 4, (uint64_t)COM_MAX);
        size_t text = at ? 0 : strlen(note);
        uint8_t head[4];

        /* None of less than a marker and a length may remain. */
        if (left - 4 - body && left - 4 - body < 4)
            body -= 4;
        head[0] = 0xff;
        head[1] = WR_JPEG_COM;
        head[2] = (uint8_t)((body + 2) >> 8);
        head[3] = (uint8_t)(body + 2);
        wr_pen_put(pen, head, 4);
        wr_pen_put(pen, note, text);
        wr_pen_noise(pen, &n, at, body - text);
        at += body;
        left -= 4 + body;
    }
}

static void put_head(const struct wr_jpeg_noise *j,
                     const struct wr_jpeg_noise_picture *pic, uint64_t comment,
                     struct wr_pen *pen)
{
    const struct wr_jpeg_parts *p = &j->parts;
    const uint8_t size[4] = {(uint8_t)(pic->height >> 8), (uint8_t)pic->height,
                             (uint8_t)(pic->width >> 8), (uint8_t)pic->width};

    wr_pen_put(pen, j->bytes, p->soi_len);
    put_comments(pic, comment, pen);
    wr_pen_put(pen, j->bytes + p->soi_len, j->size_at - p->soi_len);
    wr_pen_put(pen, size, sizeof(size));
    wr_pen_put(pen, j->bytes + j->size_at + 4, p->head_len - j->size_at - 4);
}

int wr_jpeg_noise_put(const struct wr_jpeg_noise *j,
                      const struct wr_jpeg_noise_picture *pic,
                      struct wr_pen *pen, weir_err *err)
{
    uint8_t marker[2] = {0xff, WR_JPEG_RST0};
    struct jpeg_plan plan;

    if (!pic->width || !pic->height || pic->width > WR_JPEG_SIDE_MAX ||
        pic->height > WR_JPEG_SIDE_MAX)
        return wr_fail(err, WEIR_ELIMIT, "a JPEG has sides of 1 to %u",
                       WR_JPEG_SIDE_MAX);
    make_plan(j, pic, &plan);
    put_head(j, pic, plan.comment, pen);
    for (uint64_t k = 0; k < plan.whole; k++) {
        const struct wr_jpeg_interval *i = interval_at(j, pic, k);

        if (k < plan.noisy)
            wr_pen_put(pen, j->bytes + i->at, i->len);
        else
            wr_pen_put(pen, plan.flat.bytes, plan.flat.len);
        marker[1] = (uint8_t)(WR_JPEG_RST0 + k % 8);
        if (plan.rest || k + 1 < plan.whole)
            wr_pen_put(pen, marker, 2);
    }
    wr_pen_put(pen, plan.tail.bytes, plan.tail.len);
    marker[1] = WR_JPEG_EOI;
    wr_pen_put(pen, marker, 2);
    return 0;
}
