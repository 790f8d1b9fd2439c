/* plan_charts.h - charts of a plan.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each is left out if the records have nothing for it. */
#ifndef WR_RECORD_PLAN_CHARTS_H
#define WR_RECORD_PLAN_CHARTS_H

#include "record/view.h"

/* What the time of each epoch goes to, in seconds: waits add up. */
void wr_plan_epoch_chart(struct wr_doc_section *s, const json_t *record);

/* Time of each step of the simulation; stalls are marked. */
void wr_plan_step_chart(struct wr_doc *d, struct wr_doc_section *s,
                        const json_t *record);

/* What each resource could do alone; what changes bring. */
void wr_plan_limit_chart(struct wr_doc_section *s, const json_t *record);
void wr_plan_change_chart(struct wr_doc_section *s, const json_t *record);

/* Utilization over accelerators, with the target; throughput over nodes, with
 * the knee. */
void wr_plan_capacity_chart(struct wr_doc_section *s,
                            const struct wr_view_record *r, size_t n);
void wr_plan_scale_chart(struct wr_doc_section *s,
                         const struct wr_view_record *r, size_t n);

/* Times of batches that were seen, with the stalls. */
void wr_plan_batch_chart(struct wr_doc *d, struct wr_doc_section *s,
                         const json_t *record);

/* Samples per second of several plans. */
void wr_plan_rate_chart(struct wr_doc_section *s,
                        const struct wr_view_record *r, size_t n);

/* Lanes of each plan that has them. The axis of each reaches as far as the
 * longest of all, so that they compare. */
void wr_plan_life(struct wr_doc *d, struct wr_doc_section *s,
                  const struct wr_view_record *r, size_t n);

#endif
