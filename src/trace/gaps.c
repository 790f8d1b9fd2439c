/* gaps.c - pauses of a thread, by their length: which are between batches?
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/gaps.h"

#include <math.h>
#include <stddef.h>

#define LEAST       16  /* pauses, below which nothing is said */
#define APART       4.0 /* the long ones are so many times as long on average */
#define SEPARATED   0.7 /* of the variance of the logarithms lies between heaps */
#define SHORT_SHARE 1   /* at least as many short ones as long ones */

static size_t bucket_of(uint64_t ns)
{
    unsigned top;
    size_t k;

    if (ns < 4)
        return (size_t)ns;
    top = 63 - (unsigned)__builtin_clzll(ns);
    k = (size_t)top * 4 + ((ns >> (top - 2)) & 3) - 4;
    return k < WR_GAP_BUCKETS ? k : WR_GAP_BUCKETS - 1;
}

static uint64_t edge_of(size_t k)
{
    unsigned top = (unsigned)(k + 4) / 4;

    if (k < 4)
        return k;
    return (UINT64_C(4) + (k & 3)) << (top - 2);
}

void wr_gaps_add(struct wr_gaps *g, uint64_t ns)
{
    size_t k = bucket_of(ns);

    g->count[k]++;
    g->sum_ns[k] += ns;
    g->total++;
    g->total_ns += ns;
}

void wr_gaps_merge(struct wr_gaps *g, const struct wr_gaps *other)
{
    for (size_t k = 0; k < WR_GAP_BUCKETS; k++) {
        g->count[k] += other->count[k];
        g->sum_ns[k] += other->sum_ns[k];
    }
    g->total += other->total;
    g->total_ns += other->total_ns;
}

/* Mean and variance of the logarithms (the number of the bucket). */
static void moments(const struct wr_gaps *g, double *ret_mean, double *ret_var)
{
    double sum = 0, squares = 0, n = (double)g->total;

    for (size_t k = 0; k < WR_GAP_BUCKETS; k++) {
        sum += (double)k * g->count[k];
        squares += (double)k * (double)k * g->count[k];
    }
    *ret_mean = sum / n;
    *ret_var = squares / n - *ret_mean * *ret_mean;
}

uint64_t wr_gaps_above(const struct wr_gaps *g, uint64_t ns,
                       uint64_t *ret_count)
{
    uint64_t sum = 0, count = 0;

    for (size_t k = bucket_of(ns); k < WR_GAP_BUCKETS; k++) {
        count += g->count[k];
        sum += g->sum_ns[k];
    }
    if (ret_count)
        *ret_count = count;
    return sum;
}

/* The heaps that `edge` makes differ as those of samples and batches do. */
static uint64_t if_apart(const struct wr_gaps *g, uint64_t edge)
{
    uint64_t count, sum = wr_gaps_above(g, edge, &count);
    double high, low;

    if (!count || count == g->total || count * SHORT_SHARE > g->total - count)
        return 0;
    high = (double)sum / (double)count;
    low = (double)(g->total_ns - sum) / (double)(g->total - count);
    return high >= APART * low ? edge : 0;
}

/* Otsu's method: the split with the most variance between the two sides. */
uint64_t wr_gaps_split(const struct wr_gaps *g)
{
    double mean, var, best = 0, below = 0, sum = 0;
    size_t at = 0;

    if (g->total < LEAST)
        return 0;
    moments(g, &mean, &var);
    for (size_t k = 0; k + 1 < WR_GAP_BUCKETS; k++) {
        double w, between;

        below += g->count[k];
        sum += (double)k * g->count[k];
        w = below / (double)g->total;
        if (w <= 0 || w >= 1)
            continue;
        between = w * (1 - w) *
                  pow(sum / below - (mean * (double)g->total - sum) /
                                        ((double)g->total - below),
                      2);
        if (between > best) {
            best = between;
            at = k + 1;
        }
    }
    if (!at || best < SEPARATED * var)
        return 0;
    return if_apart(g, edge_of(at));
}
