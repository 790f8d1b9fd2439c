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
    bool is_over;    /* pixels of this row were dropped beyond its end, */
    uint32_t beyond; /* and so many began there */
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

static int fail_line(const struct rle *s, weir_err *err)
{
    return wr_fail(err, WEIR_EFORMAT,
                   "damaged BMP: row %u of %u, from below, goes on beyond its "
                   "width: an end of line is missing",
                   s->y, s->head->height);
}

/* Where `n` pixels go, and how many of them: what reaches over the row's end is
 * dropped, for some programs write rows of whole words. More pixels than that
 * belong to another row, and readers disagree about which. */
static int place(struct rle *s, uint32_t *n, uint8_t **ret_to, weir_err *err)
{
    const struct wr_bmp_head *h = s->head;
    uint32_t room = h->width - s->x, padding = -h->width % (32 / h->bits);

    if (s->y >= h->height)
        return fail_run(s, err);
    if (room == 0)
        s->beyond += *n;
    if (s->beyond > padding)
        return fail_line(s, err);
    *ret_to = s->out + (size_t)s->y * h->width + s->x;
    s->is_over |= *n > room;
    *n = WR_MIN(*n, room);
    s->x += *n;
    return 0;
}

/* `n` pixels of one colour, or of two in turn. */
static int put_run(struct rle *s, uint32_t n, uint8_t value, weir_err *err)
{
    uint8_t *to = NULL;
    int r = place(s, &n, &to, err);

    for (uint32_t k = 0; k < n && r >= 0; k++)
        to[k] = s->head->bits == 8 ? value : k % 2 ? value & 15 : value >> 4;
    return r;
}

/* `n` pixels as they are, padded to 16 bits. */
static int put_pixels(struct rle *s, uint32_t n, weir_err *err)
{
    size_t bytes = s->head->bits == 8 ? n : (n + 1) / 2;
    uint8_t *to = NULL;
    int r = place(s, &n, &to, err);

    if (r < 0)
        return r;
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

/* `up` rows on, which end this one unless there are none. */
static void leave_row(struct rle *s, uint32_t up)
{
    s->y += up;
    if (up > 0) {
        s->is_over = false;
        s->beyond = 0;
    }
}

static int move(struct rle *s, weir_err *err)
{
    if (s->end - s->in < 2)
        return fail_cut(s, err);
    if (s->in[1] > s->head->height - s->y)
        return fail_run(s, err);
    s->x = WR_MIN(s->x + s->in[0], s->head->width);
    leave_row(s, s->in[1]);
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
        leave_row(s, 1);
        return 0;
    case 1:
        return s->is_over && s->y + 1 < s->head->height ? fail_line(s, err) : 1;
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
