/* stats.c - medians, quantiles and whether two sets of runs differ.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

size_t wr_stats_sort(double *v, size_t n)
{
    size_t numbers = 0;

    for (size_t i = 0; i < n; i++)
        if (!isnan(v[i])) {
            double x = v[i];

            v[i] = v[numbers];
            v[numbers++] = x;
        }
    if (numbers)
        qsort(v, numbers, sizeof(*v), by_value);
    return numbers;
}

double wr_stats_quantile(const double *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t below;

    if (!n)
        return NAN;
    below = (size_t)at;
    if (below + 1 >= n)
        return sorted[n - 1];
    return sorted[below] +
           (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

double wr_stats_median(const double *v, size_t n)
{
    double *sorted, median;

    if (!n)
        return NAN;
    sorted = malloc(n * sizeof(*sorted));
    if (!sorted)
        return NAN;
    memcpy(sorted, v, n * sizeof(*sorted));
    median = wr_stats_quantile(sorted, wr_stats_sort(sorted, n), 0.5);
    free(sorted);
    return median;
}

/* The places of v[k] and of those like it in the order: from *ret_from on. */
static size_t places_of(const double *v, size_t n, size_t k, size_t *ret_from)
{
    size_t alike = 0;

    *ret_from = 0;
    for (size_t i = 0; i < n; i++) {
        *ret_from += v[i] < v[k];
        alike += v[i] == v[k];
    }
    return alike;
}

size_t wr_stats_middle(const double *v, size_t n)
{
    size_t known = 0, from;

    for (size_t i = 0; i < n; i++)
        known += !isnan(v[i]);
    for (size_t k = 0; k < n && known; k++)
        if (places_of(v, n, k, &from) + from > (known - 1) / 2 &&
            from <= known / 2 && !isnan(v[k]))
            return k;
    return n;
}

/* Twice the rank of each of `all` (a first, then b): whole numbers also where
 * ties share ranks. */
static void double_ranks(const double *all, size_t n, unsigned *ret)
{
    for (size_t i = 0; i < n; i++) {
        unsigned below = 0, same = 0;

        for (size_t k = 0; k < n; k++) {
            below += all[k] < all[i];
            same += all[k] == all[i];
        }
        ret[i] = 2 * below + same + 1;
    }
}

/* How likely each sum of n of the `total` double ranks is, every choice alike.
 * ways[k * width + s]: so many ways to choose k with sum s. */
static double tail(const unsigned *rank, size_t n, size_t total,
                   unsigned observed)
{
    size_t sum = 0, width;
    double *ways, all = 0, extreme = 0, mean, off;

    for (size_t i = 0; i < total; i++)
        sum += rank[i];
    width = sum + 1;
    ways = calloc((n + 1) * width, sizeof(*ways));
    if (!ways)
        return NAN;
    ways[0] = 1;
    for (size_t i = 0; i < total; i++)
        for (size_t k = WR_MIN(i + 1, n); k > 0; k--)
            for (size_t s = rank[i]; s < width; s++)
                ways[k * width + s] += ways[(k - 1) * width + s - rank[i]];
    mean = (double)n * (double)sum / (double)total;
    off = fabs(observed - mean);
    for (size_t s = 0; s < width; s++) {
        all += ways[n * width + s];
        if (fabs((double)s - mean) >= off - 1e-9)
            extreme += ways[n * width + s];
    }
    free(ways);
    return extreme / all;
}

/* The same where sums are many: they are normal then, with the variance that
 * ranks without repetition have. */
static double normal_tail(const unsigned *rank, size_t n, size_t total,
                          unsigned observed)
{
    double sum = 0, squares = 0, all = (double)total, mean, variance;

    for (size_t i = 0; i < total; i++) {
        sum += rank[i];
        squares += (double)rank[i] * rank[i];
    }
    mean = (double)n * sum / all;
    variance = (double)n * (all - (double)n) / (all - 1) *
               (squares / all - sum / all * (sum / all));
    if (!(variance > 0))
        return 1;
    return erfc(fabs(observed - mean) / sqrt(2 * variance));
}

double wr_stats_rank_test(const double *a, size_t n, const double *b, size_t m)
{
    double all[2 * WR_STATS_RUNS_MAX];
    unsigned rank[2 * WR_STATS_RUNS_MAX], observed = 0;
    size_t na = 0, total = 0;

    for (size_t i = 0; i < n && na < WR_STATS_RUNS_MAX; i++)
        if (!isnan(a[i]))
            all[na++] = a[i];
    total = na;
    for (size_t i = 0; i < m && total - na < WR_STATS_RUNS_MAX; i++)
        if (!isnan(b[i]))
            all[total++] = b[i];
    if (!na || total == na)
        return NAN;
    double_ranks(all, total, rank);
    for (size_t i = 0; i < na; i++)
        observed += rank[i];
    if (na > WR_STATS_EXACT_MAX || total - na > WR_STATS_EXACT_MAX)
        return normal_tail(rank, na, total, observed);
    return tail(rank, na, total, observed);
}
