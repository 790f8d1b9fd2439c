/* hist.c - a log-linear histogram: any range, under 1 % error, fixed memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/hist.h"

#include <math.h>

#define SUB ((uint64_t)1 << WR_HIST_SUB_BITS)

static unsigned bucket_of(uint64_t value)
{
    unsigned shift;

    if (value < SUB)
        return (unsigned)value;
    shift = 63 - (unsigned)__builtin_clzll(value) - WR_HIST_SUB_BITS;
    return ((shift + 1) << WR_HIST_SUB_BITS) +
           (unsigned)((value >> shift) & (SUB - 1));
}

static uint64_t bucket_middle(unsigned b)
{
    unsigned shift = b >> WR_HIST_SUB_BITS;
    uint64_t low;

    if (shift == 0)
        return b;
    shift--;
    low = (SUB | (b & (SUB - 1))) << shift;
    return low + (((uint64_t)1 << shift) >> 1);
}

void wr_hist_add(struct wr_hist *h, uint64_t value)
{
    if (!h->count || value < h->min)
        h->min = value;
    if (value > h->max)
        h->max = value;
    h->count++;
    h->sum += value;
    h->bucket[bucket_of(value)]++;
}

void wr_hist_merge(struct wr_hist *h, const struct wr_hist *other)
{
    if (!other->count)
        return;
    if (!h->count || other->min < h->min)
        h->min = other->min;
    if (other->max > h->max)
        h->max = other->max;
    h->count += other->count;
    h->sum += other->sum;
    for (unsigned b = 0; b < WR_HIST_BUCKETS; b++)
        h->bucket[b] += other->bucket[b];
}

uint64_t wr_hist_quantile(const struct wr_hist *h, double q)
{
    uint64_t rank, seen = 0, value;

    if (!h->count)
        return 0;
    /* The smallest rank (from 0) with a fraction q at or below it. */
    rank = (uint64_t)ceil(q * (double)h->count);
    rank = rank > 0 ? rank - 1 : 0;
    for (unsigned b = 0; b < WR_HIST_BUCKETS; b++) {
        seen += h->bucket[b];
        if (seen <= rank)
            continue;
        value = bucket_middle(b);
        return value < h->min ? h->min : value > h->max ? h->max : value;
    }
    return h->max;
}

uint64_t wr_hist_count_between(const struct wr_hist *h, uint64_t from,
                               uint64_t to)
{
    uint64_t n = 0, value;

    for (unsigned b = 0; b < WR_HIST_BUCKETS; b++) {
        value = bucket_middle(b);
        if (value >= from && value < to)
            n += h->bucket[b];
    }
    return n;
}
