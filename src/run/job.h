/* job.h - a run while it is going on: what its accelerators share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_JOB_H
#define WR_RUN_JOB_H

#include "run/accel.h"
#include "run/gate.h"
#include "run/feed.h"
#include "run/run.h"
#include "run/saver.h"

struct wr_run_job {
    const struct wr_run_plan *plan; /* borrowed */
    struct wr_run_result *ret;      /* borrowed */
    uint32_t rank, ranks;
    uint64_t world, first; /* accelerators of all; this rank's first */
    uint64_t epochs, steps, eval_steps;
    uint64_t batch;
    bool trains;                /* else it only saves and restores */
    struct wr_barrier *barrier; /* owned; NULL: one rank */
    uint64_t zero_ns;     /* of the times that ranks compare: clocks of several
                         hosts differ */
    struct wr_gate *gate; /* owned */
    struct wr_run_feed_spec feed, eval;
    char *memory_tier;         /* owned: the cache of data that is read once */
    struct wr_run_pool pool;   /* batches that come from other ranks */
    struct wr_run_saver saver; /* of accelerator 0's thread */
    struct wr_run_accel *accels; /* owned: plan->accelerators */
    struct wr_file_list files;   /* of the page cache, if it is prepared */
    double resident;             /* before the epoch that is going on */
    uint64_t next_news_ns;
    uint64_t series_bytes, series_ns;
    size_t step_cap, block_cap; /* of the result's lists */
};

#define WR_RUN_EVAL_BLOCK 0 /* in place of the number of a block */

/* What accelerator 0 does for all of the process while the others wait: before
 * an epoch, and after each step and block. */
int wr_run_before_epoch(struct wr_run_job *job, uint64_t epoch, weir_err *err);
void wr_run_note_step(struct wr_run_job *job, const struct wr_run_accel *a,
                      const struct wr_run_times *step);
/* The times of the last step, if they are kept. */
int wr_run_keep_step(struct wr_run_job *job, const struct wr_run_accel *a,
                     weir_err *err);
int wr_run_note_block(struct wr_run_job *job, uint64_t epoch, uint64_t block,
                      const struct wr_run_accel *a, weir_err *err);
void wr_run_tell(struct wr_run_job *job, const char *doing,
                 const struct wr_run_accel *a);

#endif
