/* doc_chart.h - a chart of a document on a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_DOC_CHART_H
#define WR_RECORD_DOC_CHART_H

#include "record/doc.h"

/* Bars lie on their side; of lines, areas and points one line of heights a
 * series. What stands in a table anyway is cut short. */
void wr_doc_print_chart(const struct wr_doc_chart *c,
                        const struct wr_doc_text_style *style, FILE *out);

#endif
