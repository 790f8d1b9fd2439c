/* jobs.h - measuring one run of a cell.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each gives an object of numbers: "value" is what the figure shows, the others
 * are for its rule. Several may run at once: they share nothing. */
#ifndef WR_STUDY_JOBS_H
#define WR_STUDY_JOBS_H

#include "study/study.h"
#include "weir/dataset.h"

/* Runs a cell once; *ret is to be released with json_decref. */
int wr_run_cell(const struct wr_study *st, const struct wr_cell *c,
                json_t **ret, weir_err *err);

int wr_run_probe(const struct wr_study *st, const struct wr_cell *c,
                 json_t **ret, weir_err *err);
int wr_run_feed(const struct wr_study *st, const struct wr_cell *c,
                json_t **ret, weir_err *err);
int wr_run_train(const struct wr_study *st, const struct wr_cell *c,
                 json_t **ret, weir_err *err);

/* The URL of `path` on the device of a job: as it is on the real disk. `trace`
 * (may be NULL) is the file that the device's bytes over time go to. */
void wr_run_url(const char *device, const char *trace, const char *path,
                char *buf, size_t cap);

/* Opens a data set there; `stopped` of the study is polled. */
int wr_run_open(const struct wr_study *st, const struct wr_cell_job *job,
                const char *trace, weir_dataset **ret, weir_err *err);

#endif
