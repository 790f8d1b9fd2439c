/* form_png.c - PNG files of noise, stored: as many bytes as pixels.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Noise does not deflate, so it is put into stored blocks: what a reader
 * inflates costs it as much as copying. Each block is a chunk of its own. */
#include "gen/form.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "codec/inflate.h"

#define SIDE_MAX    UINT64_C(1000000)
#define BLOCK_MAX   65535u /* bytes of a stored block */
#define CHUNK_EXTRA 12u    /* length, name and checksum */
#define BLOCK_EXTRA 5u
#define FIXED       (8u + 25u + 2u + 4u + 12u) /* what is there once */

static void put_be32(uint8_t *p, uint32_t v)
{
    for (unsigned k = 0; k < 4; k++)
        p[k] = (uint8_t)(v >> (24 - 8 * k));
}

/* Rows, and bytes in each, the filter's in front. */
static uint64_t rows_of(const struct wr_gen_spec *s)
{
    return s->dims.count > 1 ? s->dims.dim[0] : 1;
}

static uint64_t row_bytes(const struct wr_gen_spec *s)
{
    return s->sample_bytes / rows_of(s) + 1;
}

static int png_check(const struct wr_workload *w, weir_err *err)
{
    const struct wr_wl_dims *d = &w->dataset.record_dims;

    if (d->count > 3 || (d->count == 3 && d->dim[2] != 3))
        return wr_fail(err, WEIR_EINVAL, "record_dims: a PNG is HxW, or HxWx3");
    if (w->dataset.samples_per_file > 1)
        return wr_fail(err, WEIR_EINVAL,
                       "num_samples_per_file: a PNG is one sample");
    return 0;
}

static uint64_t png_size(const struct wr_gen_spec *s)
{
    uint64_t raw = rows_of(s) * row_bytes(s);

    return FIXED + raw + (raw / BLOCK_MAX + 1) * (CHUNK_EXTRA + BLOCK_EXTRA);
}

/* A chunk's length and name; its checksum begins with the name. */
static int chunk_begin(struct wr_pen *p, const char *name, uint32_t len,
                       weir_err *err)
{
    uint8_t head[8];
    int r;

    put_be32(head, len);
    memcpy(head + 4, name, 4);
    r = wr_pen_put(p, head, 4, err);
    p->sum = wr_crc32;
    p->crc = 0;
    return r < 0 ? r : wr_pen_put(p, head + 4, 4, err);
}

static int chunk_end(struct wr_pen *p, weir_err *err)
{
    uint8_t crc[4];

    p->sum = NULL;
    put_be32(crc, p->crc);
    return wr_pen_put(p, crc, 4, err);
}

static int put_header(struct wr_pen *p, const struct wr_gen_spec *s,
                      weir_err *err)
{
    bool rgb = s->dims.count == 3;
    uint8_t ihdr[13] = {[8] = 8, [9] = rgb ? 2 : 0};
    int r = wr_pen_put(p, "\x89PNG\r\n\x1a\n", 8, err);

    put_be32(ihdr, (uint32_t)((row_bytes(s) - 1) / (rgb ? 3 : 1)));
    put_be32(ihdr + 4, (uint32_t)rows_of(s));
    if (r == 0)
        r = chunk_begin(p, "IHDR", sizeof(ihdr), err);
    if (r == 0)
        r = wr_pen_put(p, ihdr, sizeof(ihdr), err);
    return r < 0 ? r : chunk_end(p, err);
}

/* The filtered rows as one stretch of bytes: `len` of them from `at` on. A
 * filter's byte says that there is none. */
static void fill_rows(const struct wr_gen_spec *s, uint64_t at, uint8_t *out,
                      size_t len)
{
    uint64_t row = row_bytes(s);
    struct wr_noise n;

    wr_gen_spec_noise(s, 0, &n);
    while (len) {
        uint64_t y = at / row, x = at % row;
        size_t some = x ? (size_t)WR_MIN((uint64_t)len, row - x) : 1;

        if (x)
            wr_noise_fill(&n, y * (row - 1) + x - 1, out, some);
        else
            *out = 0;
        out += some;
        at += some;
        len -= some;
    }
}

/* A stored block in a chunk of its own. */
struct png_block {
    const uint8_t *bytes; /* borrowed */
    uint32_t len;
    bool first; /* it has the header of the stream */
    bool last;  /* and this one its checksum */
    uint32_t adler;
};

static int put_block(struct wr_pen *p, const struct png_block *b, weir_err *err)
{
    uint8_t head[7] = {0x78,
                       0x01,
                       b->last,
                       (uint8_t)b->len,
                       (uint8_t)(b->len >> 8),
                       (uint8_t)~b->len,
                       (uint8_t)(~b->len >> 8)};
    uint32_t skip = b->first ? 0 : 2;
    uint32_t total = sizeof(head) - skip + b->len + (b->last ? 4 : 0);
    uint8_t sum[4];
    int r = chunk_begin(p, "IDAT", total, err);

    if (r == 0)
        r = wr_pen_put(p, head + skip, sizeof(head) - skip, err);
    if (r == 0)
        r = wr_pen_put(p, b->bytes, b->len, err);
    if (r == 0 && b->last) {
        put_be32(sum, b->adler);
        r = wr_pen_put(p, sum, 4, err);
    }
    return r < 0 ? r : chunk_end(p, err);
}

static int put_pixels(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                      weir_err *err)
{
    uint64_t total = rows_of(s) * row_bytes(s);
    struct png_block b = {.first = true, .adler = 1};
    uint8_t *bytes;
    int r = 0;

    m->scratch.len = 0;
    bytes = wr_bytes_room(&m->scratch, BLOCK_MAX);
    if (!bytes)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    b.bytes = bytes;
    for (uint64_t at = 0; at < total && r == 0; at += b.len) {
        b.len = (uint32_t)WR_MIN(total - at, (uint64_t)BLOCK_MAX);
        b.first = at == 0;
        b.last = at + b.len == total;
        fill_rows(s, at, bytes, b.len);
        b.adler = wr_adler32(b.adler, bytes, b.len);
        r = put_block(&m->pen, &b, err);
    }
    return r;
}

static int png_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                    weir_err *err)
{
    int r;

    if (rows_of(s) > SIDE_MAX || row_bytes(s) > 3 * SIDE_MAX)
        return wr_fail(err, WEIR_ELIMIT, "a picture of this size is too large");
    r = put_header(&m->pen, s, err);
    if (r == 0)
        r = put_pixels(m, s, err);
    if (r == 0)
        r = chunk_begin(&m->pen, "IEND", 0, err);
    return r < 0 ? r : chunk_end(&m->pen, err);
}

const struct wr_gen_form wr_gen_form_png = {
    .size = png_size, .check = png_check, .make = png_make};
