/* estimate.h - how long cells will take, before they are run.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_STUDY_ESTIMATE_H
#define WR_STUDY_ESTIMATE_H

#include "study/study.h"

/* Seconds of one run, by the device's profile and rough rates of this code. */
double wr_estimate_job(const struct wr_cell_job *job, unsigned cores);

/* Cells like this one that run at once: emulated devices with an emulated
 * accelerator need hardly any core. */
unsigned wr_estimate_lanes(const struct wr_study *st,
                           const struct wr_cell_job *job);

/* The figure that a cell is run for: the first one that needs it. */
const struct wr_figure *wr_estimate_runs_for(const struct wr_study *st,
                                             const struct wr_cell *c);

/* Seconds of what is missing of a figure (cells of earlier figures are not
 * counted again), and of all, with making the data that is missing. */
double wr_estimate_figure(const struct wr_study *st, const struct wr_figure *f);
double wr_estimate_all(const struct wr_study *st);

#endif
