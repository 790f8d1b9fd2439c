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

    if (first > from)
        memset(dst, 0, (size_t)(first - from) * sizeof(*dst));
    memcpy(dst + (first - from), line + first,
           (size_t)(last - first) * sizeof(*dst));
    if (to > last)
        memset(dst + (last - from), 0, (size_t)(to - last) * sizeof(*dst));
}

/* Where the window of an output pixel begins. */
struct corner {
    const float *picture;
    ptrdiff_t y, x;
};

static struct corner corner_of(const struct wr_patches *p, size_t row)
{
    size_t per_picture = (size_t)p->out_h * p->out_w;
    size_t picture = row / per_picture, pixel = row % per_picture;
    size_t y = pixel / p->out_w, x = pixel % p->out_w;

    return (struct corner){
        p->x + picture * p->in_h * p->in_w * p->channels,
        (ptrdiff_t)(y * p->stride) - (ptrdiff_t)p->pad,
        (ptrdiff_t)(x * p->stride) - (ptrdiff_t)p->pad,
    };
}

/* A kernel row is a stretch of one line of the picture, as channels lie side by
 * side: one copy for all its columns. */
static void copy_row(const struct wr_patches *p, struct corner at,
                     const struct wr_patch_block *b, float *dst)
{
    size_t run = (size_t)p->kernel * p->channels;
    ptrdiff_t line_len = (ptrdiff_t)((size_t)p->in_w * p->channels);
    ptrdiff_t left = at.x * (ptrdiff_t)p->channels;

    for (size_t col = b->col; col < b->col + b->cols;) {
        size_t in_run = col % run;
        size_t n = WR_MIN(run - in_run, b->col + b->cols - col);
        ptrdiff_t y = at.y + (ptrdiff_t)(col / run);
        ptrdiff_t from = left + (ptrdiff_t)in_run;

        if (y < 0 || y >= (ptrdiff_t)p->in_h)
            memset(dst, 0, n * sizeof(*dst));
        else
            copy_clipped(at.picture + y * line_len, line_len, from,
                         from + (ptrdiff_t)n, dst);
        dst += n;
        col += n;
    }
}

void wr_patches_copy(const struct wr_patches *p, const struct wr_patch_block *b)
{
    for (size_t i = 0; i < b->rows; i++)
        copy_row(p, corner_of(p, b->row + i), b, b->dst + i * b->dst_row);
}
