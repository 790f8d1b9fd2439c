/* extra.h - plain files that a run writes besides its checkpoints.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Some programs write more files with a checkpoint (a graph, an index), and some
 * results at their end. They go to a folder beside that of the checkpoints. */
#ifndef WR_RUN_EXTRA_H
#define WR_RUN_EXTRA_H

#include <stdint.h>

#include "weir/error.h"

struct wr_run_job;
struct wr_run_plan;

/* The folder that a run of this plan writes them to, fresh memory; NULL: it
 * writes none (or memory ran out). */
char *wr_run_extra_folder(const struct wr_run_plan *plan);

/* Whether a benchmark may write there (measure/bench_store.h). */
int wr_run_extra_check(const struct wr_run_job *job, weir_err *err);

/* The files that belong to a checkpoint; rank 0 writes them. */
int wr_run_extra_checkpoint(struct wr_run_job *job, uint64_t step,
                            weir_err *err);

/* The files that each accelerator writes when it is done. */
int wr_run_extra_final(struct wr_run_job *job, weir_err *err);

#endif
