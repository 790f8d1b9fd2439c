/* thin.c - fewer points of a series that look the same.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/thin.h"

#include <math.h>

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
