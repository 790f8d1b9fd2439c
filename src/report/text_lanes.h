/* text_lanes.h - lanes over time on a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_TEXT_LANES_H
#define WR_REPORT_TEXT_LANES_H

#include "report/doc.h"

/* A line a row, as wide as the terminal; below it the axis and what the looks
 * mean. Numbers stand in the spans that have room for them. */
void wr_doc_print_lanes(const struct wr_doc_lanes *l,
                        const struct wr_doc_text_style *style, FILE *out);

#endif
