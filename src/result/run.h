/* run.h - what weir run measures: every value, once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * V(kind, member, how ranks become one, more of struct wr_val): result/value.h.
 * docs/formats/record.md says what each means. A record is one row, and its
 * epochs are the runs of it. */
#ifndef WR_RESULT_RUN_H
#define WR_RESULT_RUN_H

#include "result/bench.h"
#include "result/cases.h"
#include "result/value.h"

#define WR_RUN_CONFIG_VALUES(V)                                                \
    V(TEXT, workload, FIRST, .flags = WR_VAL_NULL)                             \
    V(TEXT, title, FIRST, .flags = WR_VAL_NULL)                                \
    V(TEXT, data, FIRST, .flags = WR_VAL_NULL)                                 \
    V(TEXT, format, FIRST, .flags = WR_VAL_NULL)                               \
    V(COUNT, files, FIRST)                                                     \
    V(COUNT, samples, FIRST)                                                   \
    V(TEXT, read_type, FIRST, .words = read_types)                             \
    V(COUNT, ranks, FIRST)                                                     \
    V(COUNT, accelerators, FIRST, .help = "of all ranks")                      \
    V(COUNT, batch, FIRST)                                                     \
    V(COUNT, epochs, FIRST)                                                    \
    V(COUNT, steps, FIRST, .help = "of an accelerator in an epoch")            \
    V(REAL, step_s, FIRST)                                                     \
    V(TEXT, step_law, FIRST, .flags = WR_VAL_NULL)                             \
    V(REAL, au_target, FIRST)                                                  \
    V(REAL, scale, FIRST)                                                      \
    V(TEXT, consume, FIRST, .words = consumes)                                 \
    V(TEXT, order, FIRST, .flags = WR_VAL_NULL)                                \
    V(TEXT, access, FIRST, .words = accesses)                                  \
    V(TEXT, compat, FIRST, .words = compats)                                   \
    V(COUNT, threads, FIRST)                                                   \
    V(COUNT, depth, FIRST)                                                     \
    V(COUNT, prefetch, FIRST)                                                  \
    V(TEXT, cache, FIRST, .flags = WR_VAL_NULL)                                \
    V(FLAG, no_io, FIRST)

/* Of one accelerator that never waits. */
#define WR_RUN_DEMAND_VALUES(V)                                                \
    V(REAL, bytes_per_s, FIRST)                                                \
    V(REAL, samples_per_s, FIRST)                                              \
    V(REAL, files_per_s, FIRST)                                                \
    V(REAL, sample_bytes, FIRST)                                               \
    V(REAL, dataset_bytes, FIRST)

#define WR_RUN_SELFTEST_VALUES(V)                                              \
    V(REAL, au, FIRST)                                                         \
    V(REAL, overhead_us, FIRST)                                                \
    V(COUNT, steps, FIRST)                                                     \
    V(FLAG, ok, FIRST)

/* An epoch of all ranks; times are means over the accelerators. */
#define WR_RUN_EPOCH_VALUES(V)                                                 \
    V(COUNT, epoch, FIRST)                                                     \
    V(REAL, seconds, FIRST)                                                    \
    V(COUNT, steps, FIRST)                                                     \
    V(COUNT, samples, FIRST)                                                   \
    V(COUNT, bytes, FIRST)                                                     \
    V(REAL, au, FIRST, .compared = 2, .better = WR_IS_SHARE, .title = "AU",    \
      .digits = 3)                                                             \
    V(REAL, au_dlio, FIRST, .unit = 0.01, .digits = 1)                         \
    V(REAL, samples_per_s, FIRST, .compared = 1, .better = WR_IS_RATE,         \
      .title = "samples/s", .digits = 1)                                       \
    V(REAL, bytes_per_s, FIRST)                                                \
    V(REAL, resident, FIRST, .unit = 0.01)                                     \
    V(REAL, wait_s, FIRST, .compared = 3, .better = WR_IS_TIME,                \
      .title = "waiting (s)", .digits = 3)                                     \
    V(REAL, eval_s, FIRST)                                                     \
    V(REAL, save_s, FIRST)

#define WR_RUN_RESULT_VALUES(V)                                                \
    V(REAL, au, FIRST)                                                         \
    V(REAL, au_dlio, FIRST, .help = "by DLIO's formula")                       \
    V(MAYBE, meets, FIRST, .help = "the target")                               \
    V(REAL, samples_per_s, FIRST)                                              \
    V(REAL, dlio_samples_per_s, FIRST)                                         \
    V(COUNT, bytes, FIRST)                                                     \
    V(REAL, bytes_per_s, FIRST, .help = "measured")                            \
    V(REAL, nominal_bytes_per_s, FIRST, .help = "samples times their size")    \
    V(REAL, seconds, FIRST)                                                    \
    V(REAL, load_s, FIRST)                                                     \
    V(COUNT, samples, FIRST)                                                   \
    V(COUNT, steps, FIRST)                                                     \
    V(REAL, cpu_s_per_gb, FIRST)                                               \
    V(REAL, resident, FIRST)                                                   \
    V(COUNT, peak_bytes, FIRST)                                                \
    V(REAL, first_batch_ms, FIRST)                                             \
    V(TEXT, digest, FIRST, .flags = WR_VAL_SPARE)

/* Shares of the time of all accelerators; they add up to 1. */
#define WR_RUN_LOSS_VALUES(V)                                                  \
    V(REAL, compute, FIRST)                                                    \
    V(REAL, read, FIRST)                                                       \
    V(REAL, barrier, FIRST)                                                    \
    V(REAL, save, FIRST)                                                       \
    V(REAL, eval, FIRST)                                                       \
    V(REAL, emulator, FIRST)

/* Of the first accelerator's pipeline. */
#define WR_RUN_INPUT_VALUES(V)                                                 \
    V(TEXT, io, FIRST)                                                         \
    V(TEXT, verdict, FIRST, .words = wr_verdict_words)                         \
    V(GROUP(input), times, FIRST)

#define WR_RUN_READS_VALUES(V)                                                 \
    V(COUNT, count, FIRST)                                                     \
    V(COUNT, bytes, FIRST)                                                     \
    V(COUNT, errors, FIRST)                                                    \
    V(COUNT, opens, FIRST)                                                     \
    V(REAL, p50_us, FIRST, .flags = WR_VAL_SPARE)                              \
    V(REAL, p95_us, FIRST, .flags = WR_VAL_SPARE)                              \
    V(REAL, p99_us, FIRST, .flags = WR_VAL_SPARE)                              \
    V(REAL, max_us, FIRST, .flags = WR_VAL_SPARE)                              \
    V(COUNT, usual_bytes, FIRST, .flags = WR_VAL_SPARE)                        \
    V(REAL, mean_bytes, FIRST, .flags = WR_VAL_SPARE)                          \
    V(REAL, sequential, FIRST, .flags = WR_VAL_SPARE)                          \
    V(REAL, consecutive, FIRST, .flags = WR_VAL_SPARE)                         \
    V(REAL, io_share, FIRST, .flags = WR_VAL_SPARE)                            \
    V(JSON, sizes, FIRST)                                                      \
    V(JSON, latencies, FIRST)

#define WR_RUN_BATCHES_VALUES(V)                                               \
    V(REAL, wait_p50_ms, FIRST)                                                \
    V(REAL, wait_p95_ms, FIRST)                                                \
    V(REAL, wait_p99_ms, FIRST)                                                \
    V(REAL, wait_max_ms, FIRST)                                                \
    V(COUNT, stalls, FIRST)                                                    \
    V(COUNT, steps, FIRST, .help = "of all accelerators")

#define WR_RUN_RANK_VALUES(V)                                                  \
    V(COUNT, rank, FIRST)                                                      \
    V(TEXT, host, FIRST)                                                       \
    V(COUNT, accelerators, FIRST)                                              \
    V(REAL, seconds, FIRST)                                                    \
    V(REAL, au, FIRST)                                                         \
    V(REAL, wait_s, FIRST)                                                     \
    V(REAL, barrier_s, FIRST)                                                  \
    V(COUNT, samples, FIRST)                                                   \
    V(COUNT, bytes, FIRST)                                                     \
    V(COUNT, peak_bytes, FIRST)

#define WR_RUN_SAVE_VALUES(V)                                                  \
    V(COUNT, step, FIRST)                                                      \
    V(REAL, at_s, FIRST)                                                       \
    V(COUNT, bytes, FIRST)                                                     \
    V(REAL, stall_s, FIRST)                                                    \
    V(REAL, fast_s, FIRST)                                                     \
    V(REAL, slow_s, FIRST)

#define WR_RUN_RESTORE_VALUES(V)                                               \
    V(COUNT, step, FIRST)                                                      \
    V(REAL, seconds, FIRST)                                                    \
    V(COUNT, bytes, FIRST)

/* What others measured of the same workload. */
#define WR_RUN_SEED_VALUES(V)                                                  \
    V(TEXT, source, FIRST, .flags = WR_VAL_NULL)                               \
    V(REAL, io_percent, FIRST)                                                 \
    V(REAL, request_bytes, FIRST)                                              \
    V(REAL, sequential_percent, FIRST)                                         \
    V(REAL, consecutive_percent, FIRST)                                        \
    V(REAL, bytes_per_s, FIRST)                                                \
    V(REAL, step_s, FIRST)                                                     \
    V(REAL, ranks, FIRST)

#define WR_RUN_POINT_VALUES(V)                                                 \
    V(COUNT, accelerators, FIRST)                                              \
    V(REAL, au, FIRST)                                                         \
    V(REAL, samples_per_s, FIRST)                                              \
    V(REAL, bytes_per_s, FIRST)                                                \
    V(FLAG, meets, FIRST)

#define WR_RUN_SEARCH_VALUES(V)                                                \
    V(REAL, target, FIRST)                                                     \
    V(COUNT, most, FIRST)                                                      \
    V(LIST(run_point), points, FIRST)                                          \
    V(TEXT, limit, FIRST, .words = limits)

#define WR_RUN_VALUES(V)                                                       \
    V(GROUP(run_config), config, FIRST)                                        \
    V(GROUP(run_demand), demand, FIRST)                                        \
    V(GROUP(run_selftest), selftest, FIRST, .flags = WR_VAL_NULL)              \
    V(LIST(run_epoch), epochs, FIRST)                                          \
    V(GROUP(run_result), result, FIRST)                                        \
    V(GROUP(run_loss), loss, FIRST)                                            \
    V(GROUP(run_input), input, FIRST, .flags = WR_VAL_NULL)                    \
    V(GROUP(run_reads), reads, FIRST)                                          \
    V(GROUP(run_batches), batches, FIRST)                                      \
    V(LIST(run_rank), ranks, FIRST)                                            \
    V(LIST(run_save), saves, FIRST)                                            \
    V(LIST(run_restore), restores, FIRST)                                      \
    V(JSON, series, FIRST)                                                     \
    V(GROUP(run_seed), seed, FIRST, .flags = WR_VAL_NULL)                      \
    V(GROUP(run_search), search, FIRST, .flags = WR_VAL_NULL)                  \
    V(JSON, bad, FIRST)                                                        \
    V(COUNT, bad_count, FIRST)                                                 \
    V(REAL, start_s, FIRST, .flags = WR_VAL_SPARE)

WR_VALUES(run_config, WR_RUN_CONFIG_VALUES);
WR_VALUES(run_demand, WR_RUN_DEMAND_VALUES);
WR_VALUES(run_selftest, WR_RUN_SELFTEST_VALUES);
WR_VALUES(run_epoch, WR_RUN_EPOCH_VALUES);
WR_VALUES(run_result, WR_RUN_RESULT_VALUES);
WR_VALUES(run_loss, WR_RUN_LOSS_VALUES);
WR_VALUES(run_input, WR_RUN_INPUT_VALUES);
WR_VALUES(run_reads, WR_RUN_READS_VALUES);
WR_VALUES(run_batches, WR_RUN_BATCHES_VALUES);
WR_VALUES(run_rank, WR_RUN_RANK_VALUES);
WR_VALUES(run_save, WR_RUN_SAVE_VALUES);
WR_VALUES(run_restore, WR_RUN_RESTORE_VALUES);
WR_VALUES(run_seed, WR_RUN_SEED_VALUES);
WR_VALUES(run_point, WR_RUN_POINT_VALUES);
WR_VALUES(run_search, WR_RUN_SEARCH_VALUES);
WR_VALUES(run, WR_RUN_VALUES);

extern const struct wr_cases_spec wr_run_spec;

/* Of a record that was read. */
static inline const struct wr_run_values *
wr_run_values_of(const struct wr_view_record *r)
{
    return r->cases.v;
}

#endif
