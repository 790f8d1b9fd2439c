/* report.h - an analysis as text: findings first, then the numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_REPORT_H
#define WR_TRACE_REPORT_H

#include <stdio.h>

#include "trace/finding.h"

struct wr_trace_report_style {
    unsigned width; /* columns */
    bool utf8;
};

/* Names in it are made harmless for terminals. */
void wr_trace_report(const struct wr_trace_analysis *a,
                     const struct wr_trace_findings *findings,
                     struct wr_trace_report_style style, FILE *out);

#endif
