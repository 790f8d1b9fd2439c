/* conv.c - convolutions of the reference engine, forward and backward.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Both directions are one product: rows of patches times packed weights. The
 * gradient of the input is a convolution of dy with the kernel turned by 180
 * degrees, padded so that the sizes fit. */
#include "train/conv.h"

#include "train/gemm.h"
#include "train/patches.h"

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
        wr_patches_copy(&job->patches, &block);
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
