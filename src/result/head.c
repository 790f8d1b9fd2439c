/* head.c - the tables of what records of several commands say.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/head.h"

#define THIS struct wr_file_system_values
const struct wr_vals wr_file_system_vals = WR_VALS(WR_FILE_SYSTEM_VALUES);
#undef THIS
#define THIS struct wr_host_values
const struct wr_vals wr_host_vals = WR_VALS(WR_HOST_VALUES);
#undef THIS
#define THIS struct wr_sizes_values
const struct wr_vals wr_sizes_vals = WR_VALS(WR_SIZES_VALUES);
#undef THIS
#define THIS struct wr_dataset_values
const struct wr_vals wr_dataset_vals = WR_VALS(WR_DATASET_VALUES);
#undef THIS
#define THIS struct wr_accelerator_values
const struct wr_vals wr_accelerator_vals = WR_VALS(WR_ACCELERATOR_VALUES);
#undef THIS
#define THIS struct wr_bad_values
const struct wr_vals wr_bad_vals = WR_VALS(WR_BAD_VALUES);
#undef THIS
#define THIS struct wr_monitor_values
const struct wr_vals wr_monitor_vals = WR_VALS(WR_MONITOR_VALUES);
#undef THIS
