/* bench.h - the STREAM-like benchmark of the input pipeline.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Several cases (one combination of settings each) are run in rounds: every
 * round runs every case once, and measures the limits beside them, so that a
 * noisy machine is noisy for all of them alike. The first round is a warm-up
 * and is not counted; results are medians of the others, ratios are medians
 * of the ratios of each round.
 *
 * Several ranks run each case at the same time, each on its share of the
 * samples: a run's rate is the sum of their samples over the time of the slowest
 * one. So are the limits: all ranks measure them together. */
#ifndef WR_MEASURE_BENCH_H
#define WR_MEASURE_BENCH_H

#include "base/series.h"
#include "measure/accelerator.h"
#include "measure/files.h"
#include "measure/limits.h"
#include "measure/together.h"
#include "result/bench.h"

struct wr_comm;

/* One combination of settings. */
struct wr_bench_case {
    weir_pipeline_config cfg;
    enum wr_cache_state cache;
};

struct wr_bench_plan {
    const weir_dataset *ds;      /* borrowed */
    struct wr_bench_case *cases; /* borrowed */
    size_t case_count;
    unsigned rounds;                   /* the warm-up included, >= 2 */
    struct wr_accelerator accelerator; /* works on each batch; zeroed: none */
    bool digest;                       /* hash everything that is delivered */
    bool limits;                       /* measure them */
    bool keep_batches;                 /* keep the time of every batch */
    size_t batch_rows; /* of each run's series of batches, at most; 0: none */

    /* Called for every batch: how many of all runs are done. The limits of a
     * run count as much as the run itself. */
    void (*progress)(void *arg, uint64_t done, uint64_t total);
    void *progress_arg;
    uint64_t done, total;  /* kept by wr_bench */
    bool (*stopped)(void); /* polled; may be NULL */

    /* Several ranks, each with its rank and world in the cases' settings; NULL:
     * one process. */
    struct wr_comm *comm; /* borrowed */
    uint32_t local_rank;  /* rank 0 of a host prepares its page cache */
};

/* Thread counts that the read limit is tried with: 1, 2, 4, ... */
#define WR_BENCH_READ_COUNTS 6

/* When a batch came, in nanoseconds since the pipeline was opened. */
struct wr_bench_batch {
    uint64_t wait_ns; /* the consumer waited for it */
    uint64_t at_ns;
    uint32_t count;
};

/* Columns of the series of batches, in milliseconds. Its time is that of the
 * batch since the pipeline was opened, in milliseconds too. */
enum wr_bench_batch_column {
    WR_BENCH_WAIT, /* the consumer waited for it */
    WR_BENCH_GAP,  /* since the batch before; NaN of the first */
    WR_BENCH_BATCH_COLUMNS
};

/* One run of one case. */
struct wr_bench_run {
    struct wr_bench_values v; /* texts are those below, or of `said` */
    uint64_t start_ns;        /* wr_clock_ns when the pipeline was opened */
    char cache_error[500], tuning[2400], digest[17];
    double read_rates[WR_BENCH_READ_COUNTS]; /* by 1 << k threads; 0: none */
    struct wr_bench_batch *batch_times;      /* owned; NULL: not kept */
    size_t batch_time_count;
    /* On rank 0 of several, of which `v` is the sum or the slowest one's; the
     * times of batches are rank 0's own. */
    struct wr_list ranks; /* owned: wr_bench_values; count 0: one process */
    json_t *said;         /* owned: what the ranks sent */
    /* Of counted rounds: the batches in fixed memory; capacity 0: not kept. A
     * caller of wr_bench_once makes it. */
    struct wr_series series;
};

struct wr_bench_result {
    struct wr_bench_result_values v;
    struct wr_bench_run *runs; /* owned: rounds, the warm-up first */
    unsigned round_count;
    unsigned median;      /* the run whose rate is the median */
    weir_bad_sample *bad; /* owned, as is each text: of the last run */
    size_t bad_kept;
    uint64_t bad_count;
};

/* *ret is an array of case_count results, to be freed with
 * wr_bench_free(ret, case_count). All ranks; those of rank 0 count. */
int wr_bench(const struct wr_bench_plan *plan, struct wr_bench_result **ret,
             weir_err *err);
void wr_bench_free(struct wr_bench_result *results, size_t count);

/* What a pipeline says about itself. */
void wr_bench_fill(struct wr_bench_values *v, const weir_stats *s);

/* Runs one case once; nothing of ret->v is known before. */
int wr_bench_once(const struct wr_bench_plan *plan,
                  const struct wr_bench_case *c, struct wr_bench_run *ret,
                  struct wr_bench_result *bad, weir_err *err);

/* All ranks, after each has run `c`. On rank 0 `run` becomes that of all: sums
 * of samples, bytes and requests, the slowest rank's seconds, the means of the
 * pipelines' times; `bad` gets the others' counts. */
int wr_bench_join(const struct wr_together *t, struct wr_bench_run *run,
                  struct wr_bench_result *bad, weir_err *err);

#endif
