/* compare.h - what the input costs: alone, without it, and with it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Three ways in one run, in rounds, so that a noisy machine is noisy for all of
 * them alike: the input alone (nothing computes), computing alone (the same
 * batch and labels from memory, again and again), and everything. All three are
 * wr_train, and differ in nothing but what is left out. The first round is a
 * warm-up and is not counted; the cost is the median of the costs of each
 * round. */
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

#define WR_TRAIN_ROUNDS_MAX 1000

/* Of the rounds that are counted. */
struct wr_train_spread {
    double median, min, max;
};

struct wr_train_compared {
    struct wr_train_spread rate[WR_TRAIN_WAYS]; /* images/s */
    struct wr_train_spread cost; /* part of the training time that is due to the
                                    input; below 0: noise */
    unsigned rounds;             /* that are counted */
    uint64_t iterations;         /* of each run that are counted */
};

/* Runs one iteration and plan->iterations (>= 1) more of each way, in each of
 * `rounds` (2 to WR_TRAIN_ROUNDS_MAX, the warm-up included). Nothing is saved or
 * validated. *ret_last is the last run of everything; it is freed with
 * wr_train_done, also after a failure. */
int wr_train_compare(const struct wr_train_plan *plan, unsigned rounds,
                     struct wr_train_compared *ret,
                     struct wr_train_result *ret_last, weir_err *err);

/* Images per second of one run. What happened until the end of the first
 * iteration does not count where something is computed: starting the input, and
 * touching memory for the first time, is no cost of every iteration. */
double wr_train_way_rate(enum wr_train_way way,
                         const struct wr_train_result *res);

#endif
