/* bench_ranks.h - one run of the benchmark by several ranks, as one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MEASURE_BENCH_RANKS_H
#define WR_MEASURE_BENCH_RANKS_H

#include "measure/bench.h"
#include "measure/together.h"

/* All ranks, after each has run `c`. On rank 0 `run` becomes that of all: sums
 * of samples, bytes and requests, the slowest rank's seconds, the means of the
 * pipelines' times; `bad` gets the others' counts. */
int wr_bench_join(const struct wr_together *t, struct wr_bench_run *run,
                  struct wr_bench_result *bad, weir_err *err);

#endif
