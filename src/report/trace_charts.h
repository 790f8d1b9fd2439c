/* trace_charts.h - charts of a traced program, and its requests by size.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_TRACE_CHARTS_H
#define WR_REPORT_TRACE_CHARTS_H

#include "report/view.h"

/* Items of sections. Each adds nothing when the record has nothing for it. */
void wr_trace_time_charts(struct wr_scope *v); /* the run, over its time */
void wr_trace_request_charts(struct wr_scope *v);
void wr_trace_size_tables(struct wr_scope *v);

#endif
