/* record.h - the record of a run.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_RECORD_H
#define WR_RUN_RECORD_H

#include <jansson.h>

#include "measure/monitor.h"
#include "run/run.h"
#include "run/search.h"

/* What a record is made of; the last three may be NULL. */
struct wr_run_report {
    const struct wr_run_plan *plan;
    const struct wr_run_result *res;
    const char *name; /* of the workload, as it was asked for */
    const char *data; /* URL; NULL: none */
    const struct wr_run_selftest *selftest;
    const struct wr_run_search *search;
    const struct wr_monitor *monitor;
};

/* NULL when memory is short. */
json_t *wr_run_record(const struct wr_run_report *r);

#endif
