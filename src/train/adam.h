/* adam.h - the optimizer (Kingma and Ba 2015, algorithm 1).
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRAIN_ADAM_H
#define WR_TRAIN_ADAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/pool.h"

struct wr_adam {
    double rate;
    double beta1, beta2, epsilon; /* usual: WR_ADAM_USUAL */
};

/* clang-format off */
#define WR_ADAM_USUAL(learning_rate) {(learning_rate), 0.9, 0.999, 1e-8}
/* clang-format on */

/* Arrays of `count` floats each; both moments begin with zeros. */
struct wr_adam_state {
    float *params, *mean, *square;
    const float *grads;
    size_t count;
};

/* Step number `step`, from 1. Every weight is computed for itself, so threads
 * change no bit. */
void wr_adam_step(struct wr_pool *pool, const struct wr_adam *adam,
                  uint64_t step, const struct wr_adam_state *state);

#endif
