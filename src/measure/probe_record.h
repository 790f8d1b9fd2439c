/* probe_record.h - the results of a probe for programs: the record.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MEASURE_PROBE_RECORD_H
#define WR_MEASURE_PROBE_RECORD_H

#include <jansson.h>

#include "measure/monitor.h"
#include "measure/probe.h"

/* What goes into a record. */
struct wr_probe_record {
    const struct wr_probe_plan *plan;
    const struct wr_probe_report *report;
    struct wr_store *store;           /* borrowed: the folder, for the host */
    const struct wr_monitor *monitor; /* stopped */
};

/* NULL when memory is short. */
json_t *wr_probe_record(const struct wr_probe_record *p);

/* What --dry-run tells: tests, bytes and seconds. NULL when memory is short. */
json_t *wr_probe_plan_json(const struct wr_probe_plan *plan);

#endif
