/* onednn.c - the engine of the module weir-onednn.so: oneDNN's primitives.
 * SPDX-License-Identifier: Apache-2.0 */
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/error.h"
#include "train/engine_load.h"
#include "train/onednn_plan.h"

struct onednn {
    struct wr_dnnl_plan plan;
    int threads;
};

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
    struct onednn *e = calloc(1, sizeof(*e));
    int r;

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

static int lend_weights(struct wr_dnnl_plan *p, const float *params,
                        weir_err *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < p->layer_count; i++) {
        struct wr_dnnl_layer *dl = &p->layers[i];
        const struct wr_layer *l = dl->layer;

        if (!dl->weights)
            continue;
        r = wr_dnnl_lend(dl->weights, params + l->weight, l->name, err);
        if (r == 0)
            r = wr_dnnl_lend(dl->bias, params + l->bias, l->name, err);
    }
    return r;
}

static int lend_gradients(struct wr_dnnl_plan *p, float *grads, weir_err *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < p->layer_count; i++) {
        struct wr_dnnl_layer *dl = &p->layers[i];
        const struct wr_layer *l = dl->layer;

        if (!dl->weights)
            continue;
        r = wr_dnnl_lend(dl->grad_weights, grads + l->weight, l->name, err);
        if (r == 0)
            r = wr_dnnl_lend(dl->grad_bias, grads + l->bias, l->name, err);
    }
    return r;
}

static int onednn_forward(void *engine, const float *params, const float *input,
                          float *logits, weir_err *err)
{
    struct onednn *e = engine;
    int r = lend_weights(&e->plan, params, err);

    if (r == 0)
        r = wr_dnnl_lend(e->plan.input, input, "the input", err);
    if (r == 0)
        r = wr_dnnl_lend(e->plan.logits, logits, "the logits", err);
    omp_set_num_threads(e->threads); /* a setting of the calling thread */
    return r == 0 ? wr_dnnl_run(&e->plan.dnnl, &e->plan.forward, err) : r;
}

static int onednn_backward(void *engine, const float *params,
                           const float *dlogits, float *grads, weir_err *err)
{
    struct onednn *e = engine;
    int r = lend_weights(&e->plan, params, err);

    if (r == 0)
        r = lend_gradients(&e->plan, grads, err);
    if (r == 0)
        r = wr_dnnl_lend(e->plan.grad_logits, dlogits,
                         "the gradient of the logits", err);
    omp_set_num_threads(e->threads);
    return r == 0 ? wr_dnnl_run(&e->plan.dnnl, &e->plan.backward, err) : r;
}

static const struct wr_engine_ops ops = {
    .name = "onednn",
    .help = "oneDNN, as PyTorch uses it: the fastest here",
    .open = onednn_open,
    .forward = onednn_forward,
    .backward = onednn_backward,
    .close = onednn_close,
};

/* The one symbol that the module exports. */
__attribute__((visibility("default")))
const struct wr_engine_module wr_engine_onednn = WR_ENGINE_MODULE(&ops);
