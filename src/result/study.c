/* study.c - the tables of what weir study measures.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/study.h"

static const char *const modes[] = {"quick", "default", "full", NULL};
static const char *const roles[] = {"measured", "reference", "ceiling", NULL};
static const char *const verdicts[] = {"holds", "does not hold",
                                       "cannot be seen here", NULL};

#define THIS struct wr_study_data_values
const struct wr_vals wr_study_data_vals = WR_VALS(WR_STUDY_DATA_VALUES);
#undef THIS
#define THIS struct wr_study_control_values
const struct wr_vals wr_study_control_vals = WR_VALS(WR_STUDY_CONTROL_VALUES);
#undef THIS
#define THIS struct wr_study_measured_values
const struct wr_vals wr_study_measured_vals = WR_VALS(WR_STUDY_MEASURED_VALUES);
#undef THIS
#define THIS struct wr_study_series_values
const struct wr_vals wr_study_series_vals = WR_VALS(WR_STUDY_SERIES_VALUES);
#undef THIS
#define THIS struct wr_study_part_values
const struct wr_vals wr_study_part_vals = WR_VALS(WR_STUDY_PART_VALUES);
#undef THIS
#define THIS struct wr_study_figure_values
const struct wr_vals wr_study_figure_vals = WR_VALS(WR_STUDY_FIGURE_VALUES);
#undef THIS
#define THIS struct wr_study_values
const struct wr_vals wr_study_vals = WR_VALS(WR_STUDY_VALUES);
#undef THIS

const struct wr_cases_spec wr_study_spec = {
    .command = "study", .settings = "data", .of = &wr_study_vals};
