/* setup.h - from a plan to what the accelerators of a process share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_SETUP_H
#define WR_RUN_SETUP_H

#include "run/job.h"

/* Where the parts of a data folder lie: "DATA/train" or "DATA/valid"; to be
 * freed. NULL: memory is short. */
char *wr_run_data_url(const char *data, bool eval);

/* The name of weir's format for a description's; NULL: whatever is there. */
const char *wr_run_format(enum wr_wl_format f);

/* Fills in ranks, steps and feeds, and checks that the data is what the
 * description says. */
int wr_run_setup(struct wr_run_job *job, weir_err *err);
void wr_run_setup_done(struct wr_run_job *job);

/* The order that a run has: the user's, DLIO's, or what the description's
 * shuffles mean. */
enum weir_order wr_run_order(const struct wr_run_plan *plan);

/* --- which samples an accelerator reads: the access of a workload --- */

/* The settings of accelerator `global`: its rank or its range of samples. */
void wr_run_shard(const struct wr_run_job *job, uint64_t global,
                  const struct wr_run_feed_spec *spec,
                  weir_pipeline_config *ret);

/* The access that the run has: the plan's, or the description's. */
enum wr_wl_access wr_run_access(const struct wr_run_job *job);

/* Steps that every accelerator can take in an epoch of `samples` samples. */
uint64_t wr_run_shard_steps(const struct wr_run_job *job,
                            const struct wr_run_feed_spec *spec,
                            uint64_t samples);

#endif
