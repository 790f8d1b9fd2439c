/* patches.c - the windows of a convolution as rows of a matrix.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/patches.h"

#include <string.h>

#include "base/mem.h"

/* Copies floats [from, to) of a line that has `len`, with zeros around it. */
static void copy_clipped(const float *line, ptrdiff_t len, ptrdiff_t from,
                         ptrdiff_t to, float *dst)
{
    ptrdiff_t first = WR_MIN(WR_MAX(from, (ptrdiff_t)0), to);
    ptrdiff_t last = WR_MAX(WR_MIN(to, len), first);

    if (first == from && last == to) { /* nearly always */
        memcpy(dst, line + from, (size_t)(to - from) * sizeof(*dst));
        return;
    }
    memset(dst, 0, (size_t)(first - from) * sizeof(*dst));
    memcpy(dst + (first - from), line + first,
           (size_t)(last - first) * sizeof(*dst));
    memset(dst + (last - from), 0, (size_t)(to - last) * sizeof(*dst));
}

/* An output pixel, and its picture. */
struct pixel {
    const float *picture;
    uint32_t y, x;
};

static struct pixel pixel_of(const struct wr_patches *p, size_t row)
{
    size_t per_picture = (size_t)p->out_h * p->out_w;
    size_t in_picture = row % per_picture;

    return (struct pixel){
        p->x + row / per_picture * p->in_h * p->in_w * p->channels,
        (uint32_t)(in_picture / p->out_w),
        (uint32_t)(in_picture % p->out_w),
    };
}

/* Steps on without dividing, which would take as long as a short copy. */
static void next_pixel(const struct wr_patches *p, struct pixel *at)
{
    if (++at->x < p->out_w)
        return;
    at->x = 0;
    if (++at->y < p->out_h)
        return;
    at->y = 0;
    at->picture += (size_t)p->in_h * p->in_w * p->channels;
}

/* Where the columns of a block begin: a kernel row, and floats into it. */
struct tap {
    size_t row, at;
};

/* A kernel row is a stretch of one line of the picture, as channels lie side by
 * side: one copy for all its columns. */
static void copy_row(const struct wr_patches *p, struct pixel pixel,
                     struct tap tap, size_t cols, float *dst)
{
    size_t run = (size_t)p->kernel * p->channels;
    ptrdiff_t line_len = (ptrdiff_t)((size_t)p->in_w * p->channels);
    ptrdiff_t top = (ptrdiff_t)pixel.y * p->stride - (ptrdiff_t)p->pad;
    ptrdiff_t left = ((ptrdiff_t)pixel.x * p->stride - (ptrdiff_t)p->pad) *
                     (ptrdiff_t)p->channels;

    while (cols) {
        size_t n = WR_MIN(run - tap.at, cols);
        ptrdiff_t y = top + (ptrdiff_t)tap.row;
        ptrdiff_t from = left + (ptrdiff_t)tap.at;

        if (y < 0 || y >= (ptrdiff_t)p->in_h)
            memset(dst, 0, n * sizeof(*dst));
        else
            copy_clipped(pixel.picture + y * line_len, line_len, from,
                         from + (ptrdiff_t)n, dst);
        dst += n;
        cols -= n;
        tap = (struct tap){tap.row + 1, 0};
    }
}

void wr_patches_copy(const struct wr_patches *p, const struct wr_patch_block *b)
{
    size_t run = (size_t)p->kernel * p->channels;
    struct tap first = {b->col / run, b->col % run};
    struct pixel pixel = pixel_of(p, b->row);

    for (size_t i = 0; i < b->rows; i++) {
        copy_row(p, pixel, first, b->cols, b->dst + i * b->dst_row);
        next_pixel(p, &pixel);
    }
}
