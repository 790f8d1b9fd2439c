/* study_figure.h - the charts and the table of one figure of a study.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_STUDY_FIGURE_H
#define WR_RECORD_STUDY_FIGURE_H

#include <jansson.h>

#include "record/doc.h"

/* `parts` as grouped bars with whiskers, paper and here side by side; `lines`
 * over time with runs as bands; `table` as a table. Bears any JSON. */
void wr_study_figure(struct wr_doc *d, struct wr_doc_section *s,
                     const json_t *figure);

#endif
