/* conv.h - convolutions of the reference engine, forward and backward.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRAIN_CONV_H
#define WR_TRAIN_CONV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "train/compute.h"
#include "train/net.h"

/* y = the layer of x; `params` are the whole network's. */
void wr_conv_forward(const struct wr_compute *c, const struct wr_layer *l,
                     const float *params, const float *x, float *y);

/* Replaces x, of which the signs are used (0 and below: the ReLU before this
 * layer passed nothing), by its gradient. Stride 1 only. */
void wr_conv_input(const struct wr_compute *c, const struct wr_layer *l,
                   const float *params, const float *dy, float *x);

/* Floats that the calls above need. */
size_t wr_conv_scratch(const struct wr_layer *l);
size_t wr_conv_shared(const struct wr_layer *l);

/* Gradients of the weights: writes the layer's part of `grads`, weights and
 * biases. */
void wr_conv_grad(const struct wr_compute *c, const struct wr_layer *l,
                  const float *x, const float *dy, float *grads);

/* Floats that it needs. */
size_t wr_conv_grad_scratch(void);
size_t wr_conv_grad_shared(const struct wr_layer *l, uint32_t batch);

#endif
