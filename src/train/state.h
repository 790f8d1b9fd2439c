/* state.h - what training has learned so far: all that a checkpoint holds.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Weights and Adam's two moments lie in one block of memory, in the order of the
 * checkpoint's file: a save writes them from where they are. */
#ifndef WR_TRAIN_STATE_H
#define WR_TRAIN_STATE_H

#include "train/net.h"
#include "weir/checkpoint.h"
#include "weir/pipeline.h"

struct wr_train_state {
    float *params, *moment1, *moment2; /* in `memory`; NULL: there are none */
    void *memory;                      /* owned */
    size_t bytes;                      /* of it, that are saved */
    weir_tensor *tensors;              /* owned, names too */
    size_t count;
    uint64_t step;     /* iterations done */
    uint8_t *position; /* owned: of the input after that step */
    size_t position_len, position_cap;
};

/* The state before the first iteration: weights from the seed, moments 0. With
 * `filler` the moments are random: a state that is only saved must not be
 * cheaper to store than a real one. */
int wr_train_state_init(struct wr_train_state *s, const struct wr_net *net,
                        uint64_t seed, bool filler, weir_err *err);
void wr_train_state_done(struct wr_train_state *s);

/* One more iteration is done, and the input is where `p` (NULL: there is none)
 * is now. */
int wr_train_state_advance(struct wr_train_state *s, const weir_pipeline *p,
                           weir_err *err);

/* xxh3 of the weights. */
uint64_t wr_train_state_digest(const struct wr_train_state *s);

/* Whether all weights are finite numbers. */
bool wr_train_state_is_finite(const struct wr_train_state *s);

#endif
