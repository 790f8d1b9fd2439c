/* combine.h - what the accelerators and ranks of a run found, together.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_COMBINE_H
#define WR_RUN_COMBINE_H

#include "monitor/usage.h"
#include "run/job.h"

/* Sums this rank up, and on rank 0 the others', into job->ret; `from` is what
 * the process had used before the run. All ranks. */
int wr_run_combine(struct wr_run_job *job, const struct wr_usage *from,
                   weir_err *err);

#endif
