/* train_runs.h - several runs of training: which compare, and their names.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_TRAIN_RUNS_H
#define WR_RECORD_TRAIN_RUNS_H

#include "record/view.h"

/* Whether all have trained the same network on the same number of samples. */
bool wr_train_are_comparable(const struct wr_view_record *r, size_t n);

/* What differs among their settings, or the record's label where that does not
 * tell each from all others. */
void wr_train_names(const struct wr_view_record *r, size_t n,
                    char (*names)[WR_VIEW_NAME]);

#endif
