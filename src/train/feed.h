/* feed.h - the batches that training takes: from a data set, or from memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRAIN_FEED_H
#define WR_TRAIN_FEED_H

#include "train/train.h"

struct wr_train_feed {
    weir_pipeline *pipeline; /* owned; NULL: batches from memory */
    weir_batch fixed;        /* else: the batch */
    float *pixels;           /* owned: of the batch */
    uint32_t *labels;        /* owned: of the batch */
    uint64_t left;           /* batches from memory; as pipelines have them */
};

/* Where the input continues: the pipeline's states of a checkpoint. `from` is
 * the step; 0: from the beginning. */
struct wr_train_start {
    uint64_t from;
    const void *const *states;
    const size_t *lengths;
    size_t count;
};

/* Whether what the data set holds can be trained on, as far as it says. */
int wr_train_feed_check(const struct wr_train_plan *plan, weir_err *err);

int wr_train_feed_open(struct wr_train_feed *f,
                       const struct wr_train_plan *plan,
                       const struct wr_train_start *start, weir_err *err);
void wr_train_feed_close(struct wr_train_feed *f);

/* As weir_pipeline_next. A batch from memory is not given back. */
int wr_train_feed_next(void *feed, const weir_batch **ret, weir_err *err);

/* Iterations of an epoch; 0: batches from memory have none. */
uint64_t wr_train_feed_per_epoch(const struct wr_train_feed *f);

/* Classes that are trained for; 0: the samples have no labels. */
uint32_t wr_train_classes(const struct wr_train_plan *plan);

/* A pipeline's `stopped`, with the plan as its argument. */
int wr_train_is_stopped(void *plan);

#endif
