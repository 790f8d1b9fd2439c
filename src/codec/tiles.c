/* tiles.c - arrays that are cut into tiles or strided -> one piece, in C order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/tiles.h"

#include <string.h>

#include "base/mem.h"

static uint64_t along(const struct wr_tiles *t, uint32_t axis)
{
    return t->dims[axis] / t->tile[axis] + !!(t->dims[axis] % t->tile[axis]);
}

uint64_t wr_tiles_count(const struct wr_tiles *t)
{
    uint64_t n = 1;

    for (uint32_t k = 0; k < t->ndim; k++)
        n *= along(t, k);
    return n;
}

uint64_t wr_tiles_bytes(const struct wr_tiles *t)
{
    uint64_t bytes = t->elem;

    for (uint32_t k = 0; k < t->ndim; k++)
        bytes *= t->tile[k];
    return bytes;
}

/* Rows are short: a size that is known is one move. */
static void copy_row(uint8_t *to, const uint8_t *from, uint64_t bytes)
{
    switch (bytes) {
    case 4:
        memcpy(to, from, 4);
        break;
    case 8:
        memcpy(to, from, 8);
        break;
    case 16:
        memcpy(to, from, 16);
        break;
    default:
        memcpy(to, from, bytes);
    }
}

/* A box of `size` elements: copied row by row, the last axis being the row. */
struct box {
    uint64_t size[WR_TILED_DIMS];
    uint64_t in[WR_TILED_DIMS], out[WR_TILED_DIMS]; /* bytes per index */
};

static void copy_box(const struct box *b, uint32_t ndim, const uint8_t *in,
                     uint8_t *out)
{
    uint64_t at[WR_TILED_DIMS] = {0}, row = b->size[ndim - 1] * b->in[ndim - 1];

    for (;;) {
        uint32_t k = ndim - 1;

        copy_row(out, in, row);
        while (k-- > 0) {
            in += b->in[k];
            out += b->out[k];
            if (++at[k] < b->size[k])
                break;
            in -= at[k] * b->in[k];
            out -= at[k] * b->out[k];
            at[k] = 0;
        }
        if (k == UINT32_MAX)
            return;
    }
}

/* The part of tile `number` that lies in the array: its sizes and steps in the
 * tile (in) and in the array (out), where it begins at the bytes returned. */
static uint64_t find_box(const struct wr_tiles *t, uint64_t number,
                         struct box *ret)
{
    uint64_t in_step = t->elem, out_step = t->elem, start = 0;

    for (uint32_t k = t->ndim; k-- > 0;) {
        uint64_t first = number % along(t, k) * t->tile[k];

        number /= along(t, k);
        ret->size[k] = WR_MIN(t->tile[k], t->dims[k] - first);
        ret->in[k] = in_step;
        ret->out[k] = out_step;
        start += first * out_step;
        in_step *= t->tile[k];
        out_step *= t->dims[k];
    }
    return start;
}

void wr_tiles_place(const struct wr_tiles *t, uint64_t number, const void *in,
                    void *out)
{
    struct box b;
    uint64_t start = find_box(t, number, &b);

    copy_box(&b, t->ndim, in, (uint8_t *)out + start);
}

void wr_tiles_take(const struct wr_tiles *t, uint64_t number, const void *in,
                   void *out)
{
    struct box there, b;
    uint64_t start = find_box(t, number, &there);

    b = there;
    memcpy(b.in, there.out, sizeof(b.in));
    memcpy(b.out, there.in, sizeof(b.out));
    copy_box(&b, t->ndim, (const uint8_t *)in + start, out);
}

/* A tile is so many elements along two axes: both its columns, read, and its
 * rows, written, stay in the nearest cache. */
#define TILE 32u

/* --- an array whose elements lie apart -> one in C order --- */

/* Two axes of the array, gone through together. */
struct plane {
    uint64_t rows, columns;
    uint64_t row_in, column_in;   /* bytes */
    uint64_t row_out, column_out; /* bytes; column_out is an element */
};

uint64_t wr_strides_span(const struct wr_strides *s)
{
    uint64_t end = s->elem;

    for (uint32_t k = 0; k < s->ndim; k++)
        end += (s->dims[k] - 1) * s->bytes[k];
    return end;
}

static void copy_strided_row(const uint8_t *in, uint64_t step, uint64_t n,
                             size_t elem, uint8_t *out)
{
    switch (elem) { /* constant sizes become single moves */
    case 1:
        for (uint64_t k = 0; k < n; k++)
            out[k] = in[k * step];
        break;
    case 2:
        for (uint64_t k = 0; k < n; k++)
            memcpy(out + k * 2, in + k * step, 2);
        break;
    case 4:
        for (uint64_t k = 0; k < n; k++)
            memcpy(out + k * 4, in + k * step, 4);
        break;
    default:
        for (uint64_t k = 0; k < n; k++)
            memcpy(out + k * 8, in + k * step, 8);
    }
}

static void copy_plane(const struct plane *p, size_t elem, const uint8_t *in,
                       uint8_t *out)
{
    if (p->column_in == elem) {
        for (uint64_t r = 0; r < p->rows; r++)
            memcpy(out + r * p->row_out, in + r * p->row_in, p->columns * elem);
        return;
    }
    for (uint64_t c = 0; c < p->columns; c += TILE)
        for (uint64_t r = 0; r < p->rows; r++)
            copy_strided_row(in + r * p->row_in + c * p->column_in,
                             p->column_in,
                             WR_MIN(p->columns - c, (uint64_t)TILE), elem,
                             out + r * p->row_out + c * p->column_out);
}

/* The axis, the last one apart, along which elements lie nearest. */
static uint32_t nearest_axis(const struct wr_strides *s)
{
    uint32_t best = 0;

    for (uint32_t k = 1; k + 1 < s->ndim; k++)
        if (s->dims[k] > 1 &&
            (s->dims[best] == 1 || s->bytes[k] < s->bytes[best]))
            best = k;
    return best;
}

/* Moves on to the next index of the axes that are not in the plane. */
static int next_index(const struct wr_strides *s, uint32_t skip, uint64_t *at)
{
    for (uint32_t k = s->ndim - 1; k-- > 0;) {
        if (k == skip)
            continue;
        if (++at[k] < s->dims[k])
            return 1;
        at[k] = 0;
    }
    return 0;
}

static void gather_planes(const struct wr_strides *s, const uint8_t *in,
                          uint8_t *out)
{
    uint32_t last = s->ndim - 1, near = nearest_axis(s);
    uint64_t at[WR_STRIDED_DIMS] = {0}, step[WR_STRIDED_DIMS];
    struct plane p = {.rows = s->dims[near],
                      .columns = s->dims[last],
                      .row_in = s->bytes[near],
                      .column_in = s->bytes[last],
                      .column_out = s->elem};

    step[last] = s->elem;
    for (uint32_t k = last; k-- > 0;)
        step[k] = step[k + 1] * s->dims[k + 1];
    p.row_out = step[near];
    do {
        uint64_t from = 0, to = 0;

        for (uint32_t k = 0; k < last; k++) {
            from += at[k] * s->bytes[k];
            to += at[k] * step[k];
        }
        copy_plane(&p, s->elem, in + from, out + to);
    } while (next_index(s, near, at));
}

void wr_strides_gather(const struct wr_strides *s, const void *in, void *out)
{
    if (s->ndim >= 2)
        gather_planes(s, in, out);
    else if (s->ndim == 1)
        copy_strided_row(in, s->bytes[0], s->dims[0], s->elem, out);
    else
        memcpy(out, in, s->elem);
}
