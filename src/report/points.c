/* points.c - points of a series on their way into a chart, thinned.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Leaves at most `limit` marks: of each group of neighbours the highest.
 * Returns how many are left. */
static size_t thin_marks(const double *y, bool *keep, size_t n, size_t limit)
{
    size_t marks = 0, group, in_group = 0, best = 0, left = 0;

    for (size_t i = 0; i < n; i++)
        marks += keep[i];
    if (marks <= limit)
        return marks;
    group = (marks + limit - 1) / limit;
    for (size_t i = 0; i < n; i++) {
        if (!keep[i])
            continue;
        keep[i] = false;
        if (!in_group++ || y[i] > y[best])
            best = i;
        if (in_group == group) {
            keep[best] = true;
            left++;
            in_group = 0;
        }
    }
    if (in_group) {
        keep[best] = true;
        left++;
    }
    return left;
}

/* Keeps the lowest and the highest of y[from..to). */
static void keep_extremes(const double *y, bool *keep, size_t from, size_t to)
{
    size_t low = from, high = from;

    for (size_t i = from; i < to; i++) {
        if (isnan(y[low]) || y[i] < y[low])
            low = i;
        if (isnan(y[high]) || y[i] > y[high])
            high = i;
    }
    keep[low] = true;
    keep[high] = true;
}

size_t wr_thin(const double *y, bool *keep, size_t n, size_t limit)
{
    size_t marks, stretches, kept = 0;

    limit = WR_MAX(limit, WR_THIN_MIN);
    if (n <= limit) {
        for (size_t i = 0; i < n; i++)
            keep[i] = true;
        return n;
    }
    marks = thin_marks(y, keep, n, limit / 2);
    stretches = (limit - marks - 2) / 2;
    for (size_t k = 0; k < stretches; k++)
        keep_extremes(
            y, keep, n / stretches * k + n % stretches * k / stretches,
            n / stretches * (k + 1) + n % stretches * (k + 1) / stretches);
    keep[0] = true;
    keep[n - 1] = true;
    for (size_t i = 0; i < n; i++)
        kept += keep[i];
    return kept;
}

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
