/* compare_runs.c - whether two sets of runs differ by more than noise.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/compare_runs.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "result/stats.h"

#define SPREAD_LOW  0.05
#define SPREAD_HIGH 0.95

/* All ratios of a run of b to a run of a; their central part. */
static void spread(const double *a, size_t n, const double *b, size_t m,
                   struct wr_compared *ret)
{
    double ratios[WR_STATS_RUNS_MAX * WR_STATS_RUNS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++)
            ratios[count++] = b[k] / a[i];
    count = wr_stats_sort(ratios, count);
    ret->low = ret->high = NAN;
    if (count < 2) /* one of each: no spread */
        return;
    ret->low = wr_stats_quantile(ratios, count, SPREAD_LOW);
    ret->high = wr_stats_quantile(ratios, count, SPREAD_HIGH);
}

/* Few runs: the ranges lie apart by more than the wider of them is wide. */
static bool ranges_apart(const double *a, size_t n, const double *b, size_t m)
{
    double wider = fmax(a[n - 1] - a[0], b[m - 1] - b[0]);

    return b[0] - a[n - 1] > wider || a[0] - b[m - 1] > wider;
}

/* a and b sorted. */
static enum wr_verdict judge(const double *a, size_t n, const double *b,
                             size_t m, struct wr_compared *c)
{
    bool apart;

    if (n < 2 || m < 2)
        return WR_VERDICT_FEW;
    if (n >= WR_COMPARE_RUNS && m >= WR_COMPARE_RUNS) {
        c->p = wr_stats_rank_test(a, n, b, m);
        apart = c->p <= WR_COMPARE_LEVEL;
    } else {
        apart = ranges_apart(a, n, b, m);
    }
    if (!apart || !(fabs(c->b - c->a) >= WR_COMPARE_CHANGE * fabs(c->a)))
        return WR_VERDICT_NOISE;
    return c->b > c->a ? WR_VERDICT_HIGHER : WR_VERDICT_LOWER;
}

void wr_compare_runs(const double *a, size_t n, const double *b, size_t m,
                     struct wr_compared *ret)
{
    double x[WR_STATS_RUNS_MAX], y[WR_STATS_RUNS_MAX];

    n = WR_MIN(n, (size_t)WR_STATS_RUNS_MAX);
    m = WR_MIN(m, (size_t)WR_STATS_RUNS_MAX);
    memcpy(x, a, n * sizeof(*x));
    memcpy(y, b, m * sizeof(*y));
    n = wr_stats_sort(x, n);
    m = wr_stats_sort(y, m);
    *ret = (struct wr_compared){.a = wr_stats_quantile(x, n, 0.5),
                                .b = wr_stats_quantile(y, m, 0.5),
                                .p = NAN};
    ret->ratio = ret->b / ret->a;
    spread(x, n, y, m, ret);
    ret->verdict = judge(x, n, y, m, ret);
}
