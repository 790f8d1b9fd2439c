/* run_tables.h - a run of a workload: its tables and charts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_RUN_TABLES_H
#define WR_REPORT_RUN_TABLES_H

#include "report/chart.h"
#include "report/view.h"

/* What the columns mean, for the help of the command. */
extern const struct wr_columns wr_run_columns[];

/* Each is left out if the record has nothing for it. */
extern const struct wr_table_rule wr_run_epoch_table, wr_run_rank_table,
    wr_run_save_table, wr_run_restore_table;

void wr_run_search_table(struct wr_scope *v);
/* Figures that others have reported, and ours. */
void wr_run_seed_table(struct wr_scope *v);

/* AU over the number of accelerators (search), and of each epoch. */
void wr_run_search_chart(struct wr_scope *v);
extern const struct wr_chart_rule wr_run_au_chart;

/* What the time went to. */
extern const struct wr_chart_series wr_run_parts[];
extern const struct wr_chart_rule wr_run_loss_chart;

/* The wait of each step, and what was read, over time. */
extern const struct wr_chart_rule wr_run_step_chart;
void wr_run_flow_chart(struct wr_scope *v);

/* How long the reads took, and how large they were. */
void wr_run_read_charts(struct wr_scope *v);

/* Seconds that each rank lost. */
extern const struct wr_chart_rule wr_run_rank_chart;

#endif
