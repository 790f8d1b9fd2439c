/* trace.h - what the record of a trace says: every value, once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * V(kind, member, how ranks become one, more of struct wr_val): result/value.h.
 * docs/formats/record.md says what each means. A record is one row, and its
 * epochs are the runs of it. */
#ifndef WR_RESULT_TRACE_H
#define WR_RESULT_TRACE_H

#include "result/cases.h"
#include "result/value.h"

#define WR_TRACE_RUN_VALUES(V)                                                 \
    V(TEXT, program, FIRST)                                                    \
    V(REAL, seconds, FIRST)                                                    \
    V(REAL, io_share, FIRST)                                                   \
    V(REAL, process_share, FIRST)                                              \
    V(COUNT, mains, FIRST)                                                     \
    V(COUNT, workers, FIRST)                                                   \
    V(COUNT, workers_at_once, FIRST)                                           \
    V(COUNT, processes, FIRST)                                                 \
    V(COUNT, ranks, FIRST)                                                     \
    V(COUNT, events, FIRST)                                                    \
    V(COUNT, lost_events, FIRST)                                               \
    V(COUNT, lost_records, FIRST)                                              \
    V(COUNT, merged, FIRST)                                                    \
    V(COUNT, batches, FIRST)                                                   \
    V(REAL, batch_gap_s, FIRST)                                                \
    V(COUNT, left_out, FIRST)                                                  \
    V(TEXT, damage, FIRST)

#define WR_TRACE_EXAMPLE_VALUES(V)                                             \
    V(REAL, at_s, FIRST, .digits = 3)                                          \
    V(TEXT, path, FIRST)                                                       \
    V(TEXT, detail, FIRST)

#define WR_TRACE_FINDING_VALUES(V)                                             \
    V(TEXT, code, FIRST)                                                       \
    V(TEXT, title, FIRST)                                                      \
    V(REAL, seconds, FIRST)                                                    \
    V(REAL, run_seconds, FIRST)                                                \
    V(REAL, gain, FIRST)                                                       \
    V(FLAG, once, FIRST)                                                       \
    V(FLAG, risk, FIRST)                                                       \
    V(TEXT, sure, FIRST)                                                       \
    V(TEXT, what, FIRST)                                                       \
    V(TEXT, evidence, FIRST)                                                   \
    V(TEXT, change, FIRST)                                                     \
    V(LIST(trace_example), examples, FIRST)

/* A size that many reads ask for. */
#define WR_TRACE_COMMON_VALUES(V)                                              \
    V(COUNT, bytes, FIRST)                                                     \
    V(COUNT, count, FIRST)

#define WR_TRACE_SET_VALUES(V)                                                 \
    V(TEXT, access, FIRST)                                                     \
    V(COUNT, files, FIRST)                                                     \
    V(COUNT, file_bytes, FIRST)                                                \
    V(COUNT, read_bytes, FIRST)                                                \
    V(COUNT, unique_bytes, FIRST)                                              \
    V(COUNT, reads, FIRST)                                                     \
    V(COUNT, sequential, FIRST)                                                \
    V(COUNT, consecutive, FIRST)                                               \
    V(COUNT, opens, FIRST)                                                     \
    V(REAL, read_s, FIRST)                                                     \
    V(REAL, metadata_s, FIRST)                                                 \
    V(COUNT, read_once, FIRST)                                                 \
    V(COUNT, shared_files, FIRST)                                              \
    V(COUNT, device_bytes, FIRST)                                              \
    V(COUNT, resident_bytes, FIRST)                                            \
    V(COUNT, resident_of, FIRST)                                               \
    V(LIST(trace_common), common, FIRST)

#define WR_TRACE_LATENCY_VALUES(V)                                             \
    V(TEXT, call, FIRST)                                                       \
    V(COUNT, count, FIRST)                                                     \
    V(REAL, total_s, FIRST)                                                    \
    V(REAL, p50_s, FIRST)                                                      \
    V(REAL, p99_s, FIRST)                                                      \
    V(REAL, p999_s, FIRST)                                                     \
    V(REAL, max_s, FIRST)                                                      \
    V(JSON, below, FIRST)

/* Requests of up to so many bytes; -1: all larger ones. */
#define WR_TRACE_SIZE_VALUES(V)                                                \
    V(COUNT, to_bytes, FIRST, .flags = WR_VAL_BELOW_0)                         \
    V(COUNT, count, FIRST)                                                     \
    V(COUNT, bytes, FIRST)                                                     \
    V(REAL, seconds, FIRST)

#define WR_TRACE_EPOCH_VALUES(V)                                               \
    V(REAL, from_s, FIRST, .digits = 2)                                        \
    V(REAL, to_s, FIRST)                                                       \
    V(COUNT, files, FIRST)                                                     \
    V(COUNT, read_bytes, FIRST)                                                \
    V(COUNT, reads, FIRST)                                                     \
    V(REAL, read_s, FIRST)

#define WR_TRACE_PHASE_VALUES(V)                                               \
    V(TEXT, kind, FIRST)                                                       \
    V(REAL, from_s, FIRST, .digits = 2)                                        \
    V(REAL, to_s, FIRST)                                                       \
    V(COUNT, read_bytes, FIRST)                                                \
    V(COUNT, written_bytes, FIRST)                                             \
    V(COUNT, metadata, FIRST)

#define WR_TRACE_SAVE_VALUES(V)                                                \
    V(REAL, from_s, FIRST, .digits = 2)                                        \
    V(REAL, to_s, FIRST)                                                       \
    V(COUNT, bytes, FIRST)                                                     \
    V(REAL, write_s, FIRST)                                                    \
    V(REAL, sync_s, FIRST)                                                     \
    V(COUNT, files, FIRST)                                                     \
    V(FLAG, waits, FIRST)                                                      \
    V(TEXT, path, FIRST)

#define WR_TRACE_FILE_VALUES(V)                                                \
    V(TEXT, path, FIRST)                                                       \
    V(REAL, seconds, FIRST)                                                    \
    V(COUNT, opens, FIRST)                                                     \
    V(COUNT, reads, FIRST)                                                     \
    V(COUNT, writes, FIRST)                                                    \
    V(COUNT, read_bytes, FIRST)                                                \
    V(COUNT, written_bytes, FIRST)

/* A thread: shares of its time in calls, in steps of time. */
#define WR_TRACE_LANE_VALUES(V)                                                \
    V(COUNT, pid, FIRST)                                                       \
    V(COUNT, tid, FIRST)                                                       \
    V(TEXT, job, FIRST)                                                        \
    V(COUNT, rank, FIRST, .flags = WR_VAL_BELOW_0)                             \
    V(TEXT, program, FIRST)                                                    \
    V(JSON, busy, FIRST)

#define WR_TRACE_LANES_VALUES(V)                                               \
    V(REAL, bin_s, FIRST)                                                      \
    V(COUNT, threads, FIRST)                                                   \
    V(LIST(trace_lane), list, FIRST)

#define WR_TRACE_LEVEL_VALUES(V)                                               \
    V(REAL, below_s, FIRST)                                                    \
    V(JSON, reads, FIRST)

#define WR_TRACE_HEAT_VALUES(V)                                                \
    V(REAL, bin_s, FIRST)                                                      \
    V(LIST(trace_level), levels, FIRST)

/* Lists of one number for each step of time. */
#define WR_TRACE_TIME_VALUES(V)                                                \
    V(JSON, at_s, FIRST)                                                       \
    V(JSON, read_bytes_per_s, FIRST)                                           \
    V(JSON, written_bytes_per_s, FIRST)                                        \
    V(JSON, reads_per_s, FIRST)                                                \
    V(JSON, metadata_per_s, FIRST)

#define WR_TRACE_VALUES(V)                                                     \
    V(GROUP(trace_run), run, FIRST)                                            \
    V(LIST(trace_finding), findings, FIRST)                                    \
    V(GROUP(trace_set), data_set, FIRST)                                       \
    V(GROUP(trace_time), over_time, FIRST)                                     \
    V(GROUP(trace_lanes), lanes, FIRST)                                        \
    V(GROUP(trace_heat), read_heat, FIRST)                                     \
    V(LIST(trace_latency), latencies, FIRST)                                   \
    V(LIST(trace_size), read_sizes, FIRST)                                     \
    V(LIST(trace_size), write_sizes, FIRST)                                    \
    V(LIST(trace_epoch), epochs, FIRST)                                        \
    V(LIST(trace_phase), phases, FIRST)                                        \
    V(LIST(trace_save), saves, FIRST)                                          \
    V(LIST(trace_file), files, FIRST)

WR_VALUES(trace_run, WR_TRACE_RUN_VALUES);
WR_VALUES(trace_example, WR_TRACE_EXAMPLE_VALUES);
WR_VALUES(trace_finding, WR_TRACE_FINDING_VALUES);
WR_VALUES(trace_common, WR_TRACE_COMMON_VALUES);
WR_VALUES(trace_set, WR_TRACE_SET_VALUES);
WR_VALUES(trace_latency, WR_TRACE_LATENCY_VALUES);
WR_VALUES(trace_size, WR_TRACE_SIZE_VALUES);
WR_VALUES(trace_epoch, WR_TRACE_EPOCH_VALUES);
WR_VALUES(trace_phase, WR_TRACE_PHASE_VALUES);
WR_VALUES(trace_save, WR_TRACE_SAVE_VALUES);
WR_VALUES(trace_file, WR_TRACE_FILE_VALUES);
WR_VALUES(trace_lane, WR_TRACE_LANE_VALUES);
WR_VALUES(trace_lanes, WR_TRACE_LANES_VALUES);
WR_VALUES(trace_level, WR_TRACE_LEVEL_VALUES);
WR_VALUES(trace_heat, WR_TRACE_HEAT_VALUES);
WR_VALUES(trace_time, WR_TRACE_TIME_VALUES);
WR_VALUES(trace, WR_TRACE_VALUES);

extern const struct wr_cases_spec wr_trace_spec;

/* Of a record that was read. */
static inline const struct wr_trace_values *
wr_trace_values_of(const struct wr_view_record *r)
{
    return r->cases.v;
}

#endif
