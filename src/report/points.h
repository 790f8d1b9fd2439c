/* points.h - points of a series on their way into a chart, thinned.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_POINTS_H
#define WR_REPORT_POINTS_H

#include <stdbool.h>
#include <stddef.h>

#include "report/doc.h"

/* Begins zeroed. */
struct wr_points {
    double *x, *y; /* owned */
    bool *marked;  /* owned */
    size_t count, x_cap, y_cap, marked_cap;
    size_t marks; /* of all that were added since the last draw */
    bool failed;  /* memory ran out */
};

/* A point whose x is NaN is passed over. */
void wr_points_add(struct wr_points *p, double x, double y, bool marked);

/* Adds what thinning to `limit` leaves of them to a series of d, and empties
 * p for the next one. */
void wr_points_draw(struct wr_points *p, struct wr_doc *d,
                    struct wr_doc_series *to, size_t limit);

void wr_points_done(struct wr_points *p);

#define WR_THIN_MIN 8 /* limits below count as this */

/* Chooses at most `limit` of n points. keep[i] comes in as "is marked" and
 * goes out as "is kept"; the number of kept ones is returned. Kept are the
 * first and the last, the marked ones (when they are more than half of the
 * limit: the highest of each group of neighbours), and of as many stretches
 * as there is room for the lowest and the highest. NaN is a gap: a stretch of
 * nothing else keeps one. */
size_t wr_thin(const double *y, bool *keep, size_t n, size_t limit);

#endif
