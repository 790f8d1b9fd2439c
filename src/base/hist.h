/* hist.h - a log-linear histogram: any range, under 1 % error, fixed memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_HIST_H
#define WR_BASE_HIST_H

#include <stdint.h>

#define WR_HIST_SUB_BITS 6 /* 64 linear steps per power of two */
#define WR_HIST_BUCKETS  ((64 - WR_HIST_SUB_BITS + 1) << WR_HIST_SUB_BITS)

struct wr_hist {
    uint64_t count, sum, min, max;
    uint64_t bucket[WR_HIST_BUCKETS];
};

void wr_hist_add(struct wr_hist *h, uint64_t value);
void wr_hist_merge(struct wr_hist *h, const struct wr_hist *other);

/* Value below which a fraction `q` in [0, 1] of the values lies (the middle
 * of its bucket, clamped to [min, max]); 0 when empty. */
uint64_t wr_hist_quantile(const struct wr_hist *h, double q);

/* Values v with from <= v < to, counted by buckets' middles. */
uint64_t wr_hist_count_between(const struct wr_hist *h, uint64_t from,
                               uint64_t to);

#endif
