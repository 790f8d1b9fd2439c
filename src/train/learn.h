/* learn.h - one step of learning: forward, loss, backward, Adam.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRAIN_LEARN_H
#define WR_TRAIN_LEARN_H

#include <stdint.h>

#include "train/adam.h"
#include "train/loss.h"
#include "train/state.h"
#include "train/train.h"
#include "train/net.h"
#include "weir/error.h"
#include "train/tally.h"

struct wr_learner {
    const struct wr_train_plan *plan; /* borrowed */
    const struct wr_net *net;         /* borrowed */
    struct wr_train_state *state;     /* borrowed */
    void *engine;                     /* owned */
    struct wr_pool *pool;             /* owned: of Adam */
    struct wr_adam adam;
    float *grads;            /* owned */
    float *logits, *dlogits; /* owned: of a batch */
    float *padded; /* owned: a short batch, filled up; NULL: not yet */
};

int wr_learner_open(struct wr_learner *l, const struct wr_train_plan *plan,
                    const struct wr_net *net, struct wr_train_state *state,
                    weir_err *err);
void wr_learner_close(struct wr_learner *l); /* fine if it was never opened */

/* Learns from one batch, which is full. A loss that is no number is an error
 * that says what to do. */
int wr_learner_step(struct wr_learner *l, const weir_batch *b, double *ret_loss,
                    weir_err *err);

/* Fails for weights that are no numbers. */
int wr_learner_check(const struct wr_learner *l, weir_err *err);

/* Bytes that every engine needs at least for a batch, besides the weights:
 * their gradients, and what each layer gives. */
uint64_t wr_memory_needed(const struct wr_net *net, uint32_t batch);

/* Fails with WEIR_ENOMEM if that is more than is free here. Big buffers are
 * taken without asking (the kernel gives pages as they are touched), so that
 * a run which cannot fit would be killed in mid-step, without a word. */
int wr_memory_check(const struct wr_net *net, uint32_t batch, weir_err *err);

/* Samples of the data set that are held out. */
uint64_t wr_validate_count(const struct wr_train_plan *plan);

/* Classifies each of them once and notes it; those that are bad are noted, and
 * left out. */
int wr_validate(struct wr_learner *l, struct wr_train_tally *t, weir_err *err);

#endif
