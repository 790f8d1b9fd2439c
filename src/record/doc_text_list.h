/* doc_text_list.h - tables of what a command lists, on a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_DOC_TEXT_LIST_H
#define WR_RECORD_DOC_TEXT_LIST_H

#include "record/doc_private.h"

/* All of its rows, nothing cut. Rows that are too long for a terminal take several
 * lines. */
void wr_doc_text_list(const struct wr_doc_table *t, size_t indent,
                      const struct wr_doc_text_style *style, FILE *out);

#endif
