/* net.h - the network: its layers as a table, their shapes and weights.
 * SPDX-License-Identifier: Apache-2.0
 *
 * AlexNet as TF-slim's alexnet_v2 has it (Krizhevsky 2014, "one weird trick"):
 * the mini-application's network. All weights are one array of floats, layer
 * after layer; gradients and the optimizer's state have the same layout.
 *   convolution  [out][kernel row][kernel column][in], then the bias [out]
 *   dense        [out][in], then the bias [out]; `in` counts row, column,
 *                channel of the layer before, as activations lie (NHWC) */
#ifndef WR_TRAIN_NET_H
#define WR_TRAIN_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

#define WR_NET_LAYERS 11u

enum wr_layer_kind { WR_LAYER_CONV, WR_LAYER_POOL, WR_LAYER_DENSE };

/* A row of the table, and its shapes for this specification. */
struct wr_layer {
    enum wr_layer_kind kind;
    const char *name; /* "conv1": its tensors are conv1.weight, conv1.bias */
    uint32_t out;     /* channels at width 1; 0: of a pool, or the classes */
    uint32_t kernel, stride, pad;
    bool relu;
    uint32_t in_h, in_w, in_c, out_h, out_w, out_c;
    size_t weight, weight_count, bias, bias_count; /* in floats; 0 of a pool */
};

struct wr_net_spec {
    double width; /* factor of all channels but input and classes */
    uint32_t classes;
    uint32_t height, cols, channels; /* of a picture */
};

struct wr_net {
    struct wr_layer layers[WR_NET_LAYERS];
    size_t layer_count;
    struct wr_net_spec spec;
    size_t param_count; /* weights and biases */
};

/* Refuses pictures that are too small for the network, no classes, and sizes
 * beyond any memory. A width too small for a layer leaves it one channel. */
int wr_net_init(struct wr_net *ret, const struct wr_net_spec *spec,
                weir_err *err);

/* Initial weights (He et al. 2015) and biases of 0: a function of the seed and
 * the shapes alone, the same bits on every machine. */
void wr_net_fill(const struct wr_net *net, uint64_t seed, float *params);

/* Floats that a picture has on the way into and out of a layer. */
size_t wr_layer_in_count(const struct wr_layer *layer);
size_t wr_layer_out_count(const struct wr_layer *layer);

#endif
