/* trace_tables.h - tables of a traced program.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_TRACE_TABLES_H
#define WR_RECORD_TRACE_TABLES_H

#include <jansson.h>

#include "record/doc.h"

/* Each adds nothing when the record has nothing for it. */
void wr_trace_epoch_table(struct wr_doc_section *s, const json_t *j);
void wr_trace_phase_table(struct wr_doc_section *s, const json_t *j);
void wr_trace_save_table(struct wr_doc_section *s, const json_t *j);
void wr_trace_latency_table(struct wr_doc_section *s, const json_t *j);
void wr_trace_file_table(struct wr_doc_section *s, const json_t *j);
/* Of one finding. */
void wr_trace_example_table(struct wr_doc_section *s, const json_t *finding);

#endif
