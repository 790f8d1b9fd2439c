/* net.c - the network: its layers as a table, their shapes and weights.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/net.h"

#include <inttypes.h>
#include <math.h>

#include "base/error.h"
#include "base/rng.h"

#define MAX_WIDTH  16.0
#define MAX_SIDE   8192u
#define MAX_PARAMS ((uint64_t)1 << 32)

/* alexnet_v2 of TF-slim: "SAME" there is the padding of half a kernel here
 * (stride 1, odd kernels), "VALID" none. */
static const struct wr_layer alexnet[WR_NET_LAYERS] = {
    {WR_LAYER_CONV, "conv1", 64, 11, 4, 0, .relu = true},
    {WR_LAYER_POOL, "pool1", 0, 3, 2, 0, .relu = false},
    {WR_LAYER_CONV, "conv2", 192, 5, 1, 2, .relu = true},
    {WR_LAYER_POOL, "pool2", 0, 3, 2, 0, .relu = false},
    {WR_LAYER_CONV, "conv3", 384, 3, 1, 1, .relu = true},
    {WR_LAYER_CONV, "conv4", 384, 3, 1, 1, .relu = true},
    {WR_LAYER_CONV, "conv5", 256, 3, 1, 1, .relu = true},
    {WR_LAYER_POOL, "pool5", 0, 3, 2, 0, .relu = false},
    {WR_LAYER_DENSE, "fc6", 4096, 0, 0, 0, .relu = true},
    {WR_LAYER_DENSE, "fc7", 4096, 0, 0, 0, .relu = true},
    {WR_LAYER_DENSE, "fc8", 0, 0, 0, 0, .relu = false},
};

size_t wr_layer_in_count(const struct wr_layer *l)
{
    return (size_t)l->in_h * l->in_w * l->in_c;
}

size_t wr_layer_out_count(const struct wr_layer *l)
{
    return (size_t)l->out_h * l->out_w * l->out_c;
}

static int check_spec(const struct wr_net_spec *s, weir_err *err)
{
    if (!(s->width > 0 && s->width <= MAX_WIDTH))
        return wr_fail(err, WEIR_EINVAL,
                       "width %g of the network: must be above 0 and at most "
                       "%g",
                       s->width, MAX_WIDTH);
    if (!s->classes)
        return wr_fail(err, WEIR_EINVAL,
                       "the network needs at least one class");
    if (!s->channels)
        return wr_fail(err, WEIR_EINVAL, "pictures without channels");
    if (s->height > MAX_SIDE || s->cols > MAX_SIDE || s->channels > MAX_SIDE)
        return wr_fail(err, WEIR_ELIMIT,
                       "pictures of %ux%ux%u: more than %u per side", s->cols,
                       s->height, s->channels, MAX_SIDE);
    return 0;
}

/* Channels of a layer for a width: rounded, never none. */
static uint32_t scaled(const struct wr_layer *l, const struct wr_net_spec *s)
{
    double n = round(l->out * s->width);

    if (l->kind == WR_LAYER_POOL)
        return l->in_c;
    if (!l->out)
        return s->classes;
    return n < 1 ? 1 : (uint32_t)n;
}

/* False when the window does not fit even once. */
static bool shape_window(struct wr_layer *l)
{
    uint32_t h = l->in_h + 2 * l->pad, w = l->in_w + 2 * l->pad;

    if (h < l->kernel || w < l->kernel)
        return false;
    l->out_h = (h - l->kernel) / l->stride + 1;
    l->out_w = (w - l->kernel) / l->stride + 1;
    return true;
}

/* Shapes of a layer behind one that gives h x w x c. */
static bool shape(struct wr_layer *l, const struct wr_net_spec *spec)
{
    l->out_c = scaled(l, spec);
    if (l->kind != WR_LAYER_DENSE)
        return shape_window(l);
    l->out_h = l->out_w = 1;
    return true;
}

static uint64_t weights_of(const struct wr_layer *l)
{
    switch (l->kind) {
    case WR_LAYER_CONV:
        return (uint64_t)l->out_c * l->kernel * l->kernel * l->in_c;
    case WR_LAYER_DENSE:
        return (uint64_t)l->out_c * wr_layer_in_count(l);
    default:
        return 0;
    }
}

static int place_weights(struct wr_net *net, struct wr_layer *l, weir_err *err)
{
    uint64_t weights = weights_of(l);

    if (!weights)
        return 0;
    if (weights > MAX_PARAMS || weights + net->param_count > MAX_PARAMS)
        return wr_fail(err, WEIR_ELIMIT,
                       "a network for %ux%u pictures and %u classes has too "
                       "many weights at width %g: %s alone has %" PRIu64,
                       net->spec.cols, net->spec.height, net->spec.classes,
                       net->spec.width, l->name, weights);
    l->weight = net->param_count;
    l->weight_count = (size_t)weights;
    l->bias = l->weight + l->weight_count;
    l->bias_count = l->out_c;
    net->param_count = l->bias + l->bias_count;
    return 0;
}

static int init_layer(struct wr_net *net, size_t i, weir_err *err)
{
    struct wr_layer *l = &net->layers[i];
    const struct wr_layer *before = i ? l - 1 : NULL;

    *l = alexnet[i];
    l->in_h = before ? before->out_h : net->spec.height;
    l->in_w = before ? before->out_w : net->spec.cols;
    l->in_c = before ? before->out_c : net->spec.channels;
    if (!shape(l, &net->spec))
        return wr_fail(err, WEIR_EINVAL,
                       "pictures of %ux%u are too small for the network: %s "
                       "gets %ux%u and needs %ux%u (224x224 is usual)",
                       net->spec.cols, net->spec.height, l->name, l->in_w,
                       l->in_h, l->kernel, l->kernel);
    return place_weights(net, l, err);
}

int wr_net_init(struct wr_net *ret, const struct wr_net_spec *spec,
                weir_err *err)
{
    struct wr_net net = {.layer_count = WR_NET_LAYERS, .spec = *spec};
    int r = check_spec(spec, err);

    for (size_t i = 0; r == 0 && i < WR_NET_LAYERS; i++)
        r = init_layer(&net, i, err);
    if (r == 0)
        *ret = net;
    return r;
}

/* Four uniform numbers of 16 bits, added: nearly normal, within 3.5 standard
 * deviations, and exact, so that no C library's logarithm has a say. */
static float near_normal(uint64_t bits)
{
    const float sigma = 0x1.279a74p+15f; /* sqrt(4 / 12) * 2^16 */
    int32_t sum = (int32_t)(bits & 0xffff) + (int32_t)(bits >> 16 & 0xffff) +
                  (int32_t)(bits >> 32 & 0xffff) + (int32_t)(bits >> 48);

    return (float)(sum - 2 * 0xffff) / sigma;
}

void wr_net_fill(const struct wr_net *net, uint64_t seed, float *params)
{
    for (size_t i = 0; i < net->layer_count; i++) {
        const struct wr_layer *l = &net->layers[i];
        size_t fan_in = l->bias_count ? l->weight_count / l->bias_count : 1;
        float scale = (float)sqrt(2.0 / (double)fan_in);

        for (size_t k = 0; k < l->weight_count; k++)
            params[l->weight + k] = scale * near_normal(wr_rng_at(seed, i, k));
        for (size_t k = 0; k < l->bias_count; k++)
            params[l->bias + k] = 0;
    }
}
