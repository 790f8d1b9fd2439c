/* onednn_run.c - oneDNN's objects, and programs: lists of primitives to run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/onednn_run.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"

/* --- operations described by the C API of oneDNN 2 or 3 --- */

/* The descriptors of an operation's tensors; those made here are in `own`. */
struct dnnl_tensors {
    dnnl_memory_desc_t own[4]; /* owned */
    wr_dnnl_desc src, weights, bias, dst;
};

/* What every operation takes besides the tensors. */
struct dnnl_request {
    dnnl_engine_t engine;
    const struct wr_dnnl_op *op;
    enum wr_dnnl_pass pass;
    const_dnnl_primitive_desc_t forward;
    dnnl_primitive_attr_t attr;
};

#if DNNL_VERSION_MAJOR >= 3

static const dnnl_dims_t dense_grid; /* a dilation of 0: no gaps */

static dnnl_status_t make_desc(const struct wr_dnnl_shape *shape,
                               dnnl_memory_desc_t *own, wr_dnnl_desc *ret)
{
    dnnl_status_t s = dnnl_memory_desc_create_with_tag(
        own, shape->ndims, shape->dims, dnnl_f32, shape->tag);

    *ret = *own;
    return s;
}

static void drop_desc(const dnnl_memory_desc_t *own)
{
    if (*own)
        dnnl_memory_desc_destroy(*own);
}

static dnnl_status_t append_relu(dnnl_post_ops_t post)
{
    return dnnl_post_ops_append_eltwise(post, dnnl_eltwise_relu, 0, 0);
}

static dnnl_status_t describe_conv(const struct dnnl_request *q,
                                   const struct dnnl_tensors *t,
                                   dnnl_primitive_desc_t *ret)
{
    const struct wr_dnnl_op *op = q->op;

    switch (q->pass) {
    case WR_DNNL_FORWARD:
        return dnnl_convolution_forward_primitive_desc_create(
            ret, q->engine, dnnl_forward_training, dnnl_convolution_direct,
            t->src, t->weights, t->bias, t->dst, op->stride, dense_grid,
            op->pad, op->pad, q->attr);
    case WR_DNNL_BACK_DATA:
        return dnnl_convolution_backward_data_primitive_desc_create(
            ret, q->engine, dnnl_convolution_direct, t->src, t->weights, t->dst,
            op->stride, dense_grid, op->pad, op->pad, q->forward, q->attr);
    default:
        return dnnl_convolution_backward_weights_primitive_desc_create(
            ret, q->engine, dnnl_convolution_direct, t->src, t->weights,
            t->bias, t->dst, op->stride, dense_grid, op->pad, op->pad,
            q->forward, q->attr);
    }
}

static dnnl_status_t describe_pool(const struct dnnl_request *q,
                                   const struct dnnl_tensors *t,
                                   dnnl_primitive_desc_t *ret)
{
    const struct wr_dnnl_op *op = q->op;

    if (q->pass == WR_DNNL_FORWARD)
        return dnnl_pooling_forward_primitive_desc_create(
            ret, q->engine, dnnl_forward_training, dnnl_pooling_max, t->src,
            t->dst, op->stride, op->kernel, dense_grid, op->pad, op->pad,
            q->attr);
    return dnnl_pooling_backward_primitive_desc_create(
        ret, q->engine, dnnl_pooling_max, t->src, t->dst, op->stride,
        op->kernel, dense_grid, op->pad, op->pad, q->forward, q->attr);
}

static dnnl_status_t describe_dense(const struct dnnl_request *q,
                                    const struct dnnl_tensors *t,
                                    dnnl_primitive_desc_t *ret)
{
    switch (q->pass) {
    case WR_DNNL_FORWARD:
        return dnnl_inner_product_forward_primitive_desc_create(
            ret, q->engine, dnnl_forward_training, t->src, t->weights, t->bias,
            t->dst, q->attr);
    case WR_DNNL_BACK_DATA:
        return dnnl_inner_product_backward_data_primitive_desc_create(
            ret, q->engine, t->src, t->weights, t->dst, q->forward, q->attr);
    default:
        return dnnl_inner_product_backward_weights_primitive_desc_create(
            ret, q->engine, t->src, t->weights, t->bias, t->dst, q->forward,
            q->attr);
    }
}

#else /* version 2 */

static dnnl_status_t make_desc(const struct wr_dnnl_shape *shape,
                               dnnl_memory_desc_t *own, wr_dnnl_desc *ret)
{
    *ret = own;
    return dnnl_memory_desc_init_by_tag(own, shape->ndims, shape->dims,
                                        dnnl_f32, shape->tag);
}

static void drop_desc(const dnnl_memory_desc_t *own)
{
}

static dnnl_status_t append_relu(dnnl_post_ops_t post)
{
    return dnnl_post_ops_append_eltwise(post, 1.0f, dnnl_eltwise_relu, 0, 0);
}

/* Of a description in a structure, if that was made (`s`). */
static dnnl_status_t describe_as(const struct dnnl_request *q, dnnl_status_t s,
                                 const void *what, dnnl_primitive_desc_t *ret)
{
    return s == dnnl_success ? dnnl_primitive_desc_create(ret, what, q->attr,
                                                          q->engine, q->forward)
                             : s;
}

static dnnl_status_t describe_conv(const struct dnnl_request *q,
                                   const struct dnnl_tensors *t,
                                   dnnl_primitive_desc_t *ret)
{
    const struct wr_dnnl_op *op = q->op;
    dnnl_convolution_desc_t d;
    dnnl_status_t s;

    if (q->pass == WR_DNNL_FORWARD)
        s = dnnl_convolution_forward_desc_init(
            &d, dnnl_forward_training, dnnl_convolution_direct, t->src,
            t->weights, t->bias, t->dst, op->stride, op->pad, op->pad);
    else if (q->pass == WR_DNNL_BACK_DATA)
        s = dnnl_convolution_backward_data_desc_init(
            &d, dnnl_convolution_direct, t->src, t->weights, t->dst, op->stride,
            op->pad, op->pad);
    else
        s = dnnl_convolution_backward_weights_desc_init(
            &d, dnnl_convolution_direct, t->src, t->weights, t->bias, t->dst,
            op->stride, op->pad, op->pad);
    return describe_as(q, s, &d, ret);
}

static dnnl_status_t describe_pool(const struct dnnl_request *q,
                                   const struct dnnl_tensors *t,
                                   dnnl_primitive_desc_t *ret)
{
    const struct wr_dnnl_op *op = q->op;
    dnnl_pooling_desc_t d;
    dnnl_status_t s;

    if (q->pass == WR_DNNL_FORWARD)
        s = dnnl_pooling_forward_desc_init(
            &d, dnnl_forward_training, dnnl_pooling_max, t->src, t->dst,
            op->stride, op->kernel, op->pad, op->pad);
    else
        s = dnnl_pooling_backward_desc_init(&d, dnnl_pooling_max, t->src,
                                            t->dst, op->stride, op->kernel,
                                            op->pad, op->pad);
    return describe_as(q, s, &d, ret);
}

static dnnl_status_t describe_dense(const struct dnnl_request *q,
                                    const struct dnnl_tensors *t,
                                    dnnl_primitive_desc_t *ret)
{
    dnnl_inner_product_desc_t d;
    dnnl_status_t s;

    if (q->pass == WR_DNNL_FORWARD)
        s = dnnl_inner_product_forward_desc_init(
            &d, dnnl_forward_training, t->src, t->weights, t->bias, t->dst);
    else if (q->pass == WR_DNNL_BACK_DATA)
        s = dnnl_inner_product_backward_data_desc_init(&d, t->src, t->weights,
                                                       t->dst);
    else
        s = dnnl_inner_product_backward_weights_desc_init(
            &d, t->src, t->weights, t->bias, t->dst);
    return describe_as(q, s, &d, ret);
}

#endif

/* --- of both --- */

static dnnl_status_t use_shape(const struct wr_dnnl_shape *shape,
                               dnnl_memory_desc_t *own, wr_dnnl_desc *ret)
{
    *ret = shape->exact;
    return shape->exact || !shape->ndims ? dnnl_success
                                         : make_desc(shape, own, ret);
}

static dnnl_status_t use_all(const struct wr_dnnl_op *op,
                             struct dnnl_tensors *t)
{
    dnnl_status_t s = use_shape(&op->src, &t->own[0], &t->src);

    if (s == dnnl_success)
        s = use_shape(&op->weights, &t->own[1], &t->weights);
    if (s == dnnl_success)
        s = use_shape(&op->bias, &t->own[2], &t->bias);
    if (s == dnnl_success)
        s = use_shape(&op->dst, &t->own[3], &t->dst);
    return s;
}

static dnnl_status_t fuse_relu(dnnl_primitive_attr_t attr)
{
    dnnl_post_ops_t post = NULL;
    dnnl_status_t s = dnnl_post_ops_create(&post);

    if (s == dnnl_success)
        s = append_relu(post);
    if (s == dnnl_success)
        s = dnnl_primitive_attr_set_post_ops(attr, post); /* a copy */
    if (post)
        dnnl_post_ops_destroy(post);
    return s;
}

dnnl_status_t wr_dnnl_describe(dnnl_engine_t engine,
                               const struct wr_dnnl_op *op,
                               enum wr_dnnl_pass pass,
                               const_dnnl_primitive_desc_t forward,
                               dnnl_primitive_desc_t *ret)
{
    struct dnnl_request q = {
        .engine = engine, .op = op, .pass = pass, .forward = forward};
    struct dnnl_tensors t = {0};
    dnnl_status_t s = use_all(op, &t);

    if (s == dnnl_success)
        s = dnnl_primitive_attr_create(&q.attr);
    if (s == dnnl_success && op->relu && pass == WR_DNNL_FORWARD)
        s = fuse_relu(q.attr);
    if (s == dnnl_success)
        s = op->kind == WR_LAYER_CONV   ? describe_conv(&q, &t, ret)
            : op->kind == WR_LAYER_POOL ? describe_pool(&q, &t, ret)
                                        : describe_dense(&q, &t, ret);
    if (q.attr)
        dnnl_primitive_attr_destroy(q.attr);
    for (int i = 0; i < 4; i++)
        drop_desc(&t.own[i]);
    return s;
}

/* A memory object of this shape without a buffer: it gets one for each run. */
static dnnl_status_t dnnl_border(dnnl_engine_t engine,
                                 const struct wr_dnnl_shape *shape,
                                 dnnl_memory_t *ret)
{
    dnnl_memory_desc_t own = {0};
    wr_dnnl_desc desc;
    dnnl_status_t s = use_shape(shape, &own, &desc);

    if (s == dnnl_success)
        s = dnnl_memory_create(ret, desc, engine, DNNL_MEMORY_NONE);
    drop_desc(&own);
    return s;
}

/* --- oneDNN's objects, and programs: lists of primitives to run --- */

/* Packed matrices, generated code, lists; and 64 MB of addresses for the arena
 * of each thread that allocates for the first time. */
#define HEADROOM ((size_t)256 << 20)

static const char *status_text(dnnl_status_t s)
{
    switch (s) {
    case dnnl_out_of_memory:
        return "out of memory";
    case dnnl_invalid_arguments:
        return "invalid arguments";
    case dnnl_unimplemented:
        return "not implemented for this processor";
    default:
        return "failed";
    }
}

int wr_dnnl_check(dnnl_status_t s, const char *call, const char *what,
                  weir_err *err)
{
    int code = s == dnnl_out_of_memory   ? WEIR_ENOMEM
               : s == dnnl_unimplemented ? WEIR_ENOTSUP
                                         : WEIR_ESTATE;

    if (s == dnnl_success)
        return 0;
    return wr_fail(err, code, "oneDNN: %s: %s: %s (status %d)", what, call,
                   status_text(s), (int)s);
}

int wr_dnnl_start(struct wr_dnnl *d, weir_err *err)
{
    int r = wr_dnnl_check(dnnl_engine_create(&d->engine, dnnl_cpu, 0),
                          "dnnl_engine_create", "the CPU", err);

    if (r < 0)
        return r;
    return wr_dnnl_check(
        dnnl_stream_create(&d->stream, d->engine, dnnl_stream_default_flags),
        "dnnl_stream_create", "the CPU", err);
}

void wr_dnnl_stop(struct wr_dnnl *d)
{
    for (size_t i = d->object_count; i-- > 0;) {
        struct wr_dnnl_object *o = &d->objects[i];

        if (o->primitive)
            dnnl_primitive_destroy(o->primitive);
        if (o->memory)
            dnnl_memory_destroy(o->memory);
        wr_big_free(o->buffer, o->bytes);
    }
    free(d->objects);
    if (d->stream)
        dnnl_stream_destroy(d->stream);
    if (d->engine)
        dnnl_engine_destroy(d->engine);
    *d = (struct wr_dnnl){0};
}

/* oneDNN ends the process where it lacks memory itself (exceptions, which C
 * cannot catch). So that as much is asked for beforehand, and given back. It is
 * not touched: this sees limits and strict overcommit, not a full machine. */
static int check_headroom(size_t bytes, const char *what, weir_err *err)
{
    char text[32];
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return wr_fail(err, WEIR_ENOMEM,
                       "oneDNN: %s: no memory for the %s that it may need",
                       what,
                       wr_format_bytes(text, sizeof(text), (double)bytes));
    munmap(p, bytes);
    return 0;
}

static int no_room(const char *what, weir_err *err)
{
    return wr_fail(err, WEIR_ENOMEM, "oneDNN: %s: out of memory", what);
}

/* A place in the list of what wr_dnnl_stop releases; NULL when memory is
 * short. */
static struct wr_dnnl_object *new_object(struct wr_dnnl *d)
{
    struct wr_dnnl_object *o;

    if (!wr_grow(&d->objects, &d->object_cap, d->object_count + 1,
                 sizeof(*d->objects)))
        return NULL;
    o = &d->objects[d->object_count++];
    *o = (struct wr_dnnl_object){0};
    return o;
}

int wr_dnnl_alloc(struct wr_dnnl *d, wr_dnnl_desc desc, const char *what,
                  dnnl_memory_t *ret, weir_err *err)
{
    size_t bytes = dnnl_memory_desc_get_size(desc);
    struct wr_dnnl_object *o = new_object(d);
    char more[32], held[32];
    int r;

    if (!o)
        return no_room(what, err);
    o->buffer = wr_big_alloc(bytes);
    if (!o->buffer)
        return wr_fail(err, WEIR_ENOMEM,
                       "oneDNN: %s: no memory for %s more; this engine has %s "
                       "already; a smaller batch or width needs less",
                       what, wr_format_bytes(more, sizeof(more), (double)bytes),
                       wr_format_bytes(held, sizeof(held), (double)d->bytes));
    o->bytes = bytes;
    d->bytes += bytes;
    r = wr_dnnl_check(
        dnnl_memory_create(&o->memory, desc, d->engine, o->buffer),
        "dnnl_memory_create", what, err);
    if (r == 0)
        *ret = o->memory;
    return r;
}

int wr_dnnl_foreign(struct wr_dnnl *d, const struct wr_dnnl_shape *shape,
                    const char *what, dnnl_memory_t *ret, weir_err *err)
{
    struct wr_dnnl_object *o = new_object(d);
    int r;

    if (!o)
        return no_room(what, err);
    r = wr_dnnl_check(dnnl_border(d->engine, shape, &o->memory),
                      "dnnl_memory_create", what, err);
    if (r == 0)
        *ret = o->memory;
    return r;
}

int wr_dnnl_lend(dnnl_memory_t memory, const float *buffer, const char *what,
                 weir_err *err)
{
    /* Memory objects know no const; what is only read is never written. */
    void *handle = (void *)(uintptr_t)buffer;

    return wr_dnnl_check(dnnl_memory_set_data_handle(memory, handle),
                         "dnnl_memory_set_data_handle", what, err);
}

wr_dnnl_desc wr_dnnl_desc_of(dnnl_memory_t memory)
{
    wr_dnnl_desc desc = NULL;

    dnnl_memory_get_memory_desc(memory, &desc); /* fails for NULL alone */
    return desc;
}

static int append(struct wr_dnnl_program *p, const struct wr_dnnl_step *step,
                  weir_err *err)
{
    if (!wr_grow(&p->steps, &p->cap, p->count + 1, sizeof(*p->steps)))
        return no_room(step->what, err);
    p->steps[p->count++] = *step;
    return 0;
}

int wr_dnnl_add(struct wr_dnnl *d, struct wr_dnnl_program *p,
                const_dnnl_primitive_desc_t pd, struct wr_dnnl_step *step,
                weir_err *err)
{
    struct wr_dnnl_object *o = new_object(d);
    int64_t own = 0; /* of the primitive, while it runs */
    int r;

    if (!o)
        return no_room(step->what, err);
    dnnl_primitive_desc_query(pd, dnnl_query_memory_consumption_s64, 0, &own);
    r = check_headroom(HEADROOM + (size_t)own, step->what, err);
    if (r < 0)
        return r;
    r = wr_dnnl_check(dnnl_primitive_create(&o->primitive, pd),
                      "dnnl_primitive_create", step->what, err);
    if (r < 0)
        return r;
    step->primitive = o->primitive;
    return append(p, step, err);
}

static float *buffer_of(dnnl_memory_t memory)
{
    void *handle = NULL;

    dnnl_memory_get_data_handle(memory, &handle);
    return handle;
}

int wr_dnnl_add_mask(struct wr_dnnl_program *p, const char *what,
                     dnnl_memory_t grad, dnnl_memory_t out, weir_err *err)
{
    size_t bytes = dnnl_memory_desc_get_size(wr_dnnl_desc_of(grad));
    struct wr_dnnl_step step = {.grad = buffer_of(grad),
                                .out = buffer_of(out),
                                .floats = bytes / sizeof(float)};

    snprintf(step.what, sizeof(step.what), "%s", what);
    return append(p, &step, err);
}

int wr_dnnl_add_reorder(struct wr_dnnl *d, struct wr_dnnl_program *p,
                        const char *what, const dnnl_memory_t from_to[2],
                        weir_err *err)
{
    struct wr_dnnl_step step = {
        .arg_count = 2,
        .args = {{DNNL_ARG_FROM, from_to[0]}, {DNNL_ARG_TO, from_to[1]}}};
    dnnl_primitive_desc_t pd = NULL;
    int r;

    snprintf(step.what, sizeof(step.what), "%s", what);
    r = wr_dnnl_check(dnnl_reorder_primitive_desc_create(
                          &pd, wr_dnnl_desc_of(from_to[0]), d->engine,
                          wr_dnnl_desc_of(from_to[1]), d->engine, NULL),
                      "dnnl_reorder_primitive_desc_create", what, err);
    if (r < 0)
        return r;
    r = wr_dnnl_add(d, p, pd, &step, err);
    dnnl_primitive_desc_destroy(pd);
    return r;
}

static void mask(const struct wr_dnnl_step *s)
{
    const float *out = s->out;
    float *grad = s->grad;
    size_t n = s->floats;

#pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++)
        grad[i] = out[i] > 0 ? grad[i] : 0;
}

int wr_dnnl_run(struct wr_dnnl *d, const struct wr_dnnl_program *p,
                weir_err *err)
{
    int r = check_headroom(HEADROOM, "a pass", err);

    for (size_t i = 0; i < p->count && r == 0; i++) {
        const struct wr_dnnl_step *s = &p->steps[i];

        if (s->primitive)
            r = wr_dnnl_check(dnnl_primitive_execute(s->primitive, d->stream,
                                                     s->arg_count, s->args),
                              "dnnl_primitive_execute", s->what, err);
        else
            mask(s);
    }
    if (r < 0)
        return r;
    return wr_dnnl_check(dnnl_stream_wait(d->stream), "dnnl_stream_wait",
                         "the CPU", err);
}

void wr_dnnl_program_done(struct wr_dnnl_program *p)
{
    free(p->steps);
    *p = (struct wr_dnnl_program){0};
}
