/* loss.h - softmax cross entropy: the loss, its gradient, and what was right.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRAIN_LOSS_H
#define WR_TRAIN_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/error.h"

/* A batch of which the first `valid` rows count; the others are padding. */
struct wr_loss_batch {
    const float *logits;    /* [rows][classes] */
    const uint32_t *labels; /* [valid], each below `classes` */
    uint32_t rows, valid, classes;
};

struct wr_loss {
    double mean;      /* over the valid rows; of none: 0 */
    uint32_t correct; /* rows whose largest logit is the label's */
    bool is_finite;   /* false: a logit was no number, or the loss is none */
};

/* `dlogits` [rows][classes] gets the gradient of the mean, 0 for padding; it
 * may be NULL where only the loss is asked for. A label out of range fails. */
int wr_loss_of(const struct wr_loss_batch *batch, float *dlogits,
               struct wr_loss *ret, weir_err *err);

#endif
