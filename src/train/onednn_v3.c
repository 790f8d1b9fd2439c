/* onednn_v3.c - operations described by the C API of oneDNN 3.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/onednn_version.h"

/* The descriptors of an operation's tensors; those made here are in `own`. */
struct v3_tensors {
    dnnl_memory_desc_t own[4]; /* owned */
    wr_dnnl_desc src, weights, bias, dst;
};

static const dnnl_dims_t dense_grid; /* a dilation of 0: no gaps */

static dnnl_status_t use(const struct wr_dnnl_shape *shape,
                         dnnl_memory_desc_t *own, wr_dnnl_desc *ret)
{
    dnnl_status_t s = dnnl_success;

    if (!shape->exact && shape->ndims)
        s = dnnl_memory_desc_create_with_tag(own, shape->ndims, shape->dims,
                                             dnnl_f32, shape->tag);
    *ret = shape->exact ? shape->exact : *own;
    return s;
}

static dnnl_status_t use_all(const struct wr_dnnl_op *op, struct v3_tensors *t)
{
    dnnl_status_t s = use(&op->src, &t->own[0], &t->src);

    if (s == dnnl_success)
        s = use(&op->weights, &t->own[1], &t->weights);
    if (s == dnnl_success)
        s = use(&op->bias, &t->own[2], &t->bias);
    if (s == dnnl_success)
        s = use(&op->dst, &t->own[3], &t->dst);
    return s;
}

static void unuse_all(struct v3_tensors *t)
{
    for (int i = 0; i < 4; i++)
        if (t->own[i])
            dnnl_memory_desc_destroy(t->own[i]);
}

/* What every call below takes besides the tensors. */
struct v3_request {
    dnnl_engine_t engine;
    const struct wr_dnnl_op *op;
    const_dnnl_primitive_desc_t forward;
    dnnl_primitive_attr_t attr;
};

static dnnl_status_t describe_conv(const struct v3_request *q,
                                   enum wr_dnnl_pass pass,
                                   const struct v3_tensors *t,
                                   dnnl_primitive_desc_t *ret)
{
    const struct wr_dnnl_op *op = q->op;

    switch (pass) {
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

static dnnl_status_t describe_pool(const struct v3_request *q,
                                   enum wr_dnnl_pass pass,
                                   const struct v3_tensors *t,
                                   dnnl_primitive_desc_t *ret)
{
    const struct wr_dnnl_op *op = q->op;

    if (pass == WR_DNNL_FORWARD)
        return dnnl_pooling_forward_primitive_desc_create(
            ret, q->engine, dnnl_forward_training, dnnl_pooling_max, t->src,
            t->dst, op->stride, op->kernel, dense_grid, op->pad, op->pad,
            q->attr);
    return dnnl_pooling_backward_primitive_desc_create(
        ret, q->engine, dnnl_pooling_max, t->src, t->dst, op->stride,
        op->kernel, dense_grid, op->pad, op->pad, q->forward, q->attr);
}

static dnnl_status_t describe_dense(const struct v3_request *q,
                                    enum wr_dnnl_pass pass,
                                    const struct v3_tensors *t,
                                    dnnl_primitive_desc_t *ret)
{
    switch (pass) {
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

static dnnl_status_t fuse_relu(dnnl_primitive_attr_t attr)
{
    dnnl_post_ops_t post = NULL;
    dnnl_status_t s = dnnl_post_ops_create(&post);

    if (s == dnnl_success)
        s = dnnl_post_ops_append_eltwise(post, dnnl_eltwise_relu, 0, 0);
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
    struct v3_request q = {.engine = engine, .op = op, .forward = forward};
    struct v3_tensors t = {0};
    dnnl_status_t s = use_all(op, &t);

    if (s == dnnl_success)
        s = dnnl_primitive_attr_create(&q.attr);
    if (s == dnnl_success && op->relu && pass == WR_DNNL_FORWARD)
        s = fuse_relu(q.attr);
    if (s == dnnl_success)
        s = op->kind == WR_LAYER_CONV   ? describe_conv(&q, pass, &t, ret)
            : op->kind == WR_LAYER_POOL ? describe_pool(&q, pass, &t, ret)
                                        : describe_dense(&q, pass, &t, ret);
    if (q.attr)
        dnnl_primitive_attr_destroy(q.attr);
    unuse_all(&t);
    return s;
}

dnnl_status_t wr_dnnl_border(dnnl_engine_t engine,
                             const struct wr_dnnl_shape *shape,
                             dnnl_memory_t *ret)
{
    dnnl_memory_desc_t own = NULL;
    wr_dnnl_desc desc;
    dnnl_status_t s = use(shape, &own, &desc);

    if (s == dnnl_success)
        s = dnnl_memory_create(ret, desc, engine, DNNL_MEMORY_NONE);
    if (own)
        dnnl_memory_desc_destroy(own);
    return s;
}
