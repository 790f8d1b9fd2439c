/* compare.h - what the input costs: the input alone, computing alone, both.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The three are run in rounds, one after the other, so that a noisy machine is
 * noisy for all of them alike. The first iteration of a run is not counted: it
 * waits for a pipeline that has only just begun. */
#ifndef WR_TRAIN_COMPARE_H
#define WR_TRAIN_COMPARE_H

#include "train/train.h"

enum wr_train_way {
    WR_TRAIN_WAY_INPUT,     /* batches are taken as they come */
    WR_TRAIN_WAY_SYNTHETIC, /* computing on one batch from memory */
    WR_TRAIN_WAY_FULL,      /* computing on what the input delivers */
    WR_TRAIN_WAYS,
};

const char *wr_train_way_name(enum wr_train_way way); /* "input alone" */

struct wr_train_compared {
    unsigned rounds;
    struct {
        double median, min, max; /* samples per second */
    } rate[WR_TRAIN_WAYS];
};

#define WR_TRAIN_ROUNDS_MAX 100

/* Runs plan->iterations (>= 1) of each way, and one more before, in each of
 * `rounds`. Nothing is saved or validated. *ret_last is the last full run; it is
 * freed with wr_train_done, also after a failure. */
int wr_train_compare(const struct wr_train_plan *plan, unsigned rounds,
                     struct wr_train_compared *ret,
                     struct wr_train_result *ret_last, weir_err *err);

#endif
