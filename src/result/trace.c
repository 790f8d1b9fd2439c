/* trace.c - the tables of what the record of a trace says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/trace.h"

#define THIS struct wr_trace_run_values
const struct wr_vals wr_trace_run_vals = WR_VALS(WR_TRACE_RUN_VALUES);
#undef THIS
#define THIS struct wr_trace_example_values
const struct wr_vals wr_trace_example_vals = WR_VALS(WR_TRACE_EXAMPLE_VALUES);
#undef THIS
#define THIS struct wr_trace_finding_values
const struct wr_vals wr_trace_finding_vals = WR_VALS(WR_TRACE_FINDING_VALUES);
#undef THIS
#define THIS struct wr_trace_common_values
const struct wr_vals wr_trace_common_vals = WR_VALS(WR_TRACE_COMMON_VALUES);
#undef THIS
#define THIS struct wr_trace_set_values
const struct wr_vals wr_trace_set_vals = WR_VALS(WR_TRACE_SET_VALUES);
#undef THIS
#define THIS struct wr_trace_latency_values
const struct wr_vals wr_trace_latency_vals = WR_VALS(WR_TRACE_LATENCY_VALUES);
#undef THIS
#define THIS struct wr_trace_size_values
const struct wr_vals wr_trace_size_vals = WR_VALS(WR_TRACE_SIZE_VALUES);
#undef THIS
#define THIS struct wr_trace_epoch_values
const struct wr_vals wr_trace_epoch_vals = WR_VALS(WR_TRACE_EPOCH_VALUES);
#undef THIS
#define THIS struct wr_trace_phase_values
const struct wr_vals wr_trace_phase_vals = WR_VALS(WR_TRACE_PHASE_VALUES);
#undef THIS
#define THIS struct wr_trace_save_values
const struct wr_vals wr_trace_save_vals = WR_VALS(WR_TRACE_SAVE_VALUES);
#undef THIS
#define THIS struct wr_trace_file_values
const struct wr_vals wr_trace_file_vals = WR_VALS(WR_TRACE_FILE_VALUES);
#undef THIS
#define THIS struct wr_trace_lane_values
const struct wr_vals wr_trace_lane_vals = WR_VALS(WR_TRACE_LANE_VALUES);
#undef THIS
#define THIS struct wr_trace_lanes_values
const struct wr_vals wr_trace_lanes_vals = WR_VALS(WR_TRACE_LANES_VALUES);
#undef THIS
#define THIS struct wr_trace_level_values
const struct wr_vals wr_trace_level_vals = WR_VALS(WR_TRACE_LEVEL_VALUES);
#undef THIS
#define THIS struct wr_trace_heat_values
const struct wr_vals wr_trace_heat_vals = WR_VALS(WR_TRACE_HEAT_VALUES);
#undef THIS
#define THIS struct wr_trace_time_values
const struct wr_vals wr_trace_time_vals = WR_VALS(WR_TRACE_TIME_VALUES);
#undef THIS
#define THIS struct wr_trace_values
const struct wr_vals wr_trace_vals = WR_VALS(WR_TRACE_VALUES);
#undef THIS

const struct wr_cases_spec wr_trace_spec = {.command = "trace",
                                            .of = &wr_trace_vals};
