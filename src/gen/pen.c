/* pen.c - bytes and noise into an object, in large pieces.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/pen.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"

void wr_pen_init(struct wr_pen *p, struct wr_object *o, uint8_t *buf)
{
    *p = (struct wr_pen){.object = o, .buf = buf};
}

uint64_t wr_pen_tell(const struct wr_pen *p)
{
    return p->at + p->len;
}

static void write_at(struct wr_pen *p, const void *bytes, size_t len,
                     uint64_t at)
{
    if (len && !p->failed.code)
        p->failed.code = wr_object_write(p->object, bytes, len, at, &p->failed);
}

/* What is in the buffer. */
static void write_piece(struct wr_pen *p)
{
    write_at(p, p->buf, p->len, p->at);
    p->at += p->len;
    p->len = 0;
}

int wr_pen_flush(struct wr_pen *p, weir_err *err)
{
    write_piece(p);
    return wr_fail_as(err, p->failed.code, &p->failed);
}

/* Pieces end at multiples of the buffer's size: whole pages, but at the ends. */
static size_t room(const struct wr_pen *p, uint64_t want)
{
    uint64_t left = WR_PEN_BYTES - (p->at + p->len) % WR_PEN_BYTES;

    return (size_t)WR_MIN(want, left);
}

/* Counts `n` bytes that were put behind len; a full piece is written. */
static void advance(struct wr_pen *p, size_t n)
{
    if (p->sum)
        p->crc = p->sum(p->crc, p->buf + p->len, n);
    p->len += n;
    if ((p->at + p->len) % WR_PEN_BYTES == 0)
        write_piece(p);
}

void wr_pen_put(struct wr_pen *p, const void *bytes, size_t len)
{
    const uint8_t *from = bytes;

    while (len && !p->failed.code) {
        size_t some = room(p, len);

        memcpy(p->buf + p->len, from, some);
        from += some;
        len -= some;
        advance(p, some);
    }
}

void wr_pen_zeros(struct wr_pen *p, uint64_t len)
{
    while (len && !p->failed.code) {
        size_t some = room(p, len);

        memset(p->buf + p->len, 0, some);
        len -= some;
        advance(p, some);
    }
}

void wr_pen_pad(struct wr_pen *p, uint64_t block)
{
    uint64_t over = wr_pen_tell(p) % block;

    wr_pen_zeros(p, over ? block - over : 0);
}

void wr_pen_noise(struct wr_pen *p, const struct wr_noise *n, uint64_t from,
                  uint64_t len)
{
    while (len && !p->failed.code) {
        size_t some = room(p, len);

        wr_noise_fill(n, from, p->buf + p->len, some);
        from += some;
        len -= some;
        advance(p, some);
    }
}

void wr_pen_skip(struct wr_pen *p, uint64_t len)
{
    write_piece(p);
    p->at += len;
}

void wr_pen_patch(struct wr_pen *p, uint64_t at, const void *bytes, size_t len)
{
    write_at(p, bytes, len, at);
}
