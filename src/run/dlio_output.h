/* dlio_output.h - the files that DLIO leaves, for the tools that read them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * summary.json, RANK_output.json, RANK_per_epoch_stats.json, dlio.log and
 * dlio_config/{config,hydra,overrides}.yaml, with DLIO's names of keys, its
 * formulas and its units (its GB are GiB, its MB are MiB). A rank of theirs is
 * one accelerator; here it is a process, whose accelerator 0 has its steps in
 * the files. Of other hosts cores and memory are taken to be as here. */
#ifndef WR_RUN_DLIO_OUTPUT_H
#define WR_RUN_DLIO_OUTPUT_H

#include <jansson.h>

#include "run/run.h"

#define WR_DLIO_GB 0x1p30
#define WR_DLIO_MB 0x1p20

/* All borrowed. */
struct wr_dlio_source {
    const struct wr_workload *w;
    const struct wr_run_result *res; /* with keep_steps; of all ranks on 0 */
    uint32_t rank;
    const char *name;             /* of the workload, as it was asked for */
    const char *const *overrides; /* "section.key=value" */
    size_t override_count;
};

/* Writes the files of this rank into `folder`, which is made if it is missing;
 * rank 0 those of the whole run, too. Each file appears whole or not at all. */
int wr_dlio_output(const char *folder, const struct wr_dlio_source *src,
                   weir_err *err);

#define WR_DLIO_TIME 40 /* bytes of a time, enough */

/* Local time, "2026-11-17T06:20:00.123456"; returns buf. */
char *wr_dlio_time(uint64_t wall_ns, char *buf, size_t cap);

/* Until a save was on storage, which the run need not have waited for. */
double wr_dlio_save_s(const struct wr_saved *save);

/* RANK_output.json and RANK_per_epoch_stats.json. */
json_t *wr_dlio_rank_json(const struct wr_dlio_source *src);
json_t *wr_dlio_epochs_json(const struct wr_dlio_source *src);

#endif
