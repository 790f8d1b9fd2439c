/* saver.h - the checkpoints of a run.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A rank saves the tensors of all of its accelerators, by the formulas of the
 * description, as one state; all ranks save together. Steps count on from what
 * the store has, so that a run can be repeated on it. Belongs to one thread. */
#ifndef WR_RUN_SAVER_H
#define WR_RUN_SAVER_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/ckpt_state.h"
#include "measure/saves.h"
#include "run/run.h"
#include "weir/error.h"

struct wr_run_job;

struct wr_run_saver {
    struct wr_run_job *job;   /* borrowed */
    struct wr_saves to;       /* its `c` NULL: nothing is saved */
    struct wr_ckpt_load load; /* the state */
    uint64_t base, count;     /* steps of the store before; saves so far */
    size_t cap;               /* of the list of restores */
};

/* Opens the store, if the run saves; all ranks. */
int wr_run_saver_open(struct wr_run_saver *s, struct wr_run_job *job,
                      weir_err *err);

/* Whether a save comes after so many steps of an epoch (counted from 0); after so
 * many epochs. */
bool wr_run_saver_due_step(const struct wr_run_saver *s, uint64_t epoch,
                           uint64_t steps);
bool wr_run_saver_due_epoch(const struct wr_run_saver *s, uint64_t epochs);

int wr_run_saver_save(struct wr_run_saver *s, uint64_t epoch, weir_err *err);

/* A description that only saves and restores. */
int wr_run_only_save(struct wr_run_job *job, weir_err *err);

/* Waits for the last tier, notes the times of all saves, closes. */
int wr_run_saver_close(struct wr_run_saver *s, weir_err *err);

/* Plain files: some programs write more with a checkpoint (a graph, an index),
 * and some results at their end. They go to a folder beside that of the
 * checkpoints. */

/* The folder that a run of this plan writes them to, fresh memory; NULL: it
 * writes none (or memory ran out). */
char *wr_run_extra_folder(const struct wr_run_plan *plan);

/* The files that each accelerator writes when it is done. */
int wr_run_extra_final(struct wr_run_job *job, weir_err *err);

#endif
