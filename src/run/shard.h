/* shard.h - which samples an accelerator reads: the access of a workload.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_SHARD_H
#define WR_RUN_SHARD_H

#include "run/feed.h"

struct wr_run_job;

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
