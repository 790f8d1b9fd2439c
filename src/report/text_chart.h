/* text_chart.h - a chart of a document on a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_TEXT_CHART_H
#define WR_REPORT_TEXT_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/doc.h"
#include "report/doc_private.h"

/* Bars lie on their side; of lines, areas and points one line of heights a
 * series. What stands in a table anyway is cut short. */
void wr_doc_print_chart(const struct wr_doc_chart *c,
                        const struct wr_doc_text_style *style, FILE *out);

#define WR_CANVAS_WIDTH  100 /* wider charts are hard to follow */
#define WR_CANVAS_NAME   44  /* columns of a name */
#define WR_CANVAS_NUMBER 10  /* columns of a number */

struct wr_doc_canvas {
    FILE *out;
    size_t width; /* of all */
    bool utf8;
};

/* "1234567", "12.3", "0.00123": four digits are enough beside a table. */
char *wr_canvas_number(double v, char *buf, size_t cap);

/* A name in `width` columns, cut or padded. */
void wr_canvas_name(const struct wr_doc_canvas *cv, const char *s,
                    size_t width);

/* A sentence below a chart. */
void wr_canvas_text(const struct wr_doc_canvas *cv, const char *s);

#endif
