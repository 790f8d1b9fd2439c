/* bmp_rle.c - run lengths of BMP: RLE8 and RLE4.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/bmp.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"

/* Where the next pixel goes, in rows as the file has them. */
struct rle {
    const struct wr_bmp_head *head;
    const uint8_t *in, *end;
    uint8_t *out;
    uint32_t x, y;
};

static int fail_cut(const struct rle *s, weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT,
                   "truncated BMP: data end at row %u of %u, from below", s->y,
                   s->head->height);
}

static int fail_run(const struct rle *s, weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT,
                   "damaged BMP: pixels outside of row %u of %u, from below",
                   s->y, s->head->height);
}

/* Where `n` pixels go, and how many of them: what reaches over the row's end is
 * dropped, for some programs write rows of whole words. NULL: above the last
 * row. */
static uint8_t *place(struct rle *s, uint32_t *n)
{
    uint8_t *to = s->out + (size_t)s->y * s->head->width + s->x;

    if (s->y >= s->head->height)
        return NULL;
    *n = WR_MIN(*n, s->head->width - s->x);
    s->x += *n;
    return to;
}

/* `n` pixels of one colour, or of two in turn. */
static int put_run(struct rle *s, uint32_t n, uint8_t value, weir_err *err)
{
    uint8_t *to = place(s, &n);

    if (!to)
        return fail_run(s, err);
    for (uint32_t k = 0; k < n; k++)
        to[k] = s->head->bits == 8 ? value : k % 2 ? value & 15 : value >> 4;
    return 0;
}

/* `n` pixels as they are, padded to 16 bits. */
static int put_pixels(struct rle *s, uint32_t n, weir_err *err)
{
    size_t bytes = s->head->bits == 8 ? n : (n + 1) / 2;
    uint8_t *to = place(s, &n);

    if (!to)
        return fail_run(s, err);
    if ((size_t)(s->end - s->in) < bytes)
        return fail_cut(s, err);
    for (uint32_t k = 0; k < n; k++)
        to[k] = s->head->bits == 8 ? s->in[k]
                : k % 2            ? s->in[k / 2] & 15
                                   : s->in[k / 2] >> 4;
    s->in += bytes;
    s->in += bytes % 2 && s->in < s->end;
    return 0;
}

static int move(struct rle *s, weir_err *err)
{
    if (s->end - s->in < 2)
        return fail_cut(s, err);
    if (s->in[1] > s->head->height - s->y)
        return fail_run(s, err);
    s->x = WR_MIN(s->x + s->in[0], s->head->width);
    s->y += s->in[1];
    s->in += 2;
    return 0;
}

/* What follows a zero; 1 at the end of the picture. */
static int escape(struct rle *s, uint8_t code, weir_err *err)
{
    switch (code) {
    case 0:
        if (s->y == s->head->height)
            return fail_run(s, err);
        s->x = 0;
        s->y++;
        return 0;
    case 1:
        return 1;
    case 2:
        return move(s, err);
    default:
        return put_pixels(s, code, err);
    }
}

int wr_bmp_unpack_rle(const struct wr_bmp_head *h, const uint8_t *in,
                      size_t len, uint8_t *out, weir_err *err)
{
    struct rle s = {.head = h, .in = in, .end = in + len, .out = out};
    int r = 0;

    memset(out, 0, (size_t)h->width * h->height);
    while (r == 0) {
        uint8_t n, value;

        if (s.end - s.in < 2) { /* some end without saying so */
            bool is_full = s.y == h->height ||
                           (s.y == h->height - 1 && s.x == h->width);

            return is_full ? 0 : fail_cut(&s, err);
        }
        n = s.in[0];
        value = s.in[1];
        s.in += 2;
        r = n ? put_run(&s, n, value, err) : escape(&s, value, err);
    }
    return r < 0 ? r : 0;
}
