/* train_compare.h - what `weir train --compare` found.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_TRAIN_COMPARE_H
#define WR_CLI_TRAIN_COMPARE_H

#include <jansson.h>

#include "cli/command.h"
#include "train/compare.h"

/* One bar for each way, and the cost in a sentence. */
void wr_train_print_compared(const struct wr_cli *cli,
                             const struct wr_train_plan *plan,
                             const struct wr_train_compared *c);

/* `compare` of the record (docs/formats/record.md); NULL when memory is short.
 */
json_t *wr_train_compared_json(const struct wr_train_compared *c);

#endif
