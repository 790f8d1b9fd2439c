/* conv_grad.c - gradients of a convolution's weights.
 * SPDX-License-Identifier: Apache-2.0
 *
 * dW[out][column] = sum over all output pixels of dy[pixel][out] times
 * patches[pixel][column]. A part is a slice of columns and a group of pictures;
 * how many groups there are depends on the layer and the batch, never on the
 * threads, and their sums are added in order. */
#include "train/conv_grad.h"

#include "train/gemm.h"
#include "train/patches.h"

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
        wr_patches_copy(&job->patches, &block);
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
