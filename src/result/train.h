/* train.h - what weir train measures: every value, once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * V(kind, member, how ranks become one, more of struct wr_val): result/value.h.
 * docs/formats/record.md says what each means. A record is one row. */
#ifndef WR_RESULT_TRAIN_H
#define WR_RESULT_TRAIN_H

#include "result/bench.h"
#include "result/cases.h"
#include "result/head.h"

#define WR_TRAIN_NETWORK_VALUES(V)                                             \
    V(TEXT, name, FIRST)                                                       \
    V(REAL, width, FIRST)                                                      \
    V(COUNT, parameters, FIRST)                                                \
    V(COUNT, classes, FIRST)                                                   \
    V(COUNT, cols, FIRST)                                                      \
    V(COUNT, rows, FIRST)                                                      \
    V(COUNT, state_bytes, FIRST)

#define WR_TRAIN_RESULT_VALUES(V)                                              \
    V(COUNT, resumed_at, FIRST)                                                \
    V(COUNT, iterations, FIRST)                                                \
    V(COUNT, iterations_per_epoch, FIRST)                                      \
    V(COUNT, samples, FIRST)                                                   \
    V(REAL, samples_per_s, FIRST, .flags = WR_VAL_SPARE, .digits = 1)          \
    V(REAL, seconds, FIRST, .flags = WR_VAL_SPARE)                             \
    V(REAL, wait_s, FIRST, .flags = WR_VAL_SPARE)                              \
    V(REAL, first_wait_s, FIRST, .flags = WR_VAL_SPARE)                        \
    V(REAL, step_s, FIRST, .flags = WR_VAL_SPARE)                              \
    V(REAL, save_s, FIRST, .flags = WR_VAL_SPARE)                              \
    V(REAL, save_max_s, FIRST, .flags = WR_VAL_SPARE)                          \
    V(REAL, validate_s, FIRST, .flags = WR_VAL_SPARE)                          \
    V(REAL, flush_s, FIRST, .flags = WR_VAL_SPARE)                             \
    V(REAL, loss_first, FIRST, .flags = WR_VAL_SPARE)                          \
    V(REAL, loss_last, FIRST, .flags = WR_VAL_SPARE)                           \
    V(REAL, accuracy, FIRST, .flags = WR_VAL_SPARE)                            \
    V(REAL, chance, FIRST, .flags = WR_VAL_SPARE)                              \
    V(REAL, most_common, FIRST, .flags = WR_VAL_SPARE)                         \
    V(REAL, held_out_loss, FIRST, .flags = WR_VAL_SPARE)                       \
    V(COUNT, held_out, FIRST, .flags = WR_VAL_SPARE)                           \
    V(COUNT, saves, FIRST)                                                     \
    V(COUNT, saved_step, FIRST, .flags = WR_VAL_SPARE)                         \
    V(TEXT, weights_digest, FIRST, .flags = WR_VAL_SPARE)                      \
    V(TEXT, limit, FIRST, .words = wr_train_limits)

#define WR_TRAIN_INPUT_VALUES(V)                                               \
    V(TEXT, io, FIRST)                                                         \
    V(COUNT, bytes, FIRST)                                                     \
    V(COUNT, requests, FIRST)                                                  \
    V(COUNT, threads, FIRST)                                                   \
    V(COUNT, prefetch, FIRST)                                                  \
    V(TEXT, verdict, FIRST, .words = wr_verdict_words)                         \
    V(GROUP(input), times, FIRST)                                              \
    V(REAL, first_batch_ms, FIRST)                                             \
    V(TEXT, tuning, FIRST, .flags = WR_VAL_SPARE)

/* One pass over the held-out part. */
#define WR_TRAIN_VALIDATION_VALUES(V)                                          \
    V(COUNT, iteration, FIRST)                                                 \
    V(REAL, t_s, FIRST, .flags = WR_VAL_SPARE)                                 \
    V(REAL, seconds, FIRST, .flags = WR_VAL_SPARE)                             \
    V(COUNT, samples, FIRST)                                                   \
    V(COUNT, right, FIRST)                                                     \
    V(REAL, accuracy, FIRST, .flags = WR_VAL_SPARE, .unit = 0.01, .digits = 1) \
    V(REAL, loss, FIRST, .flags = WR_VAL_SPARE)

/* One checkpoint. */
#define WR_TRAIN_SAVE_VALUES(V)                                                \
    V(COUNT, step, FIRST)                                                      \
    V(COUNT, bytes, FIRST, .unit = 1e6, .digits = 1)                           \
    V(REAL, t_s, FIRST, .flags = WR_VAL_SPARE, .digits = 3)                    \
    V(REAL, stall_s, FIRST, .flags = WR_VAL_SPARE, .digits = 3)                \
    V(REAL, blocked_s, FIRST, .flags = WR_VAL_SPARE, .digits = 3)              \
    V(REAL, fast_s, FIRST, .flags = WR_VAL_SPARE, .digits = 3)                 \
    V(REAL, slow_s, FIRST, .flags = WR_VAL_SPARE, .digits = 3)                 \
    V(REAL, verified_s, FIRST, .flags = WR_VAL_SPARE, .digits = 3)             \
    V(REAL, drain_s, FIRST, .flags = WR_VAL_SPARE, .digits = 3)

#define WR_TRAIN_COST_VALUES(V)                                                \
    V(REAL, median, FIRST)                                                     \
    V(REAL, min, FIRST)                                                        \
    V(REAL, max, FIRST)

#define WR_TRAIN_RATE_VALUES(V)                                                \
    V(REAL, images_per_s, FIRST)                                               \
    V(REAL, min, FIRST)                                                        \
    V(REAL, max, FIRST)                                                        \
    V(COUNT, runs, FIRST)

/* The input alone, computing alone, and everything. */
#define WR_TRAIN_COMPARE_VALUES(V)                                             \
    V(COUNT, rounds, FIRST)                                                    \
    V(COUNT, warm_up_runs, FIRST)                                              \
    V(COUNT, iterations, FIRST)                                                \
    V(GROUP(train_cost), cost, FIRST)                                          \
    V(GROUP(train_rate), input, FIRST)                                         \
    V(GROUP(train_rate), synthetic, FIRST)                                     \
    V(GROUP(train_rate), full, FIRST)

#define WR_TRAIN_VALUES(V)                                                     \
    V(GROUP(accelerator), accelerator, FIRST)                                  \
    V(GROUP(train_network), network, FIRST)                                    \
    V(JSON, settings, FIRST)                                                   \
    V(GROUP(train_result), result, FIRST)                                      \
    V(GROUP(train_input), input, FIRST, .flags = WR_VAL_SPARE)                 \
    V(JSON, series, FIRST)                                                     \
    V(LIST(train_validation), validations, FIRST)                              \
    V(LIST(train_save), saves, FIRST)                                          \
    V(COUNT, bad_count, FIRST)                                                 \
    V(JSON, bad, FIRST)                                                        \
    V(REAL, start_s, FIRST, .flags = WR_VAL_SPARE)                             \
    V(GROUP(train_compare), compare, FIRST, .flags = WR_VAL_SPARE)

WR_VALUES(train_network, WR_TRAIN_NETWORK_VALUES);
WR_VALUES(train_result, WR_TRAIN_RESULT_VALUES);
WR_VALUES(train_input, WR_TRAIN_INPUT_VALUES);
WR_VALUES(train_validation, WR_TRAIN_VALIDATION_VALUES);
WR_VALUES(train_save, WR_TRAIN_SAVE_VALUES);
WR_VALUES(train_cost, WR_TRAIN_COST_VALUES);
WR_VALUES(train_rate, WR_TRAIN_RATE_VALUES);
WR_VALUES(train_compare, WR_TRAIN_COMPARE_VALUES);
WR_VALUES(train, WR_TRAIN_VALUES);

/* What most of the time was spent on, by enum wr_train_limit; NULL ends. */
extern const char *const wr_train_limits[];
extern const struct wr_cases_spec wr_train_spec;

/* Of a record that was read. */
static inline const struct wr_train_values *
wr_train_values_of(const struct wr_view_record *r)
{
    return r->cases.v;
}

#endif
