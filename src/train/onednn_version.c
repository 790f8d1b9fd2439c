/* onednn_version.c - operations described by the C API of oneDNN 2 or 3.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/onednn_version.h"

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

dnnl_status_t wr_dnnl_border(dnnl_engine_t engine,
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
