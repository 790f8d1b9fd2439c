/* accel.h - one emulated accelerator: its thread, its steps, its accounts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_ACCEL_H
#define WR_RUN_ACCEL_H

#include <pthread.h>

#include "measure/accelerator.h"
#include "run/block.h"
#include "run/feed.h"
#include "run/run.h"

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
