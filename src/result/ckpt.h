/* ckpt.h - what weir ckpt bench measures: every value, once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * V(kind, member, how ranks become one, more of struct wr_val): result/value.h.
 * docs/formats/record.md says what each means. */
#ifndef WR_RESULT_CKPT_H
#define WR_RESULT_CKPT_H

#include "result/cases.h"
#include "result/value.h"

/* From the call until it was there, in seconds; not known: not in this way. */
#define WR_CKPT_TIMES(V)                                                       \
    V(REAL, stall_s, MAX, .flags = WR_VAL_SPARE, .head = "stall",              \
      .help = "how long training stops: the duration of weir_ckpt_save",       \
      .compared = 2, .better = WR_IS_TIME, .title = "stall (s)", .digits = 3)  \
    V(REAL, blocked_s, MAX, .flags = WR_VAL_SPARE)                             \
    V(REAL, fast_s, MAX, .flags = WR_VAL_SPARE, .head = "on fast",             \
      .help = "from the call until the step is durable on the fast tier")      \
    V(REAL, slow_s, MAX, .flags = WR_VAL_SPARE, .head = "on slow",             \
      .help = "and on the slow tier", .compared = 3, .better = WR_IS_TIME,     \
      .title = "on the slow tier (s)", .digits = 2)                            \
    V(REAL, verified_s, MAX, .flags = WR_VAL_SPARE, .head = "verified",        \
      .help = "and read back from there")                                      \
    V(REAL, drain_s, MAX, .flags = WR_VAL_SPARE)

/* One save; of several ranks the slowest one's. */
#define WR_CKPT_SAVE_VALUES(V)                                                 \
    WR_CKPT_TIMES(V)                                                           \
    V(REAL, saves_per_s, FIRST, .flags = WR_VAL_SPARE, .derive = saves_per_s,  \
      .compared = 1, .better = WR_IS_RATE, .title = "saves/s of stall",        \
      .digits = 3)                                                             \
    V(REAL, at_s, FIRST, .flags = WR_VAL_SPARE)                                \
    V(REAL, own_s, FIRST, .flags = WR_VAL_INSIDE) /* this rank's stall */

/* Medians of the saves, and what follows from them. */
#define WR_CKPT_RESULT_VALUES(V)                                               \
    WR_CKPT_TIMES(V)                                                           \
    V(REAL, restore_s, FIRST, .flags = WR_VAL_SPARE)                           \
    V(REAL, stall_bytes_per_s, FIRST, .flags = WR_VAL_SPARE,                   \
      .derive = stall_bytes_per_s, .head = "stall at",                         \
      .help = "bytes of the state divided by the stall")                       \
    V(REAL, drain_bytes_per_s, FIRST, .flags = WR_VAL_SPARE,                   \
      .derive = drain_bytes_per_s, .head = "drain at",                         \
      .help = "rate of the copy from the fast tier to the slow one")           \
    V(REAL, restore_bytes_per_s, FIRST, .flags = WR_VAL_SPARE,                 \
      .derive = restore_bytes_per_s, .head = "restore",                        \
      .help = "rate of reading the newest step back, checked")                 \
    V(COUNT, bytes, FIRST, .flags = WR_VAL_INSIDE) /* of all ranks' states */

#define WR_CKPT_RANK_VALUES(V)                                                 \
    V(COUNT, rank, FIRST)                                                      \
    V(TEXT, host, FIRST)                                                       \
    V(REAL, stall_s, FIRST)                                                    \
    V(COUNT, bytes, SUM)                                                       \
    V(COUNT, memory, SUM, .flags = WR_VAL_INSIDE)

#define WR_CKPT_CASE_VALUES(V)                                                 \
    V(TEXT, way, FIRST, .words = ways)                                         \
    V(TEXT, name, FIRST)                                                       \
    V(COUNT, memory, FIRST)                                                    \
    V(COUNT, skipped, FIRST)                                                   \
    V(GROUP(ckpt_result), result, FIRST)                                       \
    V(LIST(ckpt_save), runs, FIRST)                                            \
    V(LIST(ckpt_rank), ranks, FIRST, .flags = WR_VAL_SPARE)

/* What stands beside the cases. */
#define WR_CKPT_HEAD_VALUES(V)                                                 \
    V(TEXT, fast, FIRST)                                                       \
    V(TEXT, slow, FIRST)                                                       \
    V(TEXT, like, FIRST)                                                       \
    V(COUNT, bytes, FIRST)                                                     \
    V(COUNT, tensors, FIRST)                                                   \
    V(COUNT, saves, FIRST)                                                     \
    V(REAL, interval_s, FIRST)                                                 \
    V(FLAG, verify, FIRST)                                                     \
    V(REAL, memcpy_s, FIRST)                                                   \
    V(JSON, cases, FIRST)

WR_VALUES(ckpt_save, WR_CKPT_SAVE_VALUES);
WR_VALUES(ckpt_result, WR_CKPT_RESULT_VALUES);
WR_VALUES(ckpt_rank, WR_CKPT_RANK_VALUES);
WR_VALUES(ckpt_case, WR_CKPT_CASE_VALUES);
WR_VALUES(ckpt_head, WR_CKPT_HEAD_VALUES);

extern const struct wr_cases_spec wr_ckpt_spec;

/* A case that was read. */
static inline const struct wr_ckpt_case_values *
wr_ckpt_case(const struct wr_case *row)
{
    return row->values;
}

#endif
