/* pen.c - bytes and noise into an object, in large pieces.
 * SPDX-License-Identifier: Apache-2.0 */
#include "gen/pen.h"

#include <string.h>

#include "base/mem.h"

void wr_pen_init(struct wr_pen *p, struct wr_object *o, uint8_t *buf)
{
    *p = (struct wr_pen){.object = o, .buf = buf};
}

uint64_t wr_pen_tell(const struct wr_pen *p)
{
    return p->at + p->len;
}

int wr_pen_flush(struct wr_pen *p, weir_err *err)
{
    int r = p->len ? wr_object_write(p->object, p->buf, p->len, p->at, err) : 0;

    if (r < 0)
        return r;
    p->at += p->len;
    p->len = 0;
    return 0;
}

/* Pieces end at multiples of the buffer's size: whole pages, but at the ends. */
static size_t room(const struct wr_pen *p, uint64_t want)
{
    uint64_t left = WR_PEN_BYTES - (p->at + p->len) % WR_PEN_BYTES;

    return (size_t)WR_MIN(want, left);
}

/* Counts `n` bytes that were put behind len; a full piece is written. */
static int advance(struct wr_pen *p, size_t n, weir_err *err)
{
    if (p->sum)
        p->crc = p->sum(p->crc, p->buf + p->len, n);
    p->len += n;
    return (p->at + p->len) % WR_PEN_BYTES ? 0 : wr_pen_flush(p, err);
}

int wr_pen_put(struct wr_pen *p, const void *bytes, size_t len, weir_err *err)
{
    const uint8_t *from = bytes;
    int r = 0;

    while (len && r == 0) {
        size_t some = room(p, len);

        memcpy(p->buf + p->len, from, some);
        from += some;
        len -= some;
        r = advance(p, some, err);
    }
    return r;
}

int wr_pen_zeros(struct wr_pen *p, uint64_t len, weir_err *err)
{
    int r = 0;

    while (len && r == 0) {
        size_t some = room(p, len);

        memset(p->buf + p->len, 0, some);
        len -= some;
        r = advance(p, some, err);
    }
    return r;
}

int wr_pen_noise(struct wr_pen *p, const struct wr_noise *n, uint64_t from,
                 uint64_t len, weir_err *err)
{
    int r = 0;

    while (len && r == 0) {
        size_t some = room(p, len);

        wr_noise_fill(n, from, p->buf + p->len, some);
        from += some;
        len -= some;
        r = advance(p, some, err);
    }
    return r;
}

int wr_pen_skip(struct wr_pen *p, uint64_t len, weir_err *err)
{
    int r = wr_pen_flush(p, err);

    p->at += r == 0 ? len : 0;
    return r;
}

int wr_pen_patch(struct wr_pen *p, uint64_t at, const void *bytes, size_t len,
                 weir_err *err)
{
    return wr_object_write(p->object, bytes, len, at, err);
}
