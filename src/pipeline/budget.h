/* budget.h - what a pipeline has taken of the process's memory and threads.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Batches and the rings of reads in flight are counted here, by the settings
 * in force; memory that comes and goes (samples larger than usual, units) is
 * counted where it is allocated. Batches that the user has asked for are taken
 * in any case, those that are left to the library only while the process has
 * memory for them. A ring makes do with what there is, half of it at most, so
 * that something is left for the next pipeline: then fewer reads are in
 * flight. */
#ifndef WR_PIPELINE_BUDGET_H
#define WR_PIPELINE_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/schedule.h"
#include "pipeline/tune.h"

struct wr_budget {
    uint64_t batches, rings; /* bytes taken; never less until the end, because
                                buffers and touched memory are kept */
    uint64_t threads;
};

/* For the settings that `t` begins with; it may lower the threads. */
void wr_budget_begin(struct wr_budget *b, struct wr_sched *s,
                     struct wr_tune *t);

/* For these; false, and nothing has changed: there is too little memory. */
bool wr_budget_grow(struct wr_budget *b, struct wr_sched *s,
                    const struct wr_knobs *knobs);

/* Others may have left: more for rings that are smaller than the settings in
 * force want them. Cheap, to be called now and then. */
void wr_budget_refill(struct wr_budget *b, struct wr_sched *s);

void wr_budget_end(struct wr_budget *b);

#endif
