/* run.c - the tables of what weir run measures.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/run.h"

static const char *const read_types[] = {"on_demand", "memory", NULL};
static const char *const consumes[] = {"drop", "read", "decode", NULL};
static const char *const accesses[] = {"auto",       "multi", "shared", "same",
                                       "collective", "mpio",  "posix",  NULL};
static const char *const compats[] = {"weir", "dlio", NULL};
static const char *const limits[] = {"storage", "asked", "data", NULL};

#define THIS struct wr_run_config_values
const struct wr_vals wr_run_config_vals = WR_VALS(WR_RUN_CONFIG_VALUES);
#undef THIS
#define THIS struct wr_run_demand_values
const struct wr_vals wr_run_demand_vals = WR_VALS(WR_RUN_DEMAND_VALUES);
#undef THIS
#define THIS struct wr_run_selftest_values
const struct wr_vals wr_run_selftest_vals = WR_VALS(WR_RUN_SELFTEST_VALUES);
#undef THIS
#define THIS struct wr_run_epoch_values
const struct wr_vals wr_run_epoch_vals = WR_VALS(WR_RUN_EPOCH_VALUES);
#undef THIS
#define THIS struct wr_run_result_values
const struct wr_vals wr_run_result_vals = WR_VALS(WR_RUN_RESULT_VALUES);
#undef THIS
#define THIS struct wr_run_loss_values
const struct wr_vals wr_run_loss_vals = WR_VALS(WR_RUN_LOSS_VALUES);
#undef THIS
#define THIS struct wr_run_input_values
const struct wr_vals wr_run_input_vals = WR_VALS(WR_RUN_INPUT_VALUES);
#undef THIS
#define THIS struct wr_run_reads_values
const struct wr_vals wr_run_reads_vals = WR_VALS(WR_RUN_READS_VALUES);
#undef THIS
#define THIS struct wr_run_batches_values
const struct wr_vals wr_run_batches_vals = WR_VALS(WR_RUN_BATCHES_VALUES);
#undef THIS
#define THIS struct wr_run_rank_values
const struct wr_vals wr_run_rank_vals = WR_VALS(WR_RUN_RANK_VALUES);
#undef THIS
#define THIS struct wr_run_save_values
const struct wr_vals wr_run_save_vals = WR_VALS(WR_RUN_SAVE_VALUES);
#undef THIS
#define THIS struct wr_run_restore_values
const struct wr_vals wr_run_restore_vals = WR_VALS(WR_RUN_RESTORE_VALUES);
#undef THIS
#define THIS struct wr_run_seed_values
const struct wr_vals wr_run_seed_vals = WR_VALS(WR_RUN_SEED_VALUES);
#undef THIS
#define THIS struct wr_run_point_values
const struct wr_vals wr_run_point_vals = WR_VALS(WR_RUN_POINT_VALUES);
#undef THIS
#define THIS struct wr_run_search_values
const struct wr_vals wr_run_search_vals = WR_VALS(WR_RUN_SEARCH_VALUES);
#undef THIS
#define THIS struct wr_run_values
const struct wr_vals wr_run_vals = WR_VALS(WR_RUN_VALUES);
#undef THIS

const struct wr_cases_spec wr_run_spec = {
    .command = "run",
    .settings = "config",
    .runs = "epochs",
    .of = &wr_run_vals,
    .of_run = &wr_run_epoch_vals,
    .runs_at = offsetof(struct wr_run_values, epochs)};
