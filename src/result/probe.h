/* probe.h - what weir probe measures: every value, once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * V(kind, member, how ranks become one, more of struct wr_val): result/value.h.
 * docs/formats/record.md says what each means. */
#ifndef WR_RESULT_PROBE_H
#define WR_RESULT_PROBE_H

#include "result/cases.h"
#include "result/value.h"

struct wr_hist;

/* Times of requests or of one of their steps, in microseconds. */
#define WR_LATENCY_VALUES(V)                                                   \
    V(REAL, mean, FIRST)                                                       \
    V(REAL, p50, FIRST, .head = "p50", .digits = 1, .compared = 2,             \
      .better = WR_IS_TIME, .title = "p50 (us)",                               \
      .help = "latency: half of all requests (files) take no longer")          \
    V(REAL, p95, FIRST, .head = "p95", .help = "95 % take no longer")          \
    V(REAL, p99, FIRST, .head = "p99", .digits = 1, .compared = 3,             \
      .better = WR_IS_TIME, .title = "p99 (us)",                               \
      .help = "99 % take no longer")                                           \
    V(REAL, p999, FIRST, .head = "p99.9", .help = "99.9 % take no longer")     \
    V(REAL, max, FIRST)

/* One pass of a test. */
#define WR_PROBE_RUN_VALUES(V)                                                 \
    V(REAL, seconds, FIRST, .head = "seconds", .help = "how long it took",     \
      .digits = 3)                                                             \
    V(COUNT, bytes, FIRST)                                                     \
    V(COUNT, ops, FIRST)                                                       \
    V(REAL, bytes_per_s, FIRST, .head = "MB/s",                                \
      .help = "bytes per second, 10^6", .unit = 1e6, .digits = 1)              \
    V(REAL, ops_per_s, FIRST, .head = "per second",                            \
      .help = "requests, files or syncs", .digits = 1, .compared = 1,          \
      .better = WR_IS_RATE)                                                    \
    V(REAL, cpu_s, FIRST)                                                      \
    V(REAL, resident, FIRST, .flags = WR_VAL_BELOW_0, .head = "in cache %",    \
      .help = "part of the data in the page cache before the pass",            \
      .unit = 0.01, .digits = 1)                                               \
    V(REAL, start_s, FIRST, .head = "began s",                                 \
      .help = "when it began, on the time axis of the charts", .digits = 1)    \
    WR_PROBE_STEPS(V)

/* Of all requests, and for whole files of their steps. */
#define WR_PROBE_STEPS(V)                                                      \
    V(GROUP(latency), latency_us, FIRST, .flags = WR_VAL_SPARE)                \
    V(GROUP(latency), open_us, FIRST, .flags = WR_VAL_SPARE)                   \
    V(GROUP(latency), transfer_us, FIRST, .flags = WR_VAL_SPARE)               \
    V(GROUP(latency), close_us, FIRST, .flags = WR_VAL_SPARE)

/* Medians over the passes; latencies of all their requests. */
#define WR_PROBE_RESULT_VALUES(V)                                              \
    V(REAL, bytes_per_s, FIRST)                                                \
    V(REAL, ops_per_s, FIRST)                                                  \
    V(REAL, ops_per_s_min, FIRST)                                              \
    V(REAL, ops_per_s_max, FIRST)                                              \
    V(REAL, cpu_s_per_gb, FIRST)                                               \
    WR_PROBE_STEPS(V)

#define WR_PROBE_TEST_VALUES(V)                                                \
    V(TEXT, name, FIRST)                                                       \
    V(TEXT, op, FIRST, .words = ops)                                           \
    V(TEXT, pattern, FIRST, .words = patterns)                                 \
    V(COUNT, block, FIRST)                                                     \
    V(COUNT, depth, FIRST)                                                     \
    V(COUNT, workers, FIRST)                                                   \
    V(FLAG, direct, FIRST)                                                     \
    V(TEXT, skipped, FIRST, .flags = WR_VAL_SPARE)                             \
    V(GROUP(probe_result), result, FIRST, .flags = WR_VAL_SPARE)               \
    V(LIST(probe_run), runs, FIRST, .flags = WR_VAL_SPARE)

/* Of all requests of one operation. */
#define WR_REPLAY_TIMES_VALUES(V)                                              \
    V(REAL, sum_s, FIRST)                                                      \
    V(REAL, p50_us, FIRST, .unit = 1e6)                                        \
    V(REAL, p90_us, FIRST, .unit = 1e6)                                        \
    V(REAL, p99_us, FIRST, .unit = 1e6)                                        \
    V(REAL, max_us, FIRST, .unit = 1e6)

#define WR_REPLAY_OPERATION_VALUES(V)                                          \
    V(TEXT, operation, FIRST)                                                  \
    V(COUNT, requests, FIRST)                                                  \
    V(COUNT, bytes, FIRST, .unit = 1e6, .digits = 1)                           \
    V(GROUP(replay_times), traced, FIRST)                                      \
    V(GROUP(replay_times), replayed, FIRST)

/* weir probe --replay: a record is one row. */
#define WR_REPLAY_VALUES(V)                                                    \
    V(TEXT, replay_of, FIRST)                                                  \
    V(TEXT, path, FIRST)                                                       \
    V(TEXT, device_profile, FIRST, .flags = WR_VAL_SPARE)                      \
    V(TEXT, traced_folder, FIRST, .flags = WR_VAL_SPARE)                       \
    V(FLAG, computed, FIRST)                                                   \
    V(FLAG, asap, FIRST)                                                       \
    V(COUNT, threads, FIRST)                                                   \
    V(COUNT, requests, FIRST)                                                  \
    V(REAL, traced_io_s, FIRST)                                                \
    V(REAL, replayed_io_s, FIRST)                                              \
    V(REAL, traced_span_s, FIRST)                                              \
    V(REAL, replayed_span_s, FIRST)                                            \
    V(COUNT, missing, FIRST)                                                   \
    V(COUNT, cut, FIRST, .key = "short")                                       \
    V(COUNT, failed, FIRST)                                                    \
    V(COUNT, left_out_writes, FIRST)                                           \
    V(COUNT, left_out_elsewhere, FIRST)                                        \
    V(LIST(replay_operation), operations, FIRST)

/* From which number of requests in flight more of them bring nothing. */
#define WR_PROBE_SATURATION_VALUES(V)                                          \
    V(TEXT, op, FIRST, .words = ops)                                           \
    V(TEXT, pattern, FIRST, .words = patterns)                                 \
    V(COUNT, block, FIRST)                                                     \
    V(FLAG, direct, FIRST)                                                     \
    V(COUNT, workers, FIRST)                                                   \
    V(COUNT, depth, FIRST)                                                     \
    V(FLAG, reached, FIRST)                                                    \
    V(REAL, ops_per_s, FIRST)                                                  \
    V(REAL, bytes_per_s, FIRST)

/* What stands beside the tests. */
#define WR_PROBE_HEAD_VALUES(V)                                                \
    V(TEXT, path, FIRST)                                                       \
    V(TEXT, device_profile, FIRST, .flags = WR_VAL_SPARE)                      \
    V(TEXT, file, FIRST, .flags = WR_VAL_SPARE)                                \
    V(COUNT, file_bytes, FIRST)                                                \
    V(COUNT, small_files, FIRST)                                               \
    V(COUNT, passes, FIRST)                                                    \
    V(REAL, seconds, FIRST)                                                    \
    V(TEXT, engine, FIRST)                                                     \
    V(JSON, sizes, FIRST)                                                      \
    V(JSON, cache, FIRST)                                                      \
    V(JSON, tests, FIRST)                                                      \
    V(LIST(probe_saturation), saturation, FIRST)

WR_VALUES(latency, WR_LATENCY_VALUES);
WR_VALUES(probe_run, WR_PROBE_RUN_VALUES);
WR_VALUES(probe_result, WR_PROBE_RESULT_VALUES);
WR_VALUES(probe_test, WR_PROBE_TEST_VALUES);
WR_VALUES(probe_saturation, WR_PROBE_SATURATION_VALUES);
WR_VALUES(probe_head, WR_PROBE_HEAD_VALUES);
WR_VALUES(replay_times, WR_REPLAY_TIMES_VALUES);
WR_VALUES(replay_operation, WR_REPLAY_OPERATION_VALUES);
WR_VALUES(replay, WR_REPLAY_VALUES);

extern const struct wr_cases_spec wr_probe_spec, wr_replay_spec;

/* Of nanoseconds; nothing is known of NULL. */
struct wr_latency_values wr_latency_of(const struct wr_hist *h);
struct wr_replay_times_values wr_replay_times_of(const struct wr_hist *h);

/* A test that was read. */
static inline const struct wr_probe_test_values *
wr_probe_test_of(const struct wr_case *row)
{
    return row->values;
}

/* Medians of the passes, and pass number k. */
static inline const struct wr_probe_run_values *
wr_probe_median(const struct wr_case *row)
{
    return row->median;
}

static inline const struct wr_probe_run_values *
wr_probe_run_of(const struct wr_case *row, size_t k)
{
    return wr_list_at(&row->list, k);
}

/* Of a record of a replay that was read. */
static inline const struct wr_replay_values *
wr_replay_values_of(const struct wr_view_record *r)
{
    return r->cases.v;
}

/* A member of its result; a record without it has the median of the passes. */
#define WR_PROBE_RESULT(row, member)                                           \
    wr_known_or(wr_probe_test_of(row)->result.member,                          \
                wr_probe_median(row)->member)

#endif
