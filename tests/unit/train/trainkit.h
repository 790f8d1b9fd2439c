/* trainkit.h - a small network with an engine, a batch and its arrays.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_TRAINKIT_H
#define TEST_TRAINKIT_H

#include "base/rng.h"
#include "train/engine.h"
#include "train/loss.h"

struct trainkit {
    struct wr_net net;
    struct wr_engine_spec spec;
    const struct wr_engine_ops *ops;
    void *engine;
    float *params, *grads, *mean, *square, *input, *logits, *dlogits;
    uint32_t *labels;
    size_t input_count, logits_count;
};

/* With weights of seed 1, biases that are not 0, random pictures and labels;
 * everything asserted. */
void trainkit_open(struct trainkit *k, const struct wr_net_spec *net,
                   uint32_t batch, unsigned threads);
void trainkit_close(struct trainkit *k);

/* The loss of the batch by a forward; with the gradients by a backward too. */
double trainkit_loss(struct trainkit *k);
double trainkit_step(struct trainkit *k);

/* Update number `step` of the weights, with as many threads. */
void trainkit_adam(struct trainkit *k, double rate, uint64_t step);

/* Uniform numbers in [-1, 1). */
void trainkit_fill(float *x, size_t n, struct wr_rng *rng);

#endif
