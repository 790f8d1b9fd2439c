/* stats.h - medians, quantiles and whether two sets of runs differ.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Of a few runs each. NaN among the numbers is passed over. */
#ifndef WR_RESULT_STATS_H
#define WR_RESULT_STATS_H

#include <stddef.h>

/* Sorts v, moves NaN to the end; returns how many numbers there are. */
size_t wr_stats_sort(double *v, size_t n);

/* Of sorted numbers, q in 0..1, between neighbours by proportion; NaN of
 * none. */
double wr_stats_quantile(const double *sorted, size_t n, double q);

/* Of numbers in any order. NaN of none or when memory is short. */
double wr_stats_median(const double *v, size_t n);

/* Number of the one that stands for all: the first of those in the middle of the
 * order; n of none. Of an even number two are as near to the median, and sums
 * that are rounded must not decide between them. */
size_t wr_stats_middle(const double *v, size_t n);

/* Two-sided probability that two sets of runs which do not differ are ordered
 * as much one after the other as these are: the permutation distribution of
 * the rank sum (Mann-Whitney), ties sharing their ranks. Exact up to
 * WR_STATS_EXACT_MAX runs of each, else by the normal distribution; of more
 * than WR_STATS_RUNS_MAX only the first are looked at. NaN when one is
 * empty. */
#define WR_STATS_EXACT_MAX 20
#define WR_STATS_RUNS_MAX  64
double wr_stats_rank_test(const double *a, size_t n, const double *b, size_t m);

#endif
