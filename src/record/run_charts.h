/* run_charts.h - charts of runs of a workload.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each is left out if the records have nothing for it. Of several records the
 * labels tell which is which. */
#ifndef WR_RECORD_RUN_CHARTS_H
#define WR_RECORD_RUN_CHARTS_H

#include "record/view.h"

/* AU over the number of accelerators (search), and of each epoch. */
void wr_run_search_chart(struct wr_scope *v);
void wr_run_au_chart(struct wr_scope *v);

/* What the time went to. */
void wr_run_loss_chart(struct wr_scope *v);

/* The wait of each step, and what was read, over time. */
void wr_run_step_chart(struct wr_scope *v);
void wr_run_flow_chart(struct wr_scope *v);

/* How long the reads took, and how large they were. */
void wr_run_read_charts(struct wr_scope *v);

/* Seconds that each rank lost. */
void wr_run_rank_chart(struct wr_scope *v);

#endif
