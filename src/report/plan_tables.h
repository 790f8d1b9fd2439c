/* plan_tables.h - a plan: its tables, and what changes bring.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_PLAN_TABLES_H
#define WR_REPORT_PLAN_TABLES_H

#include "report/view.h"
#include "result/plan.h"

/* What the columns mean, for the help of the command. */
extern const struct wr_columns wr_plan_columns[];

/* "the bandwidth of the storage" of the name that a record has for a resource;
 * the name itself if it is none of those known. */
const char *wr_plan_limit_name(const char *resource);

/* Whether only the first steps were simulated: an epoch of the record is then
 * a part of one. */
bool wr_plan_is_partial(const struct wr_plan_values *p);

/* The rate of point k of `scale` over what the first one gives for as many nodes;
 * NaN: not known. The last point for which that is nearly 1 is the knee; SIZE_MAX:
 * there are not two points. */
double wr_plan_linear_part(const struct wr_list *scale, size_t k);
size_t wr_plan_knee(const struct wr_list *scale);

/* Each is left out if the record has nothing for it. PART: epochs as far as they
 * were simulated; SIDE: several plans beside each other. */
extern const struct wr_table_rule wr_plan_epoch_table, wr_plan_part_table,
    wr_plan_limit_table, wr_plan_capacity_table, wr_plan_scale_table,
    wr_plan_fact_table, wr_plan_side_table;

/* What differs in the facts of several. */
void wr_plan_differ_table(struct wr_scope *v);

/* What changes bring. */
void wr_plan_change_table(struct wr_scope *v);
void wr_plan_change_chart(struct wr_scope *v);

#endif
