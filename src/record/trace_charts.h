/* trace_charts.h - charts of a traced program.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_TRACE_CHARTS_H
#define WR_RECORD_TRACE_CHARTS_H

#include "record/doc.h"
#include "result/trace.h"

/* Each adds nothing when the record has nothing for it. */
void wr_trace_rate_chart(struct wr_doc_section *s,
                         const struct wr_trace_values *v);
void wr_trace_calls_chart(struct wr_doc_section *s,
                          const struct wr_trace_values *v);
void wr_trace_lanes_chart(struct wr_doc_section *s,
                          const struct wr_trace_values *v);
void wr_trace_heat_chart(struct wr_doc_section *s,
                         const struct wr_trace_values *v);
void wr_trace_latency_chart(struct wr_doc_section *s,
                            const struct wr_trace_values *v);
void wr_trace_sizes_chart(struct wr_doc_section *s, const struct wr_list *sizes,
                          const char *title);

/* "4 KiB", "more". Returns buf. */
char *wr_trace_size_text(const struct wr_trace_size_values *v, char *buf,
                         size_t cap);
/* The numbers at `at` of all in the list that are above 0. */
double wr_trace_sum(const struct wr_list *l, size_t at);

#endif
