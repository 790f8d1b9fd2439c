/* plan.c - the tables of what weir plan says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/plan.h"

static const char *const styles[] = {"in turns", "together", NULL};

#define THIS struct wr_plan_input_values
const struct wr_vals wr_plan_input_vals = WR_VALS(WR_PLAN_INPUT_VALUES);
#undef THIS
#define THIS struct wr_plan_fact_values
const struct wr_vals wr_plan_fact_vals = WR_VALS(WR_PLAN_FACT_VALUES);
#undef THIS
#define THIS struct wr_plan_config_values
const struct wr_vals wr_plan_config_vals = WR_VALS(WR_PLAN_CONFIG_VALUES);
#undef THIS
#define THIS struct wr_plan_limit_values
const struct wr_vals wr_plan_limit_vals = WR_VALS(WR_PLAN_LIMIT_VALUES);
#undef THIS
#define THIS struct wr_plan_bounds_values
const struct wr_vals wr_plan_bounds_vals = WR_VALS(WR_PLAN_BOUNDS_VALUES);
#undef THIS
#define THIS struct wr_plan_demand_values
const struct wr_vals wr_plan_demand_vals = WR_VALS(WR_PLAN_DEMAND_VALUES);
#undef THIS
#define THIS struct wr_plan_parts_values
const struct wr_vals wr_plan_parts_vals = WR_VALS(WR_PLAN_PARTS_VALUES);
#undef THIS
#define THIS struct wr_plan_epoch_values
const struct wr_vals wr_plan_epoch_vals = WR_VALS(WR_PLAN_EPOCH_VALUES);
#undef THIS
#define THIS struct wr_plan_saves_values
const struct wr_vals wr_plan_saves_vals = WR_VALS(WR_PLAN_SAVES_VALUES);
#undef THIS
#define THIS struct wr_plan_result_values
const struct wr_vals wr_plan_result_vals = WR_VALS(WR_PLAN_RESULT_VALUES);
#undef THIS
#define THIS struct wr_plan_capacity_point_values
const struct wr_vals wr_plan_capacity_point_vals = WR_VALS(
    WR_PLAN_CAPACITY_POINT_VALUES);
#undef THIS
#define THIS struct wr_plan_capacity_values
const struct wr_vals wr_plan_capacity_vals = WR_VALS(WR_PLAN_CAPACITY_VALUES);
#undef THIS
#define THIS struct wr_plan_change_values
const struct wr_vals wr_plan_change_vals = WR_VALS(WR_PLAN_CHANGE_VALUES);
#undef THIS
#define THIS struct wr_plan_saving_values
const struct wr_vals wr_plan_saving_vals = WR_VALS(WR_PLAN_SAVING_VALUES);
#undef THIS
#define THIS struct wr_plan_scale_values
const struct wr_vals wr_plan_scale_vals = WR_VALS(WR_PLAN_SCALE_VALUES);
#undef THIS
#define THIS struct wr_plan_explain_values
const struct wr_vals wr_plan_explain_vals = WR_VALS(WR_PLAN_EXPLAIN_VALUES);
#undef THIS
#define THIS struct wr_plan_values
const struct wr_vals wr_plan_vals = WR_VALS(WR_PLAN_VALUES);
#undef THIS

const struct wr_cases_spec wr_plan_spec = {
    .command = "plan", .settings = "config", .of = &wr_plan_vals};
