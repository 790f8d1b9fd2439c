/* run.h - rounds over the cells of a study, some of them at once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Cells of a figure are run in rounds, so that a machine that changes does so
 * for all of them alike; the first round is the warm-up. Every run is done by a
 * thread of its own, while the calling thread keeps the time: it tells how far
 * it is, and notices that all is to stop. */
#ifndef WR_STUDY_RUN_H
#define WR_STUDY_RUN_H

#include "study/study.h"

/* Seconds of one run, by the device's profile and rough rates of this code. */
double wr_estimate_job(const struct wr_cell_job *job, unsigned cores);

/* The figure that a cell is run for: the first one that needs it. */
const struct wr_figure *wr_estimate_runs_for(const struct wr_study *st,
                                             const struct wr_cell *c);

/* Seconds of what is missing of a figure (cells of earlier figures are not
 * counted again), and of all, with making the data that is missing. */
double wr_estimate_figure(const struct wr_study *st, const struct wr_figure *f);
double wr_estimate_all(const struct wr_study *st);

#endif
