/* trace_charts.h - charts of a traced program.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_TRACE_CHARTS_H
#define WR_RECORD_TRACE_CHARTS_H

#include <jansson.h>

#include "record/doc.h"

/* Each adds nothing when the record has nothing for it. */
void wr_trace_rate_chart(struct wr_doc_section *s, const json_t *j);
void wr_trace_calls_chart(struct wr_doc_section *s, const json_t *j);
void wr_trace_lanes_chart(struct wr_doc_section *s, const json_t *j);
void wr_trace_heat_chart(struct wr_doc_section *s, const json_t *j);
void wr_trace_latency_chart(struct wr_doc_section *s, const json_t *j);
/* `key`: "read_sizes" or "write_sizes". */
void wr_trace_sizes_chart(struct wr_doc_section *s, const json_t *j,
                          const char *key, const char *title);

#endif
