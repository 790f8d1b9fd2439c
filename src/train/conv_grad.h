/* conv_grad.h - gradients of a convolution's weights.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRAIN_CONV_GRAD_H
#define WR_TRAIN_CONV_GRAD_H

#include <stddef.h>

#include "train/compute.h"
#include "train/net.h"

/* Writes the layer's part of `grads`, weights and biases. */
void wr_conv_grad(const struct wr_compute *c, const struct wr_layer *l,
                  const float *x, const float *dy, float *grads);

/* Floats that it needs. */
size_t wr_conv_grad_scratch(void);
size_t wr_conv_grad_shared(const struct wr_layer *l, uint32_t batch);

#endif
