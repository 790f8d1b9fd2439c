/* doc_text_top.h - the top of a document, and its verdicts, on a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_DOC_TEXT_TOP_H
#define WR_RECORD_DOC_TEXT_TOP_H

#include "record/doc.h"

/* The summary, the figures and the list of verdicts, as far as there are. */
void wr_doc_text_top(const struct wr_doc *d,
                     const struct wr_doc_text_style *style, FILE *out);

/* What a section is to show; and what came of it. */
void wr_doc_text_claim(const struct wr_doc_section *s,
                       const struct wr_doc_text_style *style, FILE *out);
void wr_doc_text_verdict(const struct wr_doc_section *s,
                         const struct wr_doc_text_style *style, FILE *out);

/* Columns that sentences may take. */
size_t wr_doc_text_width(const struct wr_doc_text_style *style);

#endif
