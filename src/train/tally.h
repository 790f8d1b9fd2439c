/* tally.h - what a run of training notes down, in fixed memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRAIN_TALLY_H
#define WR_TRAIN_TALLY_H

#include "train/feed.h"
#include "train/train.h"

#define WR_TRAIN_RECENT 10 /* iterations that the last loss is the mean of */

struct wr_train_tally {
    struct wr_train_result *ret; /* borrowed */
    double recent[WR_TRAIN_RECENT];
    uint64_t count; /* iterations of this run */
};

/* One iteration, in seconds. */
struct wr_train_row {
    double loss, wait_s, step_s, save_s;
};

/* Empties the result; wr_train_done frees what this makes. */
int wr_train_tally_init(struct wr_train_tally *t, size_t rows,
                        struct wr_train_result *ret, weir_err *err);

void wr_train_tally_row(struct wr_train_tally *t,
                        const struct wr_train_row *row);

void wr_train_tally_validation(struct wr_train_tally *t,
                               const struct wr_train_validation *v);

/* Keeps samples that were bad, each once, for when the pipeline is closed. */
void wr_train_tally_bad(struct wr_train_tally *t, const weir_pipeline *p);

/* The iterations are over: what limited them. */
void wr_train_tally_end(struct wr_train_tally *t,
                        const struct wr_train_feed *feed);

/* Seconds since the first iteration began. */
double wr_train_tally_now(const struct wr_train_tally *t);

#endif
