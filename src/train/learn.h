/* learn.h - one step of learning: forward, loss, backward, Adam.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRAIN_LEARN_H
#define WR_TRAIN_LEARN_H

#include "train/adam.h"
#include "train/loss.h"
#include "train/state.h"
#include "train/train.h"

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

/* Classifies a batch, which may be short, and learns nothing. */
int wr_learner_judge(struct wr_learner *l, const weir_batch *b,
                     struct wr_loss *ret, weir_err *err);

/* Fails for weights that are no numbers. */
int wr_learner_check(const struct wr_learner *l, weir_err *err);

#endif
