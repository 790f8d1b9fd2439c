/* train_tables.h - runs of training: their tables and charts.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_TRAIN_TABLES_H
#define WR_REPORT_TRAIN_TABLES_H

#include "report/chart.h"
#include "report/view.h"

/* What the columns of the tables mean. */
extern const struct wr_columns wr_train_columns[];
extern const struct wr_column wr_train_run_columns[], wr_train_save_columns[];

/* The run in one row, what its saves cost, and each of them. */
extern const struct wr_table_rule wr_train_run_table, wr_train_saving_table,
    wr_train_save_table;

/* More than one validation: one is said in words. */
void wr_train_validation_table(struct wr_scope *v);

/* Images per second, and what the time went for: a bar a record. */
extern const struct wr_chart_rule wr_train_rate_chart, wr_train_parts_chart;

/* The loss of each iteration and of the held-out part, a line a record. */
void wr_train_loss(struct wr_scope *v);

/* The input alone, the computing alone, and all of it. */
void wr_train_compared(struct wr_scope *v);

/* Waiting, computing and saving of each iteration; stalls are marked. */
void wr_train_iterations(struct wr_scope *v);

/* How long each save took, of runs of workloads, too; and how right the held-out
 * part was. */
void wr_train_saves(struct wr_scope *v);
void wr_train_accuracy(struct wr_scope *v);

#endif
