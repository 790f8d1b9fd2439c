/* record.h - a trace as a record, which views of src/record show.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_RECORD_H
#define WR_TRACE_RECORD_H

#include <jansson.h>

#include "trace/finding.h"
#include "trace/lanes.h"
#include "weir/error.h"

/* What a record is made of. */
struct wr_trace_parts {
    const struct wr_trace_analysis *a;
    const struct wr_trace_findings *findings;
    const struct wr_trace_lanes *lanes;
};

/* Reads and analyses a trace; its record has the command "trace". `probe`: see
 * wr_trace_judge, or NULL. Release with json_decref. */
int wr_trace_record_load(const char *path, const json_t *probe, json_t **ret,
                         weir_err *err);

/* Lists of the record that grow with the run: what happened when, and what
 * threads did. NULL: no memory. */
json_t *wr_trace_over_time(const struct wr_trace_analysis *a);
json_t *wr_trace_lane_list(const struct wr_trace_parts *p);
json_t *wr_trace_read_heat(const struct wr_trace_lanes *l);

#endif
