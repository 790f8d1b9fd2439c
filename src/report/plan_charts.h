/* plan_charts.h - charts of a plan.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each is left out if the records have nothing for it. */
#ifndef WR_REPORT_PLAN_CHARTS_H
#define WR_REPORT_PLAN_CHARTS_H

#include "report/chart.h"

/* What the time of each epoch goes to, in seconds: waits add up; the same as far
 * as it was simulated. */
extern const struct wr_chart_rule wr_plan_epoch_chart, wr_plan_part_chart;

/* Utilization over accelerators, with the target; throughput over nodes, with
 * the knee; samples per second of several plans. */
extern const struct wr_chart_rule wr_plan_capacity_chart, wr_plan_rate_chart;
void wr_plan_scale_chart(struct wr_scope *v);

/* What each resource could do alone. */
void wr_plan_limit_chart(struct wr_scope *v);

/* Times of each step of the simulation, and of batches that were seen; stalls are
 * marked. */
void wr_plan_step_chart(struct wr_scope *v);
void wr_plan_batch_chart(struct wr_scope *v);

/* Lanes of each plan that has them. The axis of each reaches as far as the
 * longest of all, so that they compare. */
void wr_plan_life(struct wr_scope *v);

#endif
