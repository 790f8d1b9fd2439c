/* onednn.c - the engine of the module weir-onednn.so: oneDNN's primitives.
 * SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/pool.h"
#include "train/engine.h"
#include "train/onednn_run.h"

/* A layer, and the memory around it. Where a primitive wants another layout
 * than its input has, there are two: as it comes, and as it is used. */
struct wr_dnnl_layer {
    const struct wr_layer *layer;          /* borrowed from the net */
    dnnl_primitive_desc_t forward;         /* owned, while planning */
    dnnl_memory_t weights, bias;           /* the caller's, at each run */
    dnnl_memory_t grad_weights, grad_bias; /* likewise */
    dnnl_memory_t src, src_used;
    dnnl_memory_t weights_used;
    dnnl_memory_t dst;
    dnnl_memory_t workspace; /* of a pool: where its maxima were */
};

struct wr_dnnl_plan {
    struct wr_dnnl dnnl;
    struct wr_dnnl_layer layers[WR_NET_LAYERS];
    size_t layer_count;
    uint32_t batch;
    dnnl_memory_t input, logits, grad_logits; /* the caller's, at each run */
    struct wr_dnnl_program forward, backward;
};

/* Memory as it is, and the layout it is wanted in. */
struct layout_wish {
    struct wr_dnnl_program *program; /* that gets the reorder, if any */
    dnnl_memory_t from, also; /* `also` (or NULL) has the same contents */
    wr_dnnl_desc want;
    const char *layer, *what; /* for messages */
};

#define MAX_BATCH   65536u
#define MAX_THREADS 1024u

struct onednn {
    struct wr_dnnl_plan plan;
    int threads;
    bool is_forward; /* what backward needs is there */
};

/* --- the network as primitives ---
 *
 * Primitives choose the layouts that suit the processor (blocks of 8 or 16
 * channels); a reorder is planned only where two neighbours disagree. The
 * weights of dense layers, nine tenths of all, are used as they are: a copy in
 * another layout costs more than it saves. */

static wr_dnnl_desc ask(const_dnnl_primitive_desc_t pd, dnnl_query_t what)
{
    return dnnl_primitive_desc_query_md(pd, what, 0);
}

static bool fits(dnnl_memory_t memory, wr_dnnl_desc want)
{
    return memory && dnnl_memory_desc_equal(wr_dnnl_desc_of(memory), want);
}

static int grant(struct wr_dnnl *d, const struct layout_wish *w,
                 dnnl_memory_t *ret, weir_err *err)
{
    dnnl_memory_t copy;
    char name[48];
    int r;

    if (fits(w->from, w->want) || fits(w->also, w->want)) {
        *ret = fits(w->from, w->want) ? w->from : w->also;
        return 0;
    }
    snprintf(name, sizeof(name), "%s reorder of %s", w->layer, w->what);
    r = wr_dnnl_alloc(d, w->want, name, &copy, err);
    if (r == 0)
        r = wr_dnnl_add_reorder(d, w->program, name,
                                (dnnl_memory_t[2]){w->from, copy}, err);
    if (r == 0)
        *ret = copy;
    return r;
}

static struct wr_dnnl_shape spatial(uint32_t n, const uint32_t chw[3])
{
    return (struct wr_dnnl_shape){.ndims = 4,
                                  .dims = {n, chw[0], chw[1], chw[2]},
                                  .tag = dnnl_format_tag_any};
}

static struct wr_dnnl_shape flat(uint32_t n, uint32_t c)
{
    return (struct wr_dnnl_shape){.ndims = 2, .dims = {n, c}, .tag = dnnl_nc};
}

/* Weights as the caller has them: [out][row][column][in]. A dense layer behind
 * one with rows and columns has a kernel as large as its input. */
static struct wr_dnnl_shape caller_weights(const struct wr_layer *l,
                                           bool is_flat)
{
    bool conv = l->kind == WR_LAYER_CONV;
    uint32_t kernel[] = {l->in_c, conv ? l->kernel : l->in_h,
                         conv ? l->kernel : l->in_w};
    struct wr_dnnl_shape s = spatial(l->out_c, kernel);

    if (is_flat)
        return flat(l->out_c, l->in_c);
    s.tag = dnnl_ohwi;
    return s;
}

static void windows(const struct wr_layer *l, struct wr_dnnl_op *op)
{
    for (int i = 0; i < 2; i++) {
        op->kernel[i] = l->kernel;
        op->stride[i] = l->stride;
        op->pad[i] = l->pad;
    }
}

static bool behind_dense(const struct wr_dnnl_plan *p, size_t i)
{
    return i > 0 && p->layers[i - 1].layer->kind == WR_LAYER_DENSE;
}

/* The operation of layer i, with its source and everything else as the
 * primitive likes it, but for dense layers' weights and what is flat. */
static struct wr_dnnl_op operation(const struct wr_dnnl_plan *p, size_t i)
{
    const struct wr_layer *l = p->layers[i].layer;
    bool dense = l->kind == WR_LAYER_DENSE, is_flat = behind_dense(p, i);
    struct wr_dnnl_op op = {.kind = l->kind, .relu = l->relu};

    op.src = is_flat
                 ? flat(p->batch, l->in_c)
                 : spatial(p->batch, (uint32_t[]){l->in_c, l->in_h, l->in_w});
    op.dst = dense ? flat(p->batch, l->out_c)
                   : spatial(p->batch,
                             (uint32_t[]){l->out_c, l->out_h, l->out_w});
    windows(l, &op);
    if (l->kind == WR_LAYER_POOL) { /* wants its input told */
        op.src.exact = wr_dnnl_desc_of(p->layers[i].src);
        return op;
    }
    op.weights = caller_weights(l, is_flat);
    if (!dense)
        op.weights.tag = dnnl_format_tag_any;
    op.bias = (struct wr_dnnl_shape){
        .ndims = 1, .dims = {l->out_c}, .tag = dnnl_x};
    return op;
}

static int describe(struct wr_dnnl_plan *p, size_t i, enum wr_dnnl_pass pass,
                    dnnl_primitive_desc_t *ret, weir_err *err)
{
    static const char *const names[] = {"forward", "gradient of the data",
                                        "gradient of the weights"};
    struct wr_dnnl_layer *dl = &p->layers[i];
    struct wr_dnnl_op op = operation(p, i);
    char what[48];

    if (op.kind == WR_LAYER_POOL && pass != WR_DNNL_FORWARD)
        op.dst.exact = wr_dnnl_desc_of(dl->dst);
    snprintf(what, sizeof(what), "%s %s", dl->layer->name, names[pass]);
    return wr_dnnl_check(
        wr_dnnl_describe(p->dnnl.engine, &op, pass, dl->forward, ret),
        "dnnl_primitive_desc_create", what, err);
}

/* The memory of layer i that is the caller's. */
static int meet_caller(struct wr_dnnl_plan *p, size_t i, weir_err *err)
{
    struct wr_dnnl_layer *dl = &p->layers[i];
    const struct wr_layer *l = dl->layer;
    struct wr_dnnl_shape w = caller_weights(l, behind_dense(p, i));
    struct wr_dnnl_shape b = {.ndims = 1, .dims = {l->out_c}, .tag = dnnl_x};
    struct wr_dnnl *d = &p->dnnl;
    int r;

    if (l->kind == WR_LAYER_POOL)
        return 0;
    r = wr_dnnl_foreign(d, &w, l->name, &dl->weights, err);
    if (r == 0)
        r = wr_dnnl_foreign(d, &b, l->name, &dl->bias, err);
    if (r == 0)
        r = wr_dnnl_foreign(d, &w, l->name, &dl->grad_weights, err);
    if (r == 0)
        r = wr_dnnl_foreign(d, &b, l->name, &dl->grad_bias, err);
    return r;
}

static struct wr_dnnl_step new_step(const struct wr_dnnl_layer *dl,
                                    const char *what)
{
    struct wr_dnnl_step step = {0};

    snprintf(step.what, sizeof(step.what), "%s %s", dl->layer->name, what);
    return step;
}

static void argue(struct wr_dnnl_step *step, int name, dnnl_memory_t memory)
{
    assert(step->arg_count < WR_DNNL_ARGS);
    step->args[step->arg_count++] = (dnnl_exec_arg_t){name, memory};
}

/* Source and weights as the forward pass wants them. */
static int supply(struct wr_dnnl_plan *p, struct wr_dnnl_layer *dl,
                  weir_err *err)
{
    struct layout_wish w = {.program = &p->forward,
                            .from = dl->src,
                            .want = ask(dl->forward, dnnl_query_src_md),
                            .layer = dl->layer->name,
                            .what = "the data"};
    int r = grant(&p->dnnl, &w, &dl->src_used, err);

    if (r < 0 || dl->layer->kind == WR_LAYER_POOL)
        return r;
    w.from = dl->weights;
    w.want = ask(dl->forward, dnnl_query_weights_md);
    w.what = "the weights";
    return grant(&p->dnnl, &w, &dl->weights_used, err);
}

static int add_forward(struct wr_dnnl_plan *p, struct wr_dnnl_layer *dl,
                       weir_err *err)
{
    struct wr_dnnl_step step = new_step(dl, "forward");
    bool pool = dl->layer->kind == WR_LAYER_POOL;

    argue(&step, DNNL_ARG_SRC, dl->src_used);
    argue(&step, DNNL_ARG_DST, dl->dst);
    if (pool) {
        argue(&step, DNNL_ARG_WORKSPACE, dl->workspace);
    } else {
        argue(&step, DNNL_ARG_WEIGHTS, dl->weights_used);
        argue(&step, DNNL_ARG_BIAS, dl->bias);
    }
    return wr_dnnl_add(&p->dnnl, &p->forward, dl->forward, &step, err);
}

static int plan_forward(struct wr_dnnl_plan *p, size_t i, weir_err *err)
{
    struct wr_dnnl_layer *dl = &p->layers[i];
    const char *name = dl->layer->name;
    int r;

    dl->src = i ? p->layers[i - 1].dst : p->input;
    r = describe(p, i, WR_DNNL_FORWARD, &dl->forward, err);
    if (r == 0)
        r = meet_caller(p, i, err);
    if (r == 0)
        r = supply(p, dl, err);
    if (r == 0 && i + 1 == p->layer_count)
        dl->dst = p->logits;
    else if (r == 0)
        r = wr_dnnl_alloc(&p->dnnl, ask(dl->forward, dnnl_query_dst_md), name,
                          &dl->dst, err);
    if (r == 0 && dl->layer->kind == WR_LAYER_POOL)
        r = wr_dnnl_alloc(&p->dnnl, ask(dl->forward, dnnl_query_workspace_md),
                          name, &dl->workspace, err);
    return r == 0 ? add_forward(p, dl, err) : r;
}

/* Through the ReLU: the gradient of the layer's output becomes that of what
 * was before it, in place. */
static int plan_mask(struct wr_dnnl_plan *p, struct wr_dnnl_layer *dl,
                     dnnl_memory_t *grad, weir_err *err)
{
    struct layout_wish w = {.program = &p->backward,
                            .from = *grad,
                            .want = wr_dnnl_desc_of(dl->dst),
                            .layer = dl->layer->name,
                            .what = "the gradient"};
    int r = grant(&p->dnnl, &w, grad, err);

    if (r < 0)
        return r;
    return wr_dnnl_add_mask(&p->backward, dl->layer->name, *grad, dl->dst, err);
}

/* The gradients of weights and bias; *also is the gradient as it was used. */
static int plan_weights(struct wr_dnnl_plan *p, size_t i, dnnl_memory_t grad,
                        dnnl_memory_t *also, weir_err *err)
{
    struct wr_dnnl_layer *dl = &p->layers[i];
    struct wr_dnnl_step step = new_step(dl, "gradient of the weights");
    struct layout_wish w = {.program = &p->backward, .layer = dl->layer->name};
    dnnl_memory_t src = NULL, out = dl->grad_weights;
    dnnl_primitive_desc_t pd = NULL;
    wr_dnnl_desc out_desc;
    int r = describe(p, i, WR_DNNL_BACK_WEIGHTS, &pd, err);

    if (r < 0)
        return r;
    w.from = dl->src, w.also = dl->src_used, w.what = "the data";
    w.want = ask(pd, dnnl_query_src_md);
    r = grant(&p->dnnl, &w, &src, err);
    w.from = grad, w.also = NULL, w.what = "the gradient";
    w.want = ask(pd, dnnl_query_diff_dst_md);
    if (r == 0)
        r = grant(&p->dnnl, &w, also, err);
    out_desc = ask(pd, dnnl_query_diff_weights_md);
    if (r == 0 && !fits(out, out_desc))
        r = wr_dnnl_alloc(&p->dnnl, out_desc, step.what, &out, err);
    argue(&step, DNNL_ARG_SRC, src);
    argue(&step, DNNL_ARG_DIFF_DST, *also);
    argue(&step, DNNL_ARG_DIFF_WEIGHTS, out);
    argue(&step, DNNL_ARG_DIFF_BIAS, dl->grad_bias);
    if (r == 0)
        r = wr_dnnl_add(&p->dnnl, &p->backward, pd, &step, err);
    if (r == 0 && out != dl->grad_weights)
        r = wr_dnnl_add_reorder(&p->dnnl, &p->backward, step.what,
                                (dnnl_memory_t[2]){out, dl->grad_weights}, err);
    dnnl_primitive_desc_destroy(pd);
    return r;
}

/* What the primitive of the data's gradient reads besides the gradient. */
static int supply_data(struct wr_dnnl_plan *p, struct wr_dnnl_layer *dl,
                       const_dnnl_primitive_desc_t pd,
                       struct wr_dnnl_step *step, weir_err *err)
{
    struct layout_wish w = {.program = &p->backward,
                            .from = dl->weights,
                            .also = dl->weights_used,
                            .layer = dl->layer->name,
                            .what = "the weights"};
    dnnl_memory_t weights;
    int r;

    if (dl->layer->kind == WR_LAYER_POOL) {
        argue(step, DNNL_ARG_WORKSPACE, dl->workspace);
        return 0;
    }
    w.want = ask(pd, dnnl_query_weights_md);
    r = grant(&p->dnnl, &w, &weights, err);
    if (r == 0)
        argue(step, DNNL_ARG_WEIGHTS, weights);
    return r;
}

/* The gradient of the layer's input: *grad, for the layer before. */
static int plan_data(struct wr_dnnl_plan *p, size_t i, dnnl_memory_t also,
                     dnnl_memory_t *grad, weir_err *err)
{
    struct wr_dnnl_layer *dl = &p->layers[i];
    struct wr_dnnl_step step = new_step(dl, "gradient of the data");
    dnnl_primitive_desc_t pd = NULL;
    dnnl_memory_t dst = NULL, src = NULL;
    struct layout_wish w = {.program = &p->backward,
                            .from = *grad,
                            .also = also,
                            .layer = dl->layer->name,
                            .what = "the gradient"};
    int r = describe(p, i, WR_DNNL_BACK_DATA, &pd, err);

    if (r < 0)
        return r;
    w.want = ask(pd, dnnl_query_diff_dst_md);
    r = grant(&p->dnnl, &w, &dst, err);
    if (r == 0)
        r = supply_data(p, dl, pd, &step, err);
    if (r == 0)
        r = wr_dnnl_alloc(&p->dnnl, ask(pd, dnnl_query_diff_src_md), step.what,
                          &src, err);
    argue(&step, DNNL_ARG_DIFF_DST, dst);
    argue(&step, DNNL_ARG_DIFF_SRC, src);
    if (r == 0)
        r = wr_dnnl_add(&p->dnnl, &p->backward, pd, &step, err);
    dnnl_primitive_desc_destroy(pd);
    if (r == 0)
        *grad = src;
    return r;
}

static int plan_backward(struct wr_dnnl_plan *p, size_t i, dnnl_memory_t *grad,
                         weir_err *err)
{
    struct wr_dnnl_layer *dl = &p->layers[i];
    dnnl_memory_t also = NULL;
    int r = 0;

    if (dl->layer->relu)
        r = plan_mask(p, dl, grad, err);
    if (r == 0 && dl->layer->kind != WR_LAYER_POOL)
        r = plan_weights(p, i, *grad, &also, err);
    if (r == 0 && i > 0) /* nobody asks for the gradient of the pictures */
        r = plan_data(p, i, also, grad, err);
    return r;
}

static int plan_borders(struct wr_dnnl_plan *p, const struct wr_net *net,
                        weir_err *err)
{
    const struct wr_net_spec *s = &net->spec;
    struct wr_dnnl_shape in = spatial(
        p->batch, (uint32_t[]){s->channels, s->height, s->cols});
    struct wr_dnnl_shape out = flat(p->batch, s->classes);
    int r;

    in.tag = dnnl_nhwc;
    r = wr_dnnl_foreign(&p->dnnl, &in, "the input", &p->input, err);
    if (r == 0)
        r = wr_dnnl_foreign(&p->dnnl, &out, "the logits", &p->logits, err);
    if (r == 0)
        r = wr_dnnl_foreign(&p->dnnl, &out, "the gradient of the logits",
                            &p->grad_logits, err);
    return r;
}

/* Plans both passes and allocates what lies between them. dnnl_plan_done
 * takes a plan in any state after it was zeroed. */
static int dnnl_plan_init(struct wr_dnnl_plan *p,
                          const struct wr_engine_spec *spec, weir_err *err)
{
    dnnl_memory_t grad;
    int r;

    p->batch = spec->batch;
    p->layer_count = spec->net->layer_count;
    for (size_t i = 0; i < p->layer_count; i++)
        p->layers[i].layer = &spec->net->layers[i];
    r = wr_dnnl_start(&p->dnnl, err);
    if (r == 0)
        r = plan_borders(p, spec->net, err);
    for (size_t i = 0; r == 0 && i < p->layer_count; i++)
        r = plan_forward(p, i, err);
    grad = p->grad_logits;
    for (size_t i = p->layer_count; r == 0 && i-- > 0;)
        r = plan_backward(p, i, &grad, err);
    return r;
}

static void dnnl_plan_done(struct wr_dnnl_plan *p)
{
    for (size_t i = 0; i < p->layer_count; i++)
        if (p->layers[i].forward)
            dnnl_primitive_desc_destroy(p->layers[i].forward);
    wr_dnnl_program_done(&p->forward);
    wr_dnnl_program_done(&p->backward);
    wr_dnnl_stop(&p->dnnl);
}

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
    dnnl_plan_done(&e->plan);
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
    r = dnnl_plan_init(&e->plan, spec, err);
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

    if (!wr_engine_use_forward(&e->is_forward, err))
        return WEIR_ESTATE;
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
