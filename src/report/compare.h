/* compare.h - two records of the same command against each other.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_COMPARE_H
#define WR_REPORT_COMPARE_H

#include <stddef.h>

#include "result/cases.h"
#include "report/doc.h"

/* What wr_compare found among the rates (samples/s, requests/s). */
struct wr_comparison {
    size_t rates, faster, slower;
    double worst; /* lowest ratio outside the noise; NaN: none */
    char worst_name[300];
};

/* Whether records of this command can be compared. */
bool wr_compare_knows(const char *command);

/* Adds a section: what differs in the machines and settings, and every metric
 * of what both have. r[0] is A, r[1] is B; both of one command. */
void wr_compare(struct wr_doc *d, const struct wr_view_record r[2],
                struct wr_comparison *ret);

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

/* Of the table of the comparison; without help: the sentences tell. */
extern const struct wr_column wr_compare_columns[];

#endif
