/* run_tables.h - a run of a workload: its tables.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_RUN_TABLES_H
#define WR_RECORD_RUN_TABLES_H

#include "record/view.h"

/* What the columns mean, for the help of the command. */
extern const struct wr_columns wr_run_columns[];

/* Each is left out if the record has nothing for it. */
extern const struct wr_table_rule wr_run_epoch_table, wr_run_rank_table,
    wr_run_save_table, wr_run_restore_table;

#define WR_RUN_POINTS 1000 /* of a search that are shown */
void wr_run_search_table(struct wr_scope *v);
/* The points of a search by their number of accelerators, into ret; how many,
 * `cap` at most. A search does not try them in that order. */
size_t wr_run_search_points(const json_t *record, const json_t **ret,
                            size_t cap);
/* Figures that others have reported, and ours. */
void wr_run_seed_table(struct wr_scope *v);

#endif
