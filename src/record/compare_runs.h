/* compare_runs.h - whether two sets of runs differ by more than noise.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_COMPARE_RUNS_H
#define WR_RECORD_COMPARE_RUNS_H

#include <stddef.h>

/* What two sets of runs say. */
enum wr_verdict {
    WR_VERDICT_HIGHER, /* b is */
    WR_VERDICT_LOWER,
    WR_VERDICT_NOISE, /* the difference is inside the noise */
    WR_VERDICT_FEW,   /* one of them has fewer than two runs */
};

/* Runs of each from which the rank test decides, its level, and the change of
 * medians below which it is noise in any case. With fewer runs the ranges
 * must lie apart by more than the wider of them is wide. */
#define WR_COMPARE_RUNS   4
#define WR_COMPARE_LEVEL  0.05
#define WR_COMPARE_CHANGE 0.01

struct wr_compared {
    double a, b;      /* medians */
    double ratio;     /* b / a */
    double low, high; /* central 90 % of all ratios of a run of each; NaN
                         where there is one */
    double p;         /* of the rank test; NaN: not made */
    enum wr_verdict verdict;
};

void wr_compare_runs(const double *a, size_t n, const double *b, size_t m,
                     struct wr_compared *ret);

#endif
