/* validate.h - how good the network is on samples that it never learned from.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRAIN_VALIDATE_H
#define WR_TRAIN_VALIDATE_H

#include "train/learn.h"
#include "train/tally.h"

/* Samples of the data set that are held out. */
uint64_t wr_validate_count(const struct wr_train_plan *plan);

/* Classifies each of them once and notes it; those that are bad are noted, and
 * left out. */
int wr_validate(struct wr_learner *l, struct wr_train_tally *t, weir_err *err);

#endif
