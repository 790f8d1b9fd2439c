/* loop.h - batches in, a step on each: the loop of all that consume batches.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The benchmark of the input, each accelerator of a run, and training take a
 * batch, do a step on it and give it back. What a step is, is a row of two
 * functions: one starts it, the other returns when it is over; what a consumer
 * does with the batch happens between them, as it does beside a real
 * accelerator. */
#ifndef WR_MEASURE_LOOP_H
#define WR_MEASURE_LOOP_H

#include "measure/accelerator.h"
#include "weir/pipeline.h"

/* One step, by wr_clock_ns. */
struct wr_step {
    const weir_batch *batch; /* until it is given back; NULL: nothing is read */
    uint32_t count;          /* its samples */
    uint64_t asked_ns, got_ns; /* for it, and it */
    uint64_t done_ns;          /* the step is over */
    uint64_t free_ns;          /* and the batch given back: workers that this
                                  wakes may take the core */
};

/* NULL: takes no time. */
struct wr_step_ops {
    void (*begin)(void *machine, struct wr_step *s);
    int (*end)(void *machine, struct wr_step *s, weir_err *err);
};

/* An emulated accelerator, which may be none. */
struct wr_emulated {
    const struct wr_accelerator *of; /* borrowed */
    bool (*stopped)(void);           /* may be NULL */
    struct wr_accelerator_clock clock;
};

extern const struct wr_step_ops wr_step_nothing;
extern const struct wr_step_ops wr_step_emulated; /* of a wr_emulated */

struct wr_loop {
    /* As weir_pipeline_next. */
    int (*next)(void *feed, const weir_batch **ret, weir_err *err);
    void *feed;
    bool keeps; /* the feed keeps its batches: they are not given back */
    const struct wr_step_ops *ops;
    void *machine;
    /* May be NULL: while the step goes on, and when the batch is given back. */
    int (*take)(void *arg, const struct wr_step *s, weir_err *err);
    int (*note)(void *arg, const struct wr_step *s, weir_err *err);
    void *arg;
    bool (*stopped)(void); /* asked after each step; may be NULL */
    uint64_t steps;        /* at most */
};

/* The `next` of a loop whose feed is a weir_pipeline. */
int wr_loop_next(void *pipeline, const weir_batch **ret, weir_err *err);

/* Until the batches end, the steps are done, or something fails. */
int wr_loop(const struct wr_loop *l, weir_err *err);

#endif
