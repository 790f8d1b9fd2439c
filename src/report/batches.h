/* batches.h - the times of each batch of a run, and its stalls.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_BATCHES_H
#define WR_REPORT_BATCHES_H

#include "report/points.h"
#include "report/view.h"

/* A batch is a stall when the consumer's wait for it, or the time since the
 * batch before, is over WR_STALL_TIMES the median time between batches of its
 * run and over WR_STALL_MS. The first batch, which pays for the start, never
 * is. */
#define WR_STALL_TIMES 3.0
#define WR_STALL_MS    1.0

/* What a case's counted runs have. */
struct wr_batches {
    size_t rows, stalls;
    double merged; /* batches in a row, at most; 1 when none were merged */
    double median_ms, longest_ms; /* of the times between batches */
};

/* Looks at all counted runs of `row`; their batches are added to `to` (may be
 * NULL) at their seconds since the pipeline was opened. */
void wr_batches_of(const struct wr_case *row, struct wr_points *to,
                   struct wr_batches *ret);

/* Charts of all rows: a series a case. */
void wr_batches_draw(struct wr_scope *v);

#endif
