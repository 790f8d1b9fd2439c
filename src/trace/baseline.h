/* baseline.h - what the storage of a traced program can give.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_BASELINE_H
#define WR_TRACE_BASELINE_H

#include <jansson.h>

#include "trace/finding.h"
#include "weir/error.h"

/* Reads a record of weir probe; any other is an error. Release with
 * json_decref. */
int wr_trace_probe_load(const char *path, json_t **ret, weir_err *err);

/* Findings of an analysis, judged by the record of a probe, or (NULL) by what the
 * monitor saw of the disks. */
int wr_trace_judge(struct wr_trace_analysis *a, const json_t *probe,
                   struct wr_trace_findings *ret, weir_err *err);

#endif
