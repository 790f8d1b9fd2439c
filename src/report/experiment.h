/* experiment.h - which records belong together in one chart.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Records of a benchmark are one experiment when they swept the same settings
 * on the same data, and of all else one thing differs at most: a device, a
 * format, or one setting. What only says how long something was measured does
 * not count. */
#ifndef WR_REPORT_EXPERIMENT_H
#define WR_REPORT_EXPERIMENT_H

#include "report/view.h"

/* Groups records in the order in which they came; NULL when memory is short.
 * Free it with wr_view_groups_free. */
struct wr_view_group *wr_experiments(const struct wr_view_record *r, size_t n,
                                     const struct wr_cases_spec *spec,
                                     size_t *ret_count);

#endif
