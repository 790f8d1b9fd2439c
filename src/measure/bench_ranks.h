/* bench_ranks.h - one run of the benchmark by several ranks, as one.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MEASURE_BENCH_RANKS_H
#define WR_MEASURE_BENCH_RANKS_H

#include "measure/bench.h"
#include "measure/together.h"

/* What a rank tells of its run; sent as it is, between equal programs. */
struct wr_bench_rank {
    char host[65];
    double seconds;
    uint64_t samples, batches, bytes, peak_bytes, digest, bad_count;
    double cpu_s;
    double first_batch_ms, gap_p50_ms, gap_p99_ms, last_epoch_per_s;
    enum weir_verdict verdict;
    struct wr_cores_use cores;
    weir_stats stats; /* without the text */
    char cache_error[500];
    weir_bad_sample bad; /* its first one, if there is any; without the text */
    char bad_text[400];
};

/* All ranks, after each has run `c`. On rank 0 `run` becomes that of all: sums
 * of samples, bytes and requests, the slowest rank's seconds, the means of the
 * pipelines' times; `bad` gets the others' counts. */
int wr_bench_join(const struct wr_together *t, struct wr_bench_run *run,
                  struct wr_bench_result *bad, weir_err *err);

#endif
