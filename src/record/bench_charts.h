/* bench_charts.h - charts of an experiment of weir bench.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_BENCH_CHARTS_H
#define WR_RECORD_BENCH_CHARTS_H

#include "record/view.h"

/* A number of a setting, NaN for "auto" or none. */
double wr_bench_setting(const struct wr_case *row, const char *key);

/* Whether nothing was decoded in any case: rates are bytes then. */
bool wr_bench_is_read(const struct wr_cases *c);

/* How fast, by threads where threads were swept. */
void wr_bench_rates(struct wr_scope *v);

/* What of the runtime the consumer waited, with and without prefetching. */
void wr_bench_prefetch(struct wr_scope *v);

/* Where the workers' time went; not of reading alone. */
void wr_bench_stages(struct wr_scope *v);

#endif
