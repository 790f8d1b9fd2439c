/* tiles.c - an array that is cut into equal tiles -> one piece, in C order.
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
