/* points.h - points of a series on their way into a chart, thinned.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_POINTS_H
#define WR_RECORD_POINTS_H

#include "record/doc.h"

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

#endif
