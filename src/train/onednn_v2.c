/* onednn_v2.c - operations described by the C API of oneDNN 2.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/onednn_version.h"

/* The descriptors of an operation's tensors; `own` is where those are that are
 * made here. */
struct v2_tensors {
    dnnl_memory_desc_t own[4];
    wr_dnnl_desc src, weights, bias, dst;
};

union v2_description {
    dnnl_convolution_desc_t conv;
    dnnl_pooling_desc_t pool;
    dnnl_inner_product_desc_t dense;
};

static dnnl_status_t use(const struct wr_dnnl_shape *shape,
                         dnnl_memory_desc_t *own, wr_dnnl_desc *ret)
{
    *ret = shape->exact ? shape->exact : own;
    if (shape->exact || !shape->ndims)
        return dnnl_success;
    return dnnl_memory_desc_init_by_tag(own, shape->ndims, shape->dims,
                                        dnnl_f32, shape->tag);
}

static dnnl_status_t use_all(const struct wr_dnnl_op *op, struct v2_tensors *t)
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

static dnnl_status_t describe_conv(const struct wr_dnnl_op *op,
                                   enum wr_dnnl_pass pass,
                                   const struct v2_tensors *t,
                                   dnnl_convolution_desc_t *ret)
{
    switch (pass) {
    case WR_DNNL_FORWARD:
        return dnnl_convolution_forward_desc_init(
            ret, dnnl_forward_training, dnnl_convolution_direct, t->src,
            t->weights, t->bias, t->dst, op->stride, op->pad, op->pad);
    case WR_DNNL_BACK_DATA:
        return dnnl_convolution_backward_data_desc_init(
            ret, dnnl_convolution_direct, t->src, t->weights, t->dst,
            op->stride, op->pad, op->pad);
    default:
        return dnnl_convolution_backward_weights_desc_init(
            ret, dnnl_convolution_direct, t->src, t->weights, t->bias, t->dst,
            op->stride, op->pad, op->pad);
    }
}

static dnnl_status_t describe_pool(const struct wr_dnnl_op *op,
                                   enum wr_dnnl_pass pass,
                                   const struct v2_tensors *t,
                                   dnnl_pooling_desc_t *ret)
{
    if (pass == WR_DNNL_FORWARD)
        return dnnl_pooling_forward_desc_init(
            ret, dnnl_forward_training, dnnl_pooling_max, t->src, t->dst,
            op->stride, op->kernel, op->pad, op->pad);
    return dnnl_pooling_backward_desc_init(ret, dnnl_pooling_max, t->src,
                                           t->dst, op->stride, op->kernel,
                                           op->pad, op->pad);
}

static dnnl_status_t describe_dense(enum wr_dnnl_pass pass,
                                    const struct v2_tensors *t,
                                    dnnl_inner_product_desc_t *ret)
{
    switch (pass) {
    case WR_DNNL_FORWARD:
        return dnnl_inner_product_forward_desc_init(
            ret, dnnl_forward_training, t->src, t->weights, t->bias, t->dst);
    case WR_DNNL_BACK_DATA:
        return dnnl_inner_product_backward_data_desc_init(ret, t->src,
                                                          t->weights, t->dst);
    default:
        return dnnl_inner_product_backward_weights_desc_init(
            ret, t->src, t->weights, t->bias, t->dst);
    }
}

static dnnl_status_t fuse_relu(dnnl_primitive_attr_t attr)
{
    dnnl_post_ops_t post = NULL;
    dnnl_status_t s = dnnl_post_ops_create(&post);

    if (s == dnnl_success)
        s = dnnl_post_ops_append_eltwise(post, 1.0f, dnnl_eltwise_relu, 0, 0);
    if (s == dnnl_success)
        s = dnnl_primitive_attr_set_post_ops(attr, post); /* a copy */
    if (post)
        dnnl_post_ops_destroy(post);
    return s;
}

static dnnl_status_t make(dnnl_engine_t engine, const struct wr_dnnl_op *op,
                          const union v2_description *what,
                          const_dnnl_primitive_desc_t forward,
                          dnnl_primitive_desc_t *ret)
{
    dnnl_primitive_attr_t attr = NULL;
    dnnl_status_t s = dnnl_primitive_attr_create(&attr);

    if (s == dnnl_success && op->relu && !forward)
        s = fuse_relu(attr);
    if (s == dnnl_success)
        s = dnnl_primitive_desc_create(ret, what, attr, engine, forward);
    if (attr)
        dnnl_primitive_attr_destroy(attr);
    return s;
}

dnnl_status_t wr_dnnl_describe(dnnl_engine_t engine,
                               const struct wr_dnnl_op *op,
                               enum wr_dnnl_pass pass,
                               const_dnnl_primitive_desc_t forward,
                               dnnl_primitive_desc_t *ret)
{
    union v2_description what;
    struct v2_tensors t;
    dnnl_status_t s = use_all(op, &t);

    if (s != dnnl_success)
        return s;
    if (op->kind == WR_LAYER_CONV)
        s = describe_conv(op, pass, &t, &what.conv);
    else if (op->kind == WR_LAYER_POOL)
        s = describe_pool(op, pass, &t, &what.pool);
    else
        s = describe_dense(pass, &t, &what.dense);
    return s == dnnl_success ? make(engine, op, &what, forward, ret) : s;
}

dnnl_status_t wr_dnnl_border(dnnl_engine_t engine,
                             const struct wr_dnnl_shape *shape,
                             dnnl_memory_t *ret)
{
    dnnl_memory_desc_t own;
    wr_dnnl_desc desc;
    dnnl_status_t s = use(shape, &own, &desc);

    if (s != dnnl_success)
        return s;
    return dnnl_memory_create(ret, desc, engine, DNNL_MEMORY_NONE);
}
