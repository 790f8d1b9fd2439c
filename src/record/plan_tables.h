/* plan_tables.h - a plan: its tables.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_PLAN_TABLES_H
#define WR_RECORD_PLAN_TABLES_H

#include "record/view.h"

/* What the columns mean, for the help of the command. */
extern const struct wr_columns wr_plan_columns[];

#define WR_PLAN_CHANGES 64 /* of what-if that are shown */

/* The changes of `what_if` into ret, the largest gain first; how many, `cap`
 * at most. */
size_t wr_plan_changes(const json_t *record, const json_t **ret, size_t cap);

/* Each is left out if the record has nothing for it. */
void wr_plan_epoch_table(struct wr_doc_section *s, const char *title,
                         const json_t *record);
void wr_plan_limit_table(struct wr_doc_section *s, const char *title,
                         const json_t *record);
void wr_plan_change_table(struct wr_doc_section *s, const char *title,
                          const json_t *record);
void wr_plan_capacity_table(struct wr_doc_section *s, const char *title,
                            const json_t *record);
void wr_plan_scale_table(struct wr_doc_section *s, const char *title,
                         const json_t *record);
void wr_plan_fact_table(struct wr_doc_section *s, const char *title,
                        const json_t *record);

/* Numbers of plans beside each other, and what differs in their facts. */
void wr_plan_side_table(struct wr_doc_section *s,
                        const struct wr_view_record *r, size_t n);
void wr_plan_differ_table(struct wr_doc_section *s,
                          const struct wr_view_record *r, size_t n);

#endif
