/* conv.c - convolutions of the reference engine, forward and backward.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Both directions are one product: rows of patches times packed weights. The
 * gradient of the input is a convolution of dy with the kernel turned by 180
 * degrees, padded so that the sizes fit. */
#include "train/conv.h"

#include <string.h>

#include "base/mem.h"
#include "train/gemm.h"

/* --- the windows of a convolution as rows of a matrix --- */

/* Row r belongs to output pixel r of the batch (picture, row, column); its
 * columns are the kernel's rows, columns and channels, with zeros outside the
 * picture. The whole matrix would be many times larger than the pictures:
 * blocks of it are made where they are used. */
struct wr_patches {
    const float *x; /* [picture][in_h][in_w][channels] */
    uint32_t in_h, in_w, channels;
    uint32_t kernel, stride, pad;
    uint32_t out_h, out_w;
};

struct wr_patch_block {
    size_t row, rows, col, cols;
    float *dst; /* [rows][dst_row] */
    size_t dst_row;
};

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

static void patches_copy(const struct wr_patches *p,
                         const struct wr_patch_block *b)
{
    size_t run = (size_t)p->kernel * p->channels;
    struct tap first = {b->col / run, b->col % run};
    struct pixel pixel = pixel_of(p, b->row);

    for (size_t i = 0; i < b->rows; i++) {
        copy_row(p, pixel, first, b->cols, b->dst + i * b->dst_row);
        next_pixel(p, &pixel);
    }
}

/* --- gradients of a convolution's weights --- */

/* dW[out][column] = sum over all output pixels of dy[pixel][out] times
 * patches[pixel][column]. A part is a slice of columns and a group of pictures;
 * how many groups there are depends on the layer and the batch, never on the
 * threads, and their sums are added in order. */

#define SLICE      256u /* columns of a part */
#define PIXELS     192u /* summed at once */
#define B_ROW      (SLICE + 16u)
#define MIN_PARTS  16u /* to have work for that many threads */
#define SUM_CHUNK  16384u
#define MAX_GROUPS 16u

struct grad_job {
    const struct wr_compute *compute;
    const struct wr_layer *layer;
    struct wr_patches patches;
    const float *dy;
    float *sums;  /* [group][weights] or, of one group, the gradients */
    float *grads; /* of the layer's weights */
    size_t slices, groups, cols;
};

static size_t cols_of(const struct wr_layer *l)
{
    return (size_t)l->kernel * l->kernel * l->in_c;
}

static size_t groups_of(const struct wr_layer *l, uint32_t batch)
{
    size_t slices = wr_blocks(cols_of(l), SLICE), groups = 1;

    while (groups * slices < MIN_PARTS && groups < MAX_GROUPS)
        groups *= 2;
    return WR_MIN(groups, (size_t)batch);
}

size_t wr_conv_grad_scratch(void)
{
    return (size_t)PIXELS * B_ROW;
}

/* The bias sums come after the groups' weights; they are of one picture each. */
size_t wr_conv_grad_shared(const struct wr_layer *l, uint32_t batch)
{
    return groups_of(l, batch) * l->weight_count + (size_t)batch * l->out_c;
}

static void weights_part(void *arg, size_t part, unsigned thread)
{
    const struct grad_job *job = arg;
    const struct wr_layer *l = job->layer;
    size_t group = part / job->slices, col = part % job->slices * SLICE;
    size_t pixels = (size_t)l->out_h * l->out_w, batch = job->compute->batch;
    size_t row = group * batch / job->groups * pixels, first = row;
    size_t end = (group + 1) * batch / job->groups * pixels;
    struct wr_patch_block block = {
        .col = col,
        .cols = WR_MIN(job->cols - col, (size_t)SLICE),
        .dst = wr_scratch(job->compute, thread),
        .dst_row = B_ROW};
    struct wr_gemm g = {.m = l->out_c,
                        .n = block.cols,
                        .a_row = 1,
                        .a_k = l->out_c,
                        .b = block.dst,
                        .b_panel = WR_GEMM_COLS,
                        .b_k = B_ROW,
                        .c = job->sums + group * l->weight_count + col,
                        .c_row = job->cols};

    for (; row < end; row += PIXELS) {
        block.row = row;
        g.k = block.rows = WR_MIN(end - row, (size_t)PIXELS);
        patches_copy(&job->patches, &block);
        g.a = job->dy + row * l->out_c;
        g.add = row > first;
        wr_gemm(&g);
    }
}

static void add_groups(void *arg, size_t part, unsigned thread)
{
    const struct grad_job *job = arg;
    size_t count = job->layer->weight_count;
    size_t from = part * SUM_CHUNK, to = WR_MIN(from + SUM_CHUNK, count);

    for (size_t i = from; i < to; i++)
        job->grads[i] = job->sums[i];
    for (size_t g = 1; g < job->groups; g++)
        for (size_t i = from; i < to; i++)
            job->grads[i] += job->sums[g * count + i];
}

/* The sum of dy over one picture's pixels. */
static void bias_part(void *arg, size_t picture, unsigned thread)
{
    const struct grad_job *job = arg;
    const struct wr_layer *l = job->layer;
    size_t pixels = (size_t)l->out_h * l->out_w, n = l->out_c;
    const float *dy = job->dy + picture * pixels * n;
    float *sum = job->compute->shared + job->groups * l->weight_count +
                 picture * n;

    for (size_t j = 0; j < n; j++)
        sum[j] = 0;
    for (size_t p = 0; p < pixels; p++, dy += n)
        for (size_t j = 0; j < n; j++)
            sum[j] += dy[j];
}

static void add_biases(const struct grad_job *job, float *bias)
{
    size_t n = job->layer->out_c;
    const float *sum = job->compute->shared +
                       job->groups * job->layer->weight_count;

    for (size_t j = 0; j < n; j++)
        bias[j] = 0;
    for (size_t i = 0; i < job->compute->batch; i++)
        for (size_t j = 0; j < n; j++)
            bias[j] += sum[i * n + j];
}

void wr_conv_grad(const struct wr_compute *c, const struct wr_layer *l,
                  const float *x, const float *dy, float *grads)
{
    struct grad_job job = {
        .compute = c,
        .layer = l,
        .patches = {x, l->in_h, l->in_w, l->in_c, l->kernel, l->stride, l->pad,
                    l->out_h, l->out_w},
        .dy = dy,
        .sums = c->shared,
        .grads = grads + l->weight,
        .slices = wr_blocks(cols_of(l), SLICE),
        .groups = groups_of(l, c->batch),
        .cols = cols_of(l),
    };

    if (job.groups == 1)
        job.sums = job.grads;
    wr_pool_run(c->pool, job.slices * job.groups, weights_part, &job);
    if (job.groups > 1)
        wr_pool_run(c->pool, wr_blocks(l->weight_count, SUM_CHUNK), add_groups,
                    &job);
    wr_pool_run(c->pool, c->batch, bias_part, &job);
    add_biases(&job, grads + l->bias);
}

/* --- convolutions of the reference engine, forward and backward --- */

#define ROWS    96u  /* output pixels of a part */
#define DEPTH   256u /* columns of patches at once: B's panel is 16 KiB */
#define A_ROW   (DEPTH + 16u)
#define PACK_BY 64u

struct conv_job {
    const struct wr_compute *compute;
    const struct wr_layer *layer;
    struct wr_patches patches;
    const float *weights; /* as the checkpoint has them */
    const float *packed;  /* [panel][depth][16] */
    const float *bias;    /* NULL: `out` says which gradients pass */
    float *out;           /* [rows][n] */
    size_t rows, depth, n;
};

size_t wr_conv_scratch(const struct wr_layer *l)
{
    return ROWS * (A_ROW + wr_lines(WR_MAX(l->in_c, l->out_c)));
}

size_t wr_conv_shared(const struct wr_layer *l)
{
    size_t taps = (size_t)l->kernel * l->kernel;

    return taps *
           WR_MAX(l->in_c * wr_lines(l->out_c), l->out_c * wr_lines(l->in_c));
}

/* One panel for forward: 16 rows of the weights, transposed. */
static void pack_forward(void *arg, size_t panel, unsigned thread)
{
    const struct conv_job *job = arg;
    float *dst = job->compute->shared + panel * job->depth * WR_GEMM_COLS;
    size_t first = panel * WR_GEMM_COLS;

    for (size_t k0 = 0; k0 < job->depth; k0 += PACK_BY)
        for (size_t j = 0; j < WR_GEMM_COLS; j++)
            for (size_t k = k0; k < WR_MIN(k0 + PACK_BY, job->depth); k++)
                dst[k * WR_GEMM_COLS + j] =
                    first + j < job->n
                        ? job->weights[(first + j) * job->depth + k]
                        : 0;
}

/* One panel for backward: 16 input channels of every tap, last tap first. */
static void pack_turned(void *arg, size_t panel, unsigned thread)
{
    const struct conv_job *job = arg;
    const struct wr_layer *l = job->layer;
    size_t taps = (size_t)l->kernel * l->kernel, first = panel * WR_GEMM_COLS;
    float *dst = job->compute->shared + panel * job->depth * WR_GEMM_COLS;

    for (size_t tap = taps; tap-- > 0;)
        for (size_t o = 0; o < l->out_c; o++, dst += WR_GEMM_COLS) {
            const float *src = job->weights + (o * taps + tap) * l->in_c;

            for (size_t j = 0; j < WR_GEMM_COLS; j++)
                dst[j] = first + j < job->n ? src[first + j] : 0;
        }
}

/* Not `x > 0 ? x : 0`, which would hide a NaN. */
static void finish_forward(const struct conv_job *job, const float *sums,
                           float *out, bool relu)
{
    const float *bias = job->bias;
    size_t n = job->n;

    for (size_t j = 0; j < n; j++) {
        float v = sums[j] + bias[j];

        out[j] = relu && v < 0 ? 0 : v;
    }
}

static void finish_input(const struct conv_job *job, const float *sums,
                         float *out)
{
    for (size_t j = 0, n = job->n; j < n; j++)
        out[j] = out[j] > 0 ? sums[j] : 0;
}

static void finish(const struct conv_job *job, const float *sums, size_t row,
                   size_t rows)
{
    size_t sums_row = wr_lines(job->n);

    for (size_t i = 0; i < rows; i++, sums += sums_row) {
        float *out = job->out + (row + i) * job->n;

        if (job->bias)
            finish_forward(job, sums, out, job->layer->relu);
        else
            finish_input(job, sums, out);
    }
}

static void conv_part(void *arg, size_t part, unsigned thread)
{
    const struct conv_job *job = arg;
    float *patches = wr_scratch(job->compute, thread);
    struct wr_patch_block block = {
        .row = part * ROWS, .dst = patches, .dst_row = A_ROW};
    struct wr_gemm g = {.n = job->n,
                        .a = patches,
                        .a_row = A_ROW,
                        .a_k = 1,
                        .b_panel = job->depth * WR_GEMM_COLS,
                        .b_k = WR_GEMM_COLS,
                        .c = patches + (size_t)ROWS * A_ROW,
                        .c_row = wr_lines(job->n)};

    g.m = block.rows = WR_MIN(job->rows - block.row, (size_t)ROWS);
    for (size_t k = 0; k < job->depth; k += DEPTH) {
        block.col = k;
        g.k = block.cols = WR_MIN(job->depth - k, (size_t)DEPTH);
        patches_copy(&job->patches, &block);
        g.b = job->packed + k * WR_GEMM_COLS;
        g.add = k > 0;
        wr_gemm(&g);
    }
    finish(job, g.c, block.row, block.rows);
}

static void run(struct conv_job *job, wr_pool_fn *pack)
{
    struct wr_pool *pool = job->compute->pool;

    wr_pool_run(pool, wr_blocks(job->n, WR_GEMM_COLS), pack, job);
    wr_pool_run(pool, wr_blocks(job->rows, ROWS), conv_part, job);
}

void wr_conv_forward(const struct wr_compute *c, const struct wr_layer *l,
                     const float *params, const float *x, float *y)
{
    struct conv_job job = {
        .compute = c,
        .layer = l,
        .patches = {x, l->in_h, l->in_w, l->in_c, l->kernel, l->stride, l->pad,
                    l->out_h, l->out_w},
        .weights = params + l->weight,
        .packed = c->shared,
        .bias = params + l->bias,
        .out = y,
        .rows = (size_t)c->batch * l->out_h * l->out_w,
        .depth = (size_t)l->kernel * l->kernel * l->in_c,
        .n = l->out_c,
    };

    run(&job, pack_forward);
}

void wr_conv_input(const struct wr_compute *c, const struct wr_layer *l,
                   const float *params, const float *dy, float *x)
{
    struct conv_job job = {
        .compute = c,
        .layer = l,
        .patches = {dy, l->out_h, l->out_w, l->out_c, l->kernel, 1,
                    l->kernel - 1 - l->pad, l->in_h, l->in_w},
        .weights = params + l->weight,
        .packed = c->shared,
        .out = x,
        .rows = (size_t)c->batch * l->in_h * l->in_w,
        .depth = (size_t)l->kernel * l->kernel * l->out_c,
        .n = l->in_c,
    };

    run(&job, pack_turned);
}
