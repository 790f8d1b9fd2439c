/* thin.h - fewer points of a series that look the same.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_THIN_H
#define WR_RECORD_THIN_H

#include <stdbool.h>
#include <stddef.h>

#define WR_THIN_MIN 8 /* limits below count as this */

/* Chooses at most `limit` of n points. keep[i] comes in as "is marked" and
 * goes out as "is kept"; the number of kept ones is returned. Kept are the
 * first and the last, the marked ones (when they are more than half of the
 * limit: the highest of each group of neighbours), and of as many stretches
 * as there is room for the lowest and the highest. NaN is a gap: a stretch of
 * nothing else keeps one. */
size_t wr_thin(const double *y, bool *keep, size_t n, size_t limit);

#endif
