/* layers.h - dense layers and max pooling of the reference engine.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRAIN_LAYERS_H
#define WR_TRAIN_LAYERS_H

#include <stddef.h>
#include <stdint.h>

#include "train/compute.h"
#include "train/net.h"

/* y = the layer of x; `params` are the whole network's. */
void wr_dense_forward(const struct wr_compute *c, const struct wr_layer *l,
                      const float *params, const float *x, float *y);

/* Writes the layer's part of `grads`, weights and biases. */
void wr_dense_grad(const struct wr_compute *c, const struct wr_layer *l,
                   const float *x, const float *dy, float *grads);

/* Replaces x, of which the signs are used (0 and below: the ReLU before this
 * layer passed nothing), by its gradient. */
void wr_dense_input(const struct wr_compute *c, const struct wr_layer *l,
                    const float *params, const float *dy, float *x);

/* Floats that the calls above need. */
size_t wr_dense_scratch(uint32_t batch);
size_t wr_dense_shared(const struct wr_layer *l, uint32_t batch);

/* --- the maximum of each window, and who it was --- */

/* `choice` gets the place in the window of every y: of equal ones the first. */
void wr_maxpool_forward(const struct wr_compute *c, const struct wr_layer *l,
                        const float *x, float *y, uint8_t *choice);

/* dx: all of dy goes to the places that were chosen, 0 to the others. */
void wr_maxpool_backward(const struct wr_compute *c, const struct wr_layer *l,
                         const float *dy, const uint8_t *choice, float *dx);

#endif
