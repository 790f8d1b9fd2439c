/* record.h - the record of a run of training.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRAIN_RECORD_H
#define WR_TRAIN_RECORD_H

#include <jansson.h>

#include "base/value.h"
#include "measure/monitor.h"
#include "train/compare.h"

extern const struct wr_choice wr_level_choices[]; /* of weir_level */

/* The run record (docs/formats/record.md), with a comparison if there was one
 * (of more than 0 rounds); NULL when memory is short. */
json_t *wr_train_record(const struct wr_train_plan *plan,
                        const struct wr_train_result *res,
                        const struct wr_train_compared *compared,
                        const struct wr_monitor *m);

#endif
