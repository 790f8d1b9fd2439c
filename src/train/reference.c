/* reference.c - the engine in plain C: no dependency, and repeatable bits.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The gradient of a layer's output takes the place of that output: backward
 * needs nothing of it but the signs. That halves the memory, and is why there
 * is one backward for each forward. */
#include "train/reference.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "train/compute.h"
#include "train/conv.h"
#include "train/layers.h"

#define MAX_BATCH 65536u

struct wr_reference {
    const struct wr_net *net; /* borrowed */
    struct wr_compute compute;
    const float *input;            /* borrowed between forward and backward */
    float *outs[WR_NET_LAYERS];    /* in `memory`; of the last layer NULL */
    uint8_t *picks[WR_NET_LAYERS]; /* of the pools, in `memory` */
    bool is_forward;               /* `outs` are outputs, not gradients */
    void *memory;                  /* owned: all of the above */
    size_t memory_size;
};

static size_t scratch_of(const struct wr_layer *l, uint32_t batch)
{
    switch (l->kind) {
    case WR_LAYER_CONV:
        return WR_MAX(wr_conv_scratch(l), wr_conv_grad_scratch());
    case WR_LAYER_DENSE:
        return wr_dense_scratch(batch);
    default:
        return 0;
    }
}

static size_t shared_of(const struct wr_layer *l, uint32_t batch)
{
    switch (l->kind) {
    case WR_LAYER_CONV:
        return WR_MAX(wr_conv_shared(l), wr_conv_grad_shared(l, batch));
    case WR_LAYER_DENSE:
        return wr_dense_shared(l, batch);
    default:
        return 0;
    }
}

/* The next `size` bytes of a plan, or of the memory once there is some. */
static void *carve(uint8_t *memory, size_t *at, size_t size)
{
    void *p = memory ? memory + *at : NULL;

    *at += WR_ALIGN_UP(size, (size_t)WR_CACHE_LINE);
    return p;
}

/* Called twice: to learn the size, and to place everything. */
static size_t lay_out(struct wr_reference *e)
{
    const struct wr_net *net = e->net;
    uint32_t batch = e->compute.batch;
    size_t at = 0, shared = 0, scratch = 0;

    for (size_t i = 0; i < net->layer_count; i++) {
        const struct wr_layer *l = &net->layers[i];
        size_t n = batch * wr_layer_out_count(l);

        if (i + 1 < net->layer_count)
            e->outs[i] = carve(e->memory, &at, n * sizeof(float));
        if (l->kind == WR_LAYER_POOL)
            e->picks[i] = carve(e->memory, &at, n);
        shared = WR_MAX(shared, shared_of(l, batch));
        scratch = WR_MAX(scratch, scratch_of(l, batch));
    }
    e->compute.scratch_count = wr_lines(scratch);
    e->compute.shared = carve(e->memory, &at, shared * sizeof(float));
    e->compute.scratch = carve(e->memory, &at,
                               e->compute.scratch_count * sizeof(float) *
                                   wr_pool_threads(e->compute.pool));
    return at;
}

static int check(const struct wr_engine_spec *spec, weir_err *err)
{
    if (!spec->batch || spec->batch > MAX_BATCH)
        return wr_fail(err, WEIR_EINVAL, "a batch of %u: must be from 1 to %u",
                       spec->batch, MAX_BATCH);
    for (size_t i = 1; i < spec->net->layer_count; i++)
        if (spec->net->layers[i].kind == WR_LAYER_CONV &&
            spec->net->layers[i].stride != 1)
            return wr_fail(err, WEIR_ENOTSUP,
                           "%s: a stride above 1 is supported in the first "
                           "layer only",
                           spec->net->layers[i].name);
    return 0;
}

static void reference_close(void *engine)
{
    struct wr_reference *e = engine;

    if (!e)
        return;
    wr_pool_free(e->compute.pool);
    wr_big_free(e->memory, e->memory_size);
    free(e);
}

/* Address space is granted beyond what there is, and a process that uses it is
 * killed: ask for no more than the machine has. */
static void *allocate_some(size_t size)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

    if (pages > 0 && page > 0 && size / (size_t)page >= (size_t)pages)
        return NULL;
    return wr_big_alloc(size);
}

static int allocate(struct wr_reference *e, weir_err *err)
{
    e->memory_size = lay_out(e);
    e->memory = allocate_some(e->memory_size);
    if (!e->memory)
        return wr_fail(err, WEIR_ENOMEM,
                       "no memory for a batch of %u in the network (%zu MB)",
                       e->compute.batch, e->memory_size / 1000000);
    lay_out(e);
    return 0;
}

static int reference_open(const struct wr_engine_spec *spec, void **ret,
                          weir_err *err)
{
    struct wr_reference *e;
    int r = check(spec, err);

    if (r < 0)
        return r;
    e = calloc(1, sizeof(*e));
    if (!e)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    e->net = spec->net;
    e->compute.batch = spec->batch;
    r = wr_pool_new(&e->compute.pool, spec->threads, "compute", err);
    if (r == 0)
        r = allocate(e, err);
    if (r < 0) {
        reference_close(e);
        return r;
    }
    *ret = e;
    return 0;
}

static int reference_forward(void *engine, const float *params,
                             const float *input, float *logits, weir_err *err)
{
    struct wr_reference *e = engine;
    const struct wr_compute *c = &e->compute;
    const float *x = input;

    for (size_t i = 0; i < e->net->layer_count; i++) {
        const struct wr_layer *l = &e->net->layers[i];
        float *y = i + 1 < e->net->layer_count ? e->outs[i] : logits;

        if (l->kind == WR_LAYER_CONV)
            wr_conv_forward(c, l, params, x, y);
        else if (l->kind == WR_LAYER_POOL)
            wr_maxpool_forward(c, l, x, y, e->picks[i]);
        else
            wr_dense_forward(c, l, params, x, y);
        x = y;
    }
    e->input = input;
    e->is_forward = true;
    return 0;
}

/* Gradients of layer i from that of its output, which then replaces the
 * output of the layer before. A pool's output is above 0 where what it chose
 * is: so its sign tells what the ReLU before it passed. */
static void layer_backward(struct wr_reference *e, size_t i,
                           const float *params, const float *dy, float *grads)
{
    const struct wr_compute *c = &e->compute;
    const struct wr_layer *l = &e->net->layers[i];
    const float *x = i ? e->outs[i - 1] : e->input;

    if (l->kind == WR_LAYER_POOL) {
        wr_maxpool_backward(c, l, dy, e->picks[i], e->outs[i - 1]);
    } else if (l->kind == WR_LAYER_CONV) {
        wr_conv_grad(c, l, x, dy, grads);
        if (i)
            wr_conv_input(c, l, params, dy, e->outs[i - 1]);
    } else {
        wr_dense_grad(c, l, x, dy, grads);
        if (i)
            wr_dense_input(c, l, params, dy, e->outs[i - 1]);
    }
}

static int reference_backward(void *engine, const float *params,
                              const float *dlogits, float *grads, weir_err *err)
{
    struct wr_reference *e = engine;

    if (!wr_engine_use_forward(&e->is_forward, err))
        return WEIR_ESTATE;
    for (size_t i = e->net->layer_count; i-- > 0;)
        layer_backward(e, i, params,
                       i + 1 < e->net->layer_count ? e->outs[i] : dlogits,
                       grads);
    return 0;
}

const struct wr_engine_ops wr_engine_reference = {
    .name = "reference",
    .open = reference_open,
    .forward = reference_forward,
    .backward = reference_backward,
    .close = reference_close,
};
