/* form_picture.c - pictures: photographs, and JPEG and PNG files of noise.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/form.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "codec/inflate.h"
#include "gen/collage.h"
#include "gen/jpeg_noise.h"

/* --- photographs (weir.content: photos): files, TFRecord, tar --- */

#define RECORD_EXTRA 256u /* what is around a picture in a record */
#define FLUSH        ((size_t)4 << 20)

/* On average; what is drawn differs a little. */
static uint64_t photos_size(const struct wr_gen_spec *s)
{
    double mean = s->w->dataset.record_bytes;

    return (uint64_t)((double)s->samples * (mean + RECORD_EXTRA));
}

static int photos_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                       weir_err *err)
{
    int r;

    m->scratch.len = 0;
    r = wr_collage_make(m->stock->photos, s->first, &m->scratch, NULL, err);
    if (r == 0)
        wr_pen_put(&m->pen, m->scratch.bytes, m->scratch.len);
    return r;
}

/* The next sample, through a writer. */
static int add_record(struct wr_gen_maker *m, const struct wr_writer_ops *ops,
                      uint64_t i, struct wr_bytes *picture, weir_err *err)
{
    struct wr_write_sample w = {.label = wr_gen_photo_label(i)};
    char key[32];
    int r;

    snprintf(key, sizeof(key), "%09" PRIu64, i);
    picture->len = 0;
    r = wr_collage_make(m->stock->photos, i, picture, &w.info, err);
    if (r < 0)
        return r;
    w.key = key;
    w.bytes = picture->bytes;
    w.len = picture->len;
    return ops->add(&m->scratch, &w, err);
}

static int records_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                        const struct wr_writer_ops *ops, weir_err *err)
{
    struct wr_bytes picture = {0};
    int r = 0;

    m->scratch.len = 0;
    for (uint64_t i = 0; i < s->samples && r == 0 && !m->pen.failed.code; i++) {
        r = add_record(m, ops, s->first + i, &picture, err);
        if (m->scratch.len <= FLUSH && i + 1 < s->samples)
            continue;
        wr_pen_put(&m->pen, m->scratch.bytes, m->scratch.len);
        m->scratch.len = 0;
    }
    free(picture.bytes);
    return r;
}

static int tfrecord_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                         weir_err *err)
{
    return records_make(m, s, &wr_writer_tfrecord, err);
}

/* The end of an archive is two blocks of zeros; tar's own padding to records
 * would need the length of all. */
static int tar_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                    weir_err *err)
{
    int r = records_make(m, s, &wr_writer_tar, err);

    wr_pen_zeros(&m->pen, 1024);
    return r;
}

const struct wr_gen_form wr_gen_form_photos = {
    .size = photos_size,
    .make = photos_make,
    .single = "a JPEG is one sample; TFRecord and tar hold many"};
const struct wr_gen_form wr_gen_form_photo_tfrecord = {.size = photos_size,
                                                       .make = tfrecord_make};
const struct wr_gen_form wr_gen_form_photo_tar = {.size = photos_size,
                                                  .make = tar_make};

/* --- JPEG files of noise, of the size that the description says --- */

static int jpeg_check(const struct wr_workload *w, weir_err *err)
{
    const struct wr_wl_dims *d = &w->dataset.record_dims;

    return d->count > 2 ? wr_fail(err, WEIR_EINVAL,
                                  "record_dims: a JPEG of noise is gray, HxW")
                        : 0;
}

static uint64_t jpeg_size(const struct wr_gen_spec *s)
{
    return s->sample_bytes;
}

static int jpeg_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                     weir_err *err)
{
    const struct wr_wl_dims *d = &s->dims;
    struct wr_jpeg_noise_picture pic = {
        .seed = s->seed, .number = s->file, .bytes = s->sample_bytes};

    for (unsigned k = 0; k < d->count; k++)
        if (d->dim[k] > WR_JPEG_SIDE_MAX)
            return wr_fail(err, WEIR_ELIMIT, "a JPEG has sides of 1 to %u",
                           WR_JPEG_SIDE_MAX);
    pic.height = d->count > 1 ? (uint32_t)d->dim[0] : 1;
    pic.width = (uint32_t)d->dim[d->count - 1];
    return wr_jpeg_noise_put(m->stock->jpegs, &pic, &m->pen, err);
}

const struct wr_gen_form wr_gen_form_jpeg = {.size = jpeg_size,
                                             .check = jpeg_check,
                                             .make = jpeg_make,
                                             .single = "a JPEG is one sample"};

/* --- PNG files of noise, stored: as many bytes as pixels ---
 *
 * Noise does not deflate, so it is put into stored blocks: what a reader
 * inflates costs it as much as copying. Each block is a chunk of its own. */

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
    return 0;
}

static uint64_t png_size(const struct wr_gen_spec *s)
{
    uint64_t raw = rows_of(s) * row_bytes(s);

    return FIXED + raw + (raw / BLOCK_MAX + 1) * (CHUNK_EXTRA + BLOCK_EXTRA);
}

/* A chunk's length and name; its checksum begins with the name. */
static void chunk_begin(struct wr_pen *p, const char *name, uint32_t len)
{
    uint8_t head[4];

    put_be32(head, len);
    wr_pen_put(p, head, 4);
    p->sum = wr_crc32;
    p->crc = 0;
    wr_pen_put(p, name, 4);
}

static void chunk_end(struct wr_pen *p)
{
    uint8_t crc[4];

    p->sum = NULL;
    put_be32(crc, p->crc);
    wr_pen_put(p, crc, 4);
}

static void put_header(struct wr_pen *p, const struct wr_gen_spec *s)
{
    bool rgb = s->dims.count == 3;
    uint8_t ihdr[13] = {[8] = 8, [9] = rgb ? 2 : 0};

    put_be32(ihdr, (uint32_t)((row_bytes(s) - 1) / (rgb ? 3 : 1)));
    put_be32(ihdr + 4, (uint32_t)rows_of(s));
    wr_pen_put(p, "\x89PNG\r\n\x1a\n", 8);
    chunk_begin(p, "IHDR", sizeof(ihdr));
    wr_pen_put(p, ihdr, sizeof(ihdr));
    chunk_end(p);
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

static void put_block(struct wr_pen *p, const struct png_block *b)
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

    chunk_begin(p, "IDAT", total);
    wr_pen_put(p, head + skip, sizeof(head) - skip);
    wr_pen_put(p, b->bytes, b->len);
    put_be32(sum, b->adler);
    if (b->last)
        wr_pen_put(p, sum, 4);
    chunk_end(p);
}

static int put_pixels(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                      weir_err *err)
{
    uint64_t total = rows_of(s) * row_bytes(s);
    struct png_block b = {.first = true, .adler = 1};
    uint8_t *bytes;

    m->scratch.len = 0;
    bytes = wr_bytes_room(&m->scratch, BLOCK_MAX);
    if (!bytes)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    b.bytes = bytes;
    for (uint64_t at = 0; at < total && !m->pen.failed.code; at += b.len) {
        b.len = (uint32_t)WR_MIN(total - at, (uint64_t)BLOCK_MAX);
        b.first = at == 0;
        b.last = at + b.len == total;
        fill_rows(s, at, bytes, b.len);
        b.adler = wr_adler32(b.adler, bytes, b.len);
        put_block(&m->pen, &b);
    }
    return 0;
}

static int png_make(struct wr_gen_maker *m, const struct wr_gen_spec *s,
                    weir_err *err)
{
    int r;

    if (rows_of(s) > SIDE_MAX || row_bytes(s) > 3 * SIDE_MAX)
        return wr_fail(err, WEIR_ELIMIT, "a picture of this size is too large");
    put_header(&m->pen, s);
    r = put_pixels(m, s, err);
    chunk_begin(&m->pen, "IEND", 0);
    chunk_end(&m->pen);
    return r;
}

const struct wr_gen_form wr_gen_form_png = {.size = png_size,
                                            .check = png_check,
                                            .make = png_make,
                                            .single = "a PNG is one sample"};
