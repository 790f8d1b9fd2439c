/* doc_chart_bars.h - bars of a chart on a terminal, one a line.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_DOC_CHART_BARS_H
#define WR_RECORD_DOC_CHART_BARS_H

#include "record/doc_canvas.h"
#include "record/doc_private.h"

/* Bars of WR_DOC_BARS: each is drawn as its series is (measured, reference,
 * ceiling), on a logarithmic axis as a dot. */
void wr_doc_chart_bars(const struct wr_doc_canvas *cv,
                       const struct wr_doc_chart *c);

/* Bars of WR_DOC_STACKED and what their stretches mean. */
void wr_doc_chart_stacked(const struct wr_doc_canvas *cv,
                          const struct wr_doc_chart *c);

#endif
