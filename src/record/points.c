/* points.c - points of a series on their way into a chart, thinned.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "record/thin.h"

void wr_points_add(struct wr_points *p, double x, double y, bool marked)
{
    if (isnan(x))
        return;
    if (p->failed || !wr_grow(&p->x, &p->x_cap, p->count + 1, sizeof(*p->x)) ||
        !wr_grow(&p->y, &p->y_cap, p->count + 1, sizeof(*p->y)) ||
        !wr_grow(&p->marked, &p->marked_cap, p->count + 1, sizeof(bool))) {
        p->failed = true;
        return;
    }
    p->x[p->count] = x;
    p->y[p->count] = y;
    p->marked[p->count++] = marked;
    p->marks += marked;
}

void wr_points_draw(struct wr_points *p, struct wr_doc *d,
                    struct wr_doc_series *to, size_t limit)
{
    bool *keep = malloc(WR_MAX(p->count, (size_t)1));

    if (!keep || p->failed) {
        wr_doc_fail(d);
        p->count = 0;
    }
    if (p->count) {
        memcpy(keep, p->marked, p->count);
        wr_thin(p->y, keep, p->count, limit);
    }
    for (size_t i = 0; i < p->count; i++)
        if (keep[i]) {
            wr_doc_point(to, p->x[i], p->y[i]);
            if (p->marked[i])
                wr_doc_mark(to);
        }
    free(keep);
    p->count = 0;
    p->marks = 0;
}

void wr_points_done(struct wr_points *p)
{
    free(p->x);
    free(p->y);
    free(p->marked);
    *p = (struct wr_points){0};
}
