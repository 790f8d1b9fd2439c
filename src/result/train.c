/* train.c - the tables of what weir train measures.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/train.h"

const char *const wr_train_limits[] = {"unknown", "compute", "input", "saving",
                                       NULL};

#define THIS struct wr_train_network_values
const struct wr_vals wr_train_network_vals = WR_VALS(WR_TRAIN_NETWORK_VALUES);
#undef THIS
#define THIS struct wr_train_result_values
const struct wr_vals wr_train_result_vals = WR_VALS(WR_TRAIN_RESULT_VALUES);
#undef THIS
#define THIS struct wr_train_input_values
const struct wr_vals wr_train_input_vals = WR_VALS(WR_TRAIN_INPUT_VALUES);
#undef THIS
#define THIS struct wr_train_validation_values
const struct wr_vals wr_train_validation_vals = WR_VALS(
    WR_TRAIN_VALIDATION_VALUES);
#undef THIS
#define THIS struct wr_train_save_values
const struct wr_vals wr_train_save_vals = WR_VALS(WR_TRAIN_SAVE_VALUES);
#undef THIS
#define THIS struct wr_train_cost_values
const struct wr_vals wr_train_cost_vals = WR_VALS(WR_TRAIN_COST_VALUES);
#undef THIS
#define THIS struct wr_train_rate_values
const struct wr_vals wr_train_rate_vals = WR_VALS(WR_TRAIN_RATE_VALUES);
#undef THIS
#define THIS struct wr_train_compare_values
const struct wr_vals wr_train_compare_vals = WR_VALS(WR_TRAIN_COMPARE_VALUES);
#undef THIS
#define THIS struct wr_train_values
const struct wr_vals wr_train_vals = WR_VALS(WR_TRAIN_VALUES);
#undef THIS

const struct wr_cases_spec wr_train_spec = {
    .command = "train", .settings = "settings", .of = &wr_train_vals};
