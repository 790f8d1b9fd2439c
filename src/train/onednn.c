/* onednn.c - the engine of the module weir-onednn.so: oneDNN's primitives.
 * SPDX-License-Identifier: Apache-2.0 */
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/pool.h"
#include "train/engine_load.h"
#include "train/onednn_plan.h"

#define MAX_BATCH   65536u
#define MAX_THREADS 1024u

struct onednn {
    struct wr_dnnl_plan plan;
    int threads;
    bool is_forward; /* what backward needs is there */
};

static int check(const struct wr_engine_spec *spec, weir_err *err)
{
    if (!spec->batch || spec->batch > MAX_BATCH)
        return wr_fail(err, WEIR_EINVAL, "a batch of %u: must be from 1 to %u",
                       spec->batch, MAX_BATCH);
    if (!spec->threads || spec->threads > MAX_THREADS)
        return wr_fail(err, WEIR_EINVAL, "%u threads: must be from 1 to %u",
                       spec->threads, MAX_THREADS);
    return 0;
}

/* Whether so many threads can be had: OpenMP ends the process if not. */
static int try_threads(unsigned threads, weir_err *err)
{
    struct wr_pool *pool;
    int r = wr_pool_new(&pool, threads, "onednn", err);

    if (r == 0)
        wr_pool_free(pool);
    return r;
}

/* Starts OpenMP's threads with all signals blocked, which they inherit: those
 * belong to the program. */
static void start_threads(int threads)
{
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    omp_set_num_threads(threads);
#pragma omp parallel
    if (omp_get_thread_num() > 0)
        pthread_setname_np(pthread_self(), "weir-onednn");
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void onednn_close(void *engine)
{
    struct onednn *e = engine;

    if (!e)
        return;
    wr_dnnl_plan_done(&e->plan);
    free(e);
}

static int onednn_open(const struct wr_engine_spec *spec, void **ret,
                       weir_err *err)
{
    struct onednn *e;
    int r = check(spec, err);

    if (r < 0)
        return r;
    r = try_threads(spec->threads, err);
    if (r < 0)
        return r;
    e = calloc(1, sizeof(*e));
    if (!e)
        return wr_fail(err, WEIR_ENOMEM, "oneDNN: out of memory");
    e->threads = (int)spec->threads;
    start_threads(e->threads); /* primitives are made for so many */
    r = wr_dnnl_plan_init(&e->plan, spec, err);
    if (r < 0) {
        onednn_close(e);
        return r;
    }
    *ret = e;
    return 0;
}

/* `values` is what the layers' weights and biases, or if `grads` their
 * gradients, lie in. */
static int lend_params(struct wr_dnnl_plan *p, const float *values, bool grads,
                       weir_err *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < p->layer_count; i++) {
        struct wr_dnnl_layer *dl = &p->layers[i];
        const struct wr_layer *l = dl->layer;

        if (!dl->weights)
            continue;
        r = wr_dnnl_lend(grads ? dl->grad_weights : dl->weights,
                         values + l->weight, l->name, err);
        if (r == 0)
            r = wr_dnnl_lend(grads ? dl->grad_bias : dl->bias, values + l->bias,
                             l->name, err);
    }
    return r;
}

static int onednn_forward(void *engine, const float *params, const float *input,
                          float *logits, weir_err *err)
{
    struct onednn *e = engine;
    int r = lend_params(&e->plan, params, /* grads= */ false, err);

    if (r == 0)
        r = wr_dnnl_lend(e->plan.input, input, "the input", err);
    if (r == 0)
        r = wr_dnnl_lend(e->plan.logits, logits, "the logits", err);
    omp_set_num_threads(e->threads); /* a setting of the calling thread */
    if (r == 0)
        r = wr_dnnl_run(&e->plan.dnnl, &e->plan.forward, err);
    e->is_forward = r == 0;
    return r;
}

static int onednn_backward(void *engine, const float *params,
                           const float *dlogits, float *grads, weir_err *err)
{
    struct onednn *e = engine;
    int r;

    if (!e->is_forward)
        return wr_fail(err, WEIR_ESTATE,
                       "backward needs a forward before it, each time");
    e->is_forward = false;
    r = lend_params(&e->plan, params, /* grads= */ false, err);
    if (r == 0)
        r = lend_params(&e->plan, grads, /* grads= */ true, err);
    if (r == 0)
        r = wr_dnnl_lend(e->plan.grad_logits, dlogits,
                         "the gradient of the logits", err);
    omp_set_num_threads(e->threads);
    return r == 0 ? wr_dnnl_run(&e->plan.dnnl, &e->plan.backward, err) : r;
}

static const struct wr_engine_ops ops = {
    .name = "onednn",
    .open = onednn_open,
    .forward = onednn_forward,
    .backward = onednn_backward,
    .close = onednn_close,
};

/* The one symbol that the module exports. */
__attribute__((visibility("default")))
const struct wr_engine_module wr_engine_onednn = WR_ENGINE_MODULE(&ops);
