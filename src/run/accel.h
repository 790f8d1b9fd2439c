/* accel.h - one emulated accelerator: its thread, its steps, its accounts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_ACCEL_H
#define WR_RUN_ACCEL_H

#include <pthread.h>
#include <stdint.h>

#include "measure/accelerator.h"
#include "run/feed.h"
#include "run/run.h"

/* A block of steps as DLIO counts it: its utilization is the measured time of
 * computing over the time of the block, without the first steps and the last
 * ones (output.metric.exclude_*); its samples/s divide by the same time and leave
 * two steps out. */
#define WR_RUN_BLOCK_TAIL 64 /* steps that can be left out at the end */

struct wr_run_block_tally {
    uint64_t start_ns, start_wall_ns;
    uint64_t steps;
    uint64_t load_ns, last_ns; /* of the last step: loading, computing */
    unsigned exclude_start, exclude_end;
    uint64_t compute_ns;  /* of steps behind the first ones */
    uint64_t excluded_ns; /* of the first ones, loading included */
    uint64_t tail_compute[WR_RUN_BLOCK_TAIL], tail_proc[WR_RUN_BLOCK_TAIL];
};

struct wr_run_block_result {
    uint64_t steps;
    double au;    /* 0 to 1; 0: nothing was computed */
    double per_s; /* samples/s */
};

void wr_run_block_begin(struct wr_run_block_tally *b, uint64_t exclude_start,
                        uint64_t exclude_end, uint64_t now_ns);
void wr_run_block_step(struct wr_run_block_tally *b, uint64_t load_ns,
                       uint64_t compute_ns);
struct wr_run_block_result wr_run_block_end(const struct wr_run_block_tally *b,
                                            uint64_t now_ns, uint64_t batch);

struct wr_run_job;

struct wr_run_accel {
    struct wr_run_job *job; /* borrowed */
    unsigned number;        /* in this process */
    uint64_t global;        /* among all */
    pthread_t thread;
    bool started;
    struct wr_meter *meter;  /* owned */
    struct wr_run_feed feed; /* training */
    struct wr_accelerator_clock clock;
    struct wr_run_block_tally block; /* DLIO's window */
    uint64_t samples, steps;         /* so far */
    uint64_t stalls, first_wait_ns, load_ns, digest;
    uint64_t train_ns; /* of training alone so far: au of the progress line */
    struct wr_run_times t;         /* of the run so far */
    struct wr_run_epoch *epochs;   /* owned: of each epoch, this one's */
    struct wr_meter_counts *reads; /* owned: at the last end of an epoch */
    struct wr_hist *waits;         /* owned */
};

int wr_run_accel_init(struct wr_run_accel *a, struct wr_run_job *job,
                      unsigned number, weir_err *err);
void wr_run_accel_done(struct wr_run_accel *a);

/* The whole run of one; opens the gate with its failure. */
void *wr_run_accel_main(void *accel);

#endif
