/* doc_html.h - pieces of a page that its renderers share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_DOC_HTML_H
#define WR_RECORD_DOC_HTML_H

#include <stdio.h>

#include "record/doc_private.h"

/* Text as the content of an element or of a quoted attribute. */
void wr_html_text(FILE *out, const char *s);

/* A table in a frame of its own that scrolls; its title is read out but not
 * shown when `titled` is false. */
void wr_html_table(FILE *out, const struct wr_doc_table *t, bool titled);

/* A chart with its legend, its numbers and its data, of which at most `cap`
 * points a series. WEIR_ENOMEM. */
int wr_html_figure(FILE *out, const struct wr_doc_chart *c, size_t cap,
                   weir_err *err);

/* The data of a chart as page.js reads them, with nothing that would end the
 * element around it. *ret_drawn: how many points they hold. WEIR_ENOMEM. */
int wr_html_data(FILE *out, const struct wr_doc_chart *c, size_t cap,
                 size_t *ret_drawn, weir_err *err);

#endif
