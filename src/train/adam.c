/* adam.c - the optimizer (Kingma and Ba 2015, algorithm 1).
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/adam.h"

#include <float.h>
#include <math.h>

#include "base/mem.h"

#define CHUNK 65536u

/* The bias corrections are folded into `rate` and `root`: the update is
 * rate * mean / (sqrt(square) * root + epsilon). */
struct adam_job {
    const struct wr_adam_state *state;
    float beta1, beta2, rest1, rest2; /* rest = 1 - beta */
    float rate, root, epsilon;
};

/* Moments of weights that get no gradient any more shrink until they are
 * subnormal, and would stay there: some processors take a hundred times as
 * long for such numbers. */
static inline float flushed(float x)
{
    return fabsf(x) < FLT_MIN ? 0 : x;
}

static void update(void *arg, size_t part, unsigned thread)
{
    const struct adam_job j = *(const struct adam_job *)arg;
    size_t from = part * CHUNK;
    size_t n = WR_MIN(j.state->count - from, (size_t)CHUNK);
    float *restrict w = j.state->params + from;
    float *restrict m = j.state->mean + from;
    float *restrict v = j.state->square + from;
    const float *restrict g = j.state->grads + from;

    for (size_t i = 0; i < n; i++) {
        m[i] = flushed(j.beta1 * m[i] + j.rest1 * g[i]);
        v[i] = flushed(j.beta2 * v[i] + j.rest2 * g[i] * g[i]);
        w[i] -= j.rate * m[i] / (sqrtf(v[i]) * j.root + j.epsilon);
    }
}

void wr_adam_step(struct wr_pool *pool, const struct wr_adam *a, uint64_t step,
                  const struct wr_adam_state *state)
{
    double t = (double)step;
    struct adam_job job = {
        .state = state,
        .beta1 = (float)a->beta1,
        .beta2 = (float)a->beta2,
        .rest1 = (float)(1 - a->beta1),
        .rest2 = (float)(1 - a->beta2),
        .rate = (float)(a->rate / (1 - pow(a->beta1, t))),
        .root = (float)(1 / sqrt(1 - pow(a->beta2, t))),
        .epsilon = (float)a->epsilon,
    };

    wr_pool_run(pool, (state->count + CHUNK - 1) / CHUNK, update, &job);
}
