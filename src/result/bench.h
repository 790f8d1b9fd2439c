/* bench.h - what weir bench measures: every value, once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * V(kind, member, how ranks become one, more of struct wr_val): result/value.h.
 * docs/formats/record.md says what each means. */
#ifndef WR_RESULT_BENCH_H
#define WR_RESULT_BENCH_H

#include "result/cases.h"
#include "result/value.h"

/* Where the time of a pipeline went. */
#define WR_INPUT_VALUES(V)                                                     \
    V(REAL, storage_wait_s, MEAN)                                              \
    V(REAL, submit_s, MEAN)                                                    \
    V(REAL, decode_s, MEAN)                                                    \
    V(REAL, resample_s, MEAN)                                                  \
    V(REAL, idle_s, MEAN)                                                      \
    V(REAL, consumer_wait_s, MEAN, .head = "waited s", .digits = 3,            \
      .help = "time that the consumer waited for batches")                     \
    V(REAL, consumer_busy_s, MEAN)

/* Who had the cores meanwhile. */
#define WR_CORES_VALUES(V)                                                     \
    V(REAL, count, FIRST)                                                      \
    V(REAL, own, FIRST)                                                        \
    V(REAL, others, FIRST)                                                     \
    V(REAL, idle, FIRST)                                                       \
    V(REAL, stolen, FIRST)                                                     \
    V(REAL, throttled, FIRST)                                                  \
    V(FLAG, starved, FIRST)

#define WR_IN_FORCE_VALUES(V)                                                  \
    V(COUNT, threads, FIRST)                                                   \
    V(COUNT, depth, FIRST)                                                     \
    V(COUNT, prefetch, FIRST)

#define WR_TIER_VALUES(V)                                                      \
    V(COUNT, ram_hits, SUM)                                                    \
    V(COUNT, dir_hits, SUM)                                                    \
    V(COUNT, misses, SUM)                                                      \
    V(COUNT, damaged, SUM)                                                     \
    V(COUNT, ram_bytes, SUM)                                                   \
    V(COUNT, dir_bytes, SUM)

/* One run of one case; with several ranks also what each of them did. */
#define WR_BENCH_VALUES(V)                                                     \
    V(COUNT, rank, FIRST, .flags = WR_VAL_INSIDE | WR_VAL_EACH,                \
      .head = "rank", .help = "in the run whose rate is the median")           \
    V(TEXT, host, FIRST, .flags = WR_VAL_INSIDE | WR_VAL_EACH, .head = "host") \
    V(REAL, seconds, MAX, .flags = WR_VAL_EACH, .head = "seconds",             \
      .help = "how long it took", .digits = 3)                                 \
    V(COUNT, samples, SUM, .flags = WR_VAL_EACH, .head = "samples",            \
      .help = "of its share")                                                  \
    V(COUNT, batches, SUM)                                                     \
    V(COUNT, bytes, SUM, .flags = WR_VAL_EACH)                                 \
    V(REAL, samples_per_s, FIRST, .flags = WR_VAL_EACH,                        \
      .derive = samples_per_s, .head = "samples/s", .digits = 1,               \
      .compared = 1, .better = WR_IS_RATE)                                     \
    V(REAL, bytes_per_s, FIRST, .derive = bytes_per_s, .head = "MB/s",         \
      .help = "bytes read from storage per second, 10^6", .unit = 1e6,         \
      .digits = 1)                                                             \
    V(REAL, cpu_s_per_1000, FIRST, .derive = cpu_s_per_1000,                   \
      .head = "CPU s/1000",                                                    \
      .help = "CPU seconds per 1,000 samples, all threads", .digits = 3,       \
      .compared = 4, .better = WR_IS_COST)                                     \
    V(COUNT, peak_bytes, MAX, .flags = WR_VAL_EACH, .head = "peak MB",         \
      .help = "peak resident memory of the process", .unit = 1e6)              \
    V(REAL, first_batch_ms, MAX, .head = "1st ms",                             \
      .help = "from the start of the run to the first batch", .digits = 1,     \
      .compared = 3, .better = WR_IS_TIME, .title = "first batch (ms)")        \
    V(REAL, gap_p50_ms, SLOWEST, .head = "gap p50",                            \
      .help = "time between two batches, median, in ms", .digits = 2)          \
    V(REAL, gap_p99_ms, SLOWEST, .head = "gap p99",                            \
      .help = "the same, 99th percentile", .digits = 2, .compared = 2,         \
      .better = WR_IS_TIME, .title = "gap p99 (ms)")                           \
    V(REAL, resident, FIRST, .flags = WR_VAL_BELOW_0, .head = "in cache %",    \
      .help = "part of the data in the page cache before the run",             \
      .unit = 0.01, .digits = 1)                                               \
    V(TEXT, io, FIRST)                                                         \
    V(TEXT, verdict, MOST, .flags = WR_VAL_EACH, .words = wr_verdict_words,    \
      .head = "verdict")                                                       \
    V(REAL, decode_limit_per_s, FIRST, .flags = WR_VAL_ZERO)                   \
    V(REAL, read_limit_per_s, FIRST, .flags = WR_VAL_ZERO)                     \
    V(COUNT, read_limit_threads, FIRST)                                        \
    V(REAL, slot_limit_per_s, FIRST, .flags = WR_VAL_ZERO)                     \
    V(GROUP(input), times, FIRST)                                              \
    V(GROUP(cores), cores, FIRST, .flags = WR_VAL_SPARE)                       \
    V(COUNT, requests, SUM, .head = "requests",                                \
      .help = "reads that were asked for")                                     \
    V(GROUP(in_force), in_force, FIRST)                                        \
    V(TEXT, tuning, FIRST, .flags = WR_VAL_SPARE)                              \
    V(REAL, last_epoch_per_s, SUM, .flags = WR_VAL_SPARE)                      \
    V(GROUP(tier), cache, FIRST)                                               \
    V(TEXT, cache_error, ANY, .flags = WR_VAL_SPARE)                           \
    V(REAL, start_s, FIRST, .head = "began s",                                 \
      .help = "when it began, on the time axis of the charts", .digits = 1)    \
    V(JSON, batch_times, FIRST)                                                \
    V(TEXT, digest, FIRST, .flags = WR_VAL_SPARE)                              \
    V(REAL, cpu_s, SUM, .flags = WR_VAL_INSIDE)

#define WR_BENCH_RESULT_VALUES(V)                                              \
    V(REAL, samples_per_s, FIRST)                                              \
    V(REAL, samples_per_s_min, FIRST)                                          \
    V(REAL, samples_per_s_max, FIRST)                                          \
    V(REAL, of_decode_limit, FIRST, .flags = WR_VAL_ZERO, .head = "of decode", \
      .help = "rate as a fraction of what the same threads reach when they "   \
              "only decode, from memory",                                      \
      .digits = 2)                                                             \
    V(REAL, of_read_limit, FIRST, .flags = WR_VAL_ZERO, .head = "of read",     \
      .help = "rate as a fraction of what plain pread threads reach on the "   \
              "same bytes",                                                    \
      .digits = 2)                                                             \
    V(REAL, of_slot_limit, FIRST, .flags = WR_VAL_ZERO)                        \
    V(TEXT, verdict, FIRST, .words = wr_verdict_words, .head = "verdict",      \
      .help = "what limits it: storage-bound, decode-bound, convert-bound or " \
              "consumer-bound; starved: other programs used the cores")        \
    V(FLAG, starved, FIRST)

#define WR_BENCH_CASE_VALUES(V)                                                \
    V(JSON, settings, FIRST)                                                   \
    V(GROUP(bench_result), result, FIRST)                                      \
    V(COUNT, warm_up_runs, FIRST)                                              \
    V(LIST(bench), runs, FIRST)                                                \
    V(COUNT, bad_count, FIRST)                                                 \
    V(JSON, bad, FIRST)                                                        \
    V(LIST(bench), ranks, FIRST, .flags = WR_VAL_SPARE | WR_VAL_EACH)

WR_VALUES(input, WR_INPUT_VALUES);
WR_VALUES(cores, WR_CORES_VALUES);
WR_VALUES(in_force, WR_IN_FORCE_VALUES);
WR_VALUES(tier, WR_TIER_VALUES);
WR_VALUES(bench, WR_BENCH_VALUES);
WR_VALUES(bench_result, WR_BENCH_RESULT_VALUES);
WR_VALUES(bench_case, WR_BENCH_CASE_VALUES);

/* Of a pipeline; ends with NULL. */
extern const char *const wr_verdict_words[];
extern const struct wr_cases_spec wr_bench_spec;

/* A case that was read. */
static inline const struct wr_bench_case_values *
wr_bench_case(const struct wr_case *row)
{
    return row->values;
}

/* Medians of the counted runs; verdicts and other texts have none. */
static inline const struct wr_bench_values *
wr_bench_median(const struct wr_case *row)
{
    return row->median;
}

/* Counted run number k. */
static inline const struct wr_bench_values *
wr_bench_run(const struct wr_case *row, size_t k)
{
    return wr_list_at(&row->list, k);
}

/* A member of it, of each of them, into v. */
#define WR_BENCH_NUMBERS(row, member, v)                                       \
    wr_case_numbers(row, offsetof(struct wr_bench_values, member), v)

/* The counted run whose rate is the median; of none of which nothing is known. */
const struct wr_bench_values *wr_bench_middle(const struct wr_case *row);

#endif
