/* plan_life.h - the life of a batch: lanes of workers, queue, accelerators.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_PLAN_LIFE_H
#define WR_RECORD_PLAN_LIFE_H

#include "record/view.h"

/* Lanes of each plan that has them. The axis of each reaches as far as the
 * longest of all, so that they compare. */
void wr_plan_life(struct wr_doc *d, struct wr_doc_section *s,
                  const struct wr_view_record *r, size_t n);

#endif
