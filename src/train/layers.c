/* layers.c - dense layers and max pooling of the reference engine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/layers.h"

#include <assert.h>
#include <string.h>

#include "train/gemm.h"

/* --- max pooling: the maximum of each window, and who it was --- */

#define LANES       4u  /* channels at once */
#define MAX_OFFSETS 64u /* of a window */

typedef float vec __attribute__((vector_size(4 * LANES)));
typedef int32_t mask __attribute__((vector_size(4 * LANES)));

struct pool_job {
    const struct wr_layer *layer;
    const float *x, *dy;
    float *y, *dx;
    uint8_t *choice;
    const uint8_t *chosen;
    uint32_t offset_count;
    size_t offsets[MAX_OFFSETS]; /* in floats behind the first of a window */
};

static void find_offsets(struct pool_job *job)
{
    const struct wr_layer *l = job->layer;

    job->offset_count = l->kernel * l->kernel;
    assert(job->offset_count <= MAX_OFFSETS);
    for (uint32_t i = 0; i < job->offset_count; i++)
        job->offsets[i] = ((size_t)(i / l->kernel) * l->in_w + i % l->kernel) *
                          l->in_c;
}

static size_t corner(const struct wr_layer *l, size_t pixel)
{
    size_t y = pixel / l->out_w * l->stride, x = pixel % l->out_w * l->stride;

    return (y * l->in_w + x) * l->in_c;
}

static inline vec load(const float *x, size_t n)
{
    vec v = {0};

    memcpy(&v, x, n * sizeof(*x));
    return v;
}

/* A NaN wins over every number, so that it reaches the loss. Without branches:
 * which one is the largest cannot be predicted. */
static inline void choose(const struct pool_job *job, const float *x, size_t n,
                          float *y, uint8_t *choice)
{
    vec best = load(x, n);
    mask at = {0};

    for (uint32_t i = 1; i < job->offset_count; i++) {
        vec v = load(x + job->offsets[i], n);
        mask better = (v > best) | (v != v);

        best = (vec)(((mask)v & better) | ((mask)best & ~better));
        at = ((int32_t)i & better) | (at & ~better);
    }
    memcpy(y, &best, n * sizeof(*y));
    for (size_t c = 0; c < n; c++)
        choice[c] = (uint8_t)at[c];
}

static void maxpool_forward_part(void *arg, size_t picture, unsigned thread)
{
    const struct pool_job *job = arg;
    const struct wr_layer *l = job->layer;
    const float *x = job->x + picture * wr_layer_in_count(l);
    size_t pixels = (size_t)l->out_h * l->out_w;

    for (size_t p = 0; p < pixels; p++) {
        const float *window = x + corner(l, p);
        size_t out = (picture * pixels + p) * l->out_c, c = 0;

        for (; c + LANES <= l->out_c; c += LANES)
            choose(job, window + c, LANES, job->y + out + c,
                   job->choice + out + c);
        if (c < l->out_c)
            choose(job, window + c, l->out_c - c, job->y + out + c,
                   job->choice + out + c);
    }
}

void wr_maxpool_forward(const struct wr_compute *c, const struct wr_layer *l,
                        const float *x, float *y, uint8_t *choice)
{
    struct pool_job job = {.layer = l, .x = x, .y = y, .choice = choice};

    find_offsets(&job);
    wr_pool_run(c->pool, c->batch, maxpool_forward_part, &job);
}

/* Windows overlap: a place may be chosen by several, which add in order. */
static void backward_part(void *arg, size_t picture, unsigned thread)
{
    const struct pool_job *job = arg;
    const struct wr_layer *l = job->layer;
    size_t in = wr_layer_in_count(l), pixels = (size_t)l->out_h * l->out_w;
    float *dx = job->dx + picture * in;

    memset(dx, 0, in * sizeof(*dx));
    for (size_t p = 0; p < pixels; p++) {
        size_t out = (picture * pixels + p) * l->out_c;
        float *window = dx + corner(l, p);

        for (size_t c = 0; c < l->out_c; c++)
            window[job->offsets[job->chosen[out + c]] + c] += job->dy[out + c];
    }
}

void wr_maxpool_backward(const struct wr_compute *c, const struct wr_layer *l,
                         const float *dy, const uint8_t *choice, float *dx)
{
    struct pool_job job = {.layer = l, .dy = dy, .dx = dx, .chosen = choice};

    find_offsets(&job);
    wr_pool_run(c->pool, c->batch, backward_part, &job);
}

/* --- dense layers --- */

/* The weights are by far the largest matrix here, used once per direction: they
 * are read where they lie, and what is packed is the batch. */

#define OUTPUTS 48u  /* rows of weights of a part: forward, gradients */
#define INPUTS  256u /* columns of weights of a part: backward */
#define DEPTH   256u
#define WIDE    1024u /* columns of gradients: their x fits L2 */
#define B_ROW   (INPUTS + 16u)
#define PACK_BY 256u

struct dense_job {
    const struct wr_compute *compute;
    const float *weights, *bias, *x, *dy;
    float *y, *dx, *grads;
    size_t in, out, batch;
    bool relu;
};

size_t wr_dense_scratch(uint32_t batch)
{
    size_t forward = OUTPUTS * wr_lines(batch);
    size_t input = (size_t)DEPTH * B_ROW + (size_t)batch * INPUTS;

    return WR_MAX(forward, input);
}

size_t wr_dense_shared(const struct wr_layer *l, uint32_t batch)
{
    size_t in = wr_layer_in_count(l);

    return WR_MAX(in * wr_lines(batch), wr_lines(in) * batch);
}

/* x as B of the forward product: [16 pictures][input][picture]. */
static void pack_pictures(void *arg, size_t part, unsigned thread)
{
    const struct dense_job *job = arg;
    size_t from = part * PACK_BY, to = WR_MIN(from + PACK_BY, job->in);

    for (size_t b = 0; b < wr_lines(job->batch); b++) {
        const float *x = job->x + b * job->in;
        float *dst = job->compute->shared +
                     b / WR_GEMM_COLS * job->in * WR_GEMM_COLS +
                     b % WR_GEMM_COLS;

        for (size_t i = from; i < to; i++)
            dst[i * WR_GEMM_COLS] = b < job->batch ? x[i] : 0;
    }
}

static void finish_forward(const struct dense_job *job, const float *sums,
                           size_t row, size_t rows)
{
    size_t sums_row = wr_lines(job->batch);

    for (size_t b = 0; b < job->batch; b++)
        for (size_t i = 0; i < rows; i++) {
            float v = sums[i * sums_row + b] + job->bias[row + i];

            /* a NaN stays one */
            job->y[b * job->out + row + i] = job->relu && v < 0 ? 0 : v;
        }
}

static void forward_part(void *arg, size_t part, unsigned thread)
{
    const struct dense_job *job = arg;
    size_t row = part * OUTPUTS;
    struct wr_gemm g = {.m = WR_MIN(job->out - row, (size_t)OUTPUTS),
                        .n = job->batch,
                        .a_row = job->in,
                        .a_k = 1,
                        .b_panel = job->in * WR_GEMM_COLS,
                        .b_k = WR_GEMM_COLS,
                        .c = wr_scratch(job->compute, thread),
                        .c_row = wr_lines(job->batch)};

    for (size_t k = 0; k < job->in; k += DEPTH) {
        g.k = WR_MIN(job->in - k, (size_t)DEPTH);
        g.a = job->weights + row * job->in + k;
        g.b = job->compute->shared + k * WR_GEMM_COLS;
        g.add = k > 0;
        wr_gemm(&g);
    }
    finish_forward(job, g.c, row, g.m);
}

void wr_dense_forward(const struct wr_compute *c, const struct wr_layer *l,
                      const float *params, const float *x, float *y)
{
    struct dense_job job = {.compute = c,
                            .weights = params + l->weight,
                            .bias = params + l->bias,
                            .x = x,
                            .y = y,
                            .in = wr_layer_in_count(l),
                            .out = l->out_c,
                            .batch = c->batch,
                            .relu = l->relu};

    wr_pool_run(c->pool, wr_blocks(job.in, PACK_BY), pack_pictures, &job);
    wr_pool_run(c->pool, wr_blocks(job.out, OUTPUTS), forward_part, &job);
}

/* x as B of the gradients' product: [16 inputs][picture][input]. */
static void pack_inputs(void *arg, size_t panel, unsigned thread)
{
    const struct dense_job *job = arg;
    size_t first = panel * WR_GEMM_COLS;
    size_t n = WR_MIN(job->in - first, (size_t)WR_GEMM_COLS);
    float *dst = job->compute->shared + first * job->batch;

    for (size_t b = 0; b < job->batch; b++, dst += WR_GEMM_COLS)
        for (size_t j = 0; j < WR_GEMM_COLS; j++)
            dst[j] = j < n ? job->x[b * job->in + first + j] : 0;
}

/* Six rows of gradients at a time, each written from left to right: this
 * matrix is too large for any cache. */
static void grad_part(void *arg, size_t part, unsigned thread)
{
    const struct dense_job *job = arg;
    size_t row = part * OUTPUTS, end = WR_MIN(row + OUTPUTS, job->out);

    for (size_t j = 0; j < job->in; j += WIDE)
        for (size_t i = row; i < end; i += WR_GEMM_ROWS) {
            struct wr_gemm g = {.m = WR_MIN(end - i, (size_t)WR_GEMM_ROWS),
                                .n = WR_MIN(job->in - j, (size_t)WIDE),
                                .k = job->batch,
                                .a = job->dy + i,
                                .a_row = 1,
                                .a_k = job->out,
                                .b = job->compute->shared + j * job->batch,
                                .b_panel = WR_GEMM_COLS * job->batch,
                                .b_k = WR_GEMM_COLS,
                                .c = job->grads + i * job->in + j,
                                .c_row = job->in};

            wr_gemm(&g);
        }
}

static void add_biases(const struct dense_job *job, float *bias)
{
    memset(bias, 0, job->out * sizeof(*bias));
    for (size_t b = 0; b < job->batch; b++)
        for (size_t i = 0; i < job->out; i++)
            bias[i] += job->dy[b * job->out + i];
}

void wr_dense_grad(const struct wr_compute *c, const struct wr_layer *l,
                   const float *x, const float *dy, float *grads)
{
    struct dense_job job = {.compute = c,
                            .x = x,
                            .dy = dy,
                            .grads = grads + l->weight,
                            .in = wr_layer_in_count(l),
                            .out = l->out_c,
                            .batch = c->batch};

    wr_pool_run(c->pool, wr_blocks(job.in, WR_GEMM_COLS), pack_inputs, &job);
    wr_pool_run(c->pool, wr_blocks(job.out, OUTPUTS), grad_part, &job);
    add_biases(&job, grads + l->bias);
}

static void copy_weights(const struct dense_job *job, size_t row, size_t col,
                         const struct wr_gemm *g, float *dst)
{
    for (size_t k = 0; k < g->k; k++)
        memcpy(dst + k * B_ROW, job->weights + (row + k) * job->in + col,
               g->n * sizeof(*dst));
}

static void input_part(void *arg, size_t part, unsigned thread)
{
    const struct dense_job *job = arg;
    float *block = wr_scratch(job->compute, thread);
    size_t col = part * INPUTS;
    struct wr_gemm g = {.m = job->batch,
                        .n = WR_MIN(job->in - col, (size_t)INPUTS),
                        .a_row = job->out,
                        .a_k = 1,
                        .b = block,
                        .b_panel = WR_GEMM_COLS,
                        .b_k = B_ROW,
                        .c = block + (size_t)DEPTH * B_ROW,
                        .c_row = INPUTS};

    for (size_t k = 0; k < job->out; k += DEPTH) {
        g.k = WR_MIN(job->out - k, (size_t)DEPTH);
        g.a = job->dy + k;
        g.add = k > 0;
        copy_weights(job, k, col, &g, block);
        wr_gemm(&g);
    }
    for (size_t b = 0; b < job->batch; b++) {
        float *x = job->dx + b * job->in + col;

        for (size_t j = 0; j < g.n; j++)
            x[j] = x[j] > 0 ? g.c[b * INPUTS + j] : 0;
    }
}

void wr_dense_input(const struct wr_compute *c, const struct wr_layer *l,
                    const float *params, const float *dy, float *x)
{
    struct dense_job job = {.compute = c,
                            .weights = params + l->weight,
                            .dy = dy,
                            .dx = x,
                            .in = wr_layer_in_count(l),
                            .out = l->out_c,
                            .batch = c->batch};

    wr_pool_run(c->pool, wr_blocks(job.in, INPUTS), input_part, &job);
}
