/* html.h - pieces of a page that its renderers share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_HTML_H
#define WR_REPORT_HTML_H

#include <stdio.h>

#include "report/doc_private.h"

#define WR_HTML_COLOURS 8 /* of page.css */

/* Text as the content of an element or of a quoted attribute. */
void wr_html_text(FILE *out, const char *s);

/* The same between two pieces of the page. */
void wr_html_put(FILE *out, const char *before, const char *text,
                 const char *after);

/* A table in a frame of its own that scrolls; its title is read out but not
 * shown when `titled` is false. */
void wr_html_table(FILE *out, const struct wr_doc_table *t, bool titled);

/* A chart with its legend, its numbers and its data, of which at most `cap`
 * points a series; several when it has more series than there are colours.
 * WEIR_ENOMEM. */
int wr_html_figure(FILE *out, const struct wr_doc_chart *c, size_t cap,
                   weir_err *err);

/* The data of a chart as page.js reads them, with nothing that would end the
 * element around it. *ret_drawn: how many points they hold. WEIR_ENOMEM. */
int wr_html_data(FILE *out, const struct wr_doc_chart *c, size_t cap,
                 size_t *ret_drawn, weir_err *err);

/* Text and number of JSON inside an element; what is no number is null. */
void wr_html_json_text(FILE *out, const char *s);
void wr_html_json_number(FILE *out, double v, int digits);

/* The numbers that something was drawn from, folded: the table that `fill` puts
 * into a section. WEIR_ENOMEM. */
int wr_html_numbers(FILE *out,
                    void (*fill)(struct wr_doc_section *s, const void *of),
                    const void *of, weir_err *err);

/* Lanes over time with their legend, their numbers and their data.
 * WEIR_ENOMEM. */
int wr_html_lanes(FILE *out, const struct wr_doc_lanes *l, weir_err *err);

#endif
