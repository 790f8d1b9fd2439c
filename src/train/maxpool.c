/* maxpool.c - the maximum of each window, and who it was.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/maxpool.h"

#include <assert.h>
#include <string.h>

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

static void forward_part(void *arg, size_t picture, unsigned thread)
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
    wr_pool_run(c->pool, c->batch, forward_part, &job);
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
