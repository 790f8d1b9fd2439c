/* plan.h - what weir plan says: every value, once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * V(kind, member, how ranks become one, more of struct wr_val): result/value.h.
 * docs/formats/record.md says what each means. A record is one row, of which
 * everything may be missing. */
#ifndef WR_RESULT_PLAN_H
#define WR_RESULT_PLAN_H

#include "result/cases.h"
#include "result/value.h"

/* Something that it was made from. */
#define WR_PLAN_INPUT_VALUES(V)                                                \
    V(TEXT, path, FIRST, .flags = WR_VAL_NULL)                                 \
    V(TEXT, kind, FIRST, .flags = WR_VAL_NULL)

/* A number that went into it. */
#define WR_PLAN_FACT_VALUES(V)                                                 \
    V(TEXT, key, FIRST)                                                        \
    V(TEXT, value, FIRST)                                                      \
    V(TEXT, source, FIRST)                                                     \
    V(FLAG, assumed, FIRST)

#define WR_PLAN_CONFIG_VALUES(V)                                               \
    V(COUNT, nodes, FIRST)                                                     \
    V(COUNT, accelerators, FIRST, .help = "of each node")                      \
    V(TEXT, accelerator, FIRST)                                                \
    V(TEXT, model, FIRST, .flags = WR_VAL_NULL)                                \
    V(COUNT, workers, FIRST)                                                   \
    V(COUNT, depth, FIRST)                                                     \
    V(COUNT, prefetch, FIRST)                                                  \
    V(COUNT, batch, FIRST)                                                     \
    V(TEXT, style, FIRST, .words = styles)                                     \
    V(TEXT, storage, FIRST)                                                    \
    V(COUNT, epochs, FIRST)                                                    \
    V(JSON, seed, FIRST) /* of 64 bits */

#define WR_PLAN_LIMIT_VALUES(V)                                                \
    V(TEXT, resource, FIRST)                                                   \
    V(REAL, samples_per_s, FIRST, .digits = 1)

#define WR_PLAN_BOUNDS_VALUES(V)                                               \
    V(REAL, samples_per_s, FIRST)                                              \
    V(REAL, utilization, FIRST)                                                \
    V(REAL, step_s, FIRST)                                                     \
    V(REAL, load_s, FIRST)                                                     \
    V(LIST(plan_limit), limits, FIRST)

/* Of accelerators that never wait. */
#define WR_PLAN_DEMAND_VALUES(V)                                               \
    V(COUNT, accelerators, FIRST, .help = "of all nodes")                      \
    V(TEXT, accelerator, FIRST)                                                \
    V(REAL, samples_per_s, FIRST)                                              \
    V(REAL, bytes_per_s, FIRST)                                                \
    V(REAL, opens_per_s, FIRST)                                                \
    V(REAL, cores, FIRST)

/* Seconds of a mean accelerator; their sum is the epoch. */
#define WR_PLAN_PARTS_VALUES(V)                                                \
    V(REAL, computing, FIRST)                                                  \
    V(REAL, storage, FIRST)                                                    \
    V(REAL, cores, FIRST)                                                      \
    V(REAL, others, FIRST)                                                     \
    V(REAL, saves, FIRST)

#define WR_PLAN_EPOCH_VALUES(V)                                                \
    V(REAL, seconds, FIRST)                                                    \
    V(COUNT, steps, FIRST)                                                     \
    V(REAL, samples_per_s, FIRST, .digits = 1)                                 \
    V(GROUP(plan_parts), parts, FIRST)

#define WR_PLAN_SAVES_VALUES(V)                                                \
    V(COUNT, count, FIRST)                                                     \
    V(COUNT, blocked, FIRST)                                                   \
    V(REAL, stall_s, FIRST)                                                    \
    V(REAL, durable_s, FIRST)

#define WR_PLAN_RESULT_VALUES(V)                                               \
    V(REAL, seconds, FIRST)                                                    \
    V(REAL, samples_per_s, FIRST, .digits = 1)                                 \
    V(REAL, steady_per_s, FIRST)                                               \
    V(REAL, utilization, FIRST, .unit = .01, .digits = 1)                      \
    V(REAL, first_batch_s, FIRST)                                              \
    V(REAL, storage_busy, FIRST)                                               \
    V(REAL, cores_busy, FIRST)                                                 \
    V(COUNT, steps, FIRST, .help = "that were simulated")                      \
    V(COUNT, steps_all, FIRST)                                                 \
    V(COUNT, nodes, FIRST)                                                     \
    V(COUNT, accelerators, FIRST)                                              \
    V(REAL, epoch_s, FIRST)                                                    \
    V(REAL, train_s, FIRST)                                                    \
    V(LIST(plan_epoch), epochs, FIRST)                                         \
    V(GROUP(plan_saves), saves, FIRST, .flags = WR_VAL_SPARE)                  \
    V(FLAG, lumped, FIRST)                                                     \
    V(TEXT, lumped_why, FIRST, .flags = WR_VAL_SPARE)

#define WR_PLAN_CAPACITY_POINT_VALUES(V)                                       \
    V(COUNT, accelerators, FIRST, .help = "of each node")                      \
    V(REAL, samples_per_s, FIRST, .digits = 1)                                 \
    V(REAL, utilization, FIRST, .unit = .01, .digits = 1)

#define WR_PLAN_CAPACITY_VALUES(V)                                             \
    V(REAL, target, FIRST)                                                     \
    V(COUNT, accelerators, FIRST)                                              \
    V(FLAG, unlimited, FIRST)                                                  \
    V(LIST(plan_capacity_point), points, FIRST)

#define WR_PLAN_CHANGE_VALUES(V)                                               \
    V(TEXT, name, FIRST)                                                       \
    V(TEXT, what, FIRST)                                                       \
    V(TEXT, how, FIRST, .flags = WR_VAL_NULL)                                  \
    V(REAL, samples_per_s, FIRST, .digits = 1)                                 \
    V(REAL, utilization, FIRST, .unit = .01, .digits = 1)                      \
    V(REAL, epoch_s, FIRST)                                                    \
    V(REAL, gain, FIRST)

/* How often to save. */
#define WR_PLAN_SAVING_VALUES(V)                                               \
    V(REAL, mtbf_s, FIRST)                                                     \
    V(REAL, young_s, FIRST)                                                    \
    V(REAL, daly_s, FIRST)                                                     \
    V(REAL, chosen_s, FIRST)                                                   \
    V(REAL, stall_s, FIRST)                                                    \
    V(REAL, restore_s, FIRST)                                                  \
    V(REAL, drain_s, FIRST)                                                    \
    V(REAL, lost_s, FIRST)                                                     \
    V(REAL, waste, FIRST)                                                      \
    V(REAL, waste_best, FIRST)

#define WR_PLAN_SCALE_VALUES(V)                                                \
    V(COUNT, nodes, FIRST)                                                     \
    V(REAL, samples_per_s, FIRST, .digits = 1)                                 \
    V(REAL, utilization, FIRST, .unit = .01, .digits = 1)

/* Why batches took the time that they took. */
#define WR_PLAN_EXPLAIN_VALUES(V)                                              \
    V(TEXT, cause, FIRST)                                                      \
    V(COUNT, period, FIRST)                                                    \
    V(COUNT, phase, FIRST)                                                     \
    V(REAL, usual_ms, FIRST)                                                   \
    V(REAL, stall_ms, FIRST)                                                   \
    V(REAL, lost_share, FIRST)                                                 \
    V(REAL, sure, FIRST)                                                       \
    V(REAL, load_ms, FIRST)                                                    \
    V(COUNT, workers_needed, FIRST)                                            \
    V(TEXT, what, FIRST)                                                       \
    V(TEXT, why, FIRST)                                                        \
    V(TEXT, change, FIRST)                                                     \
    V(JSON, batches, FIRST)                                                    \
    V(JSON, ms, FIRST)

#define WR_PLAN_VALUES(V)                                                      \
    V(LIST(plan_input), inputs, FIRST)                                         \
    V(LIST(plan_fact), facts, FIRST)                                           \
    V(GROUP(plan_config), config, FIRST, .flags = WR_VAL_SPARE)                \
    V(GROUP(plan_bounds), bounds, FIRST, .flags = WR_VAL_SPARE)                \
    V(GROUP(plan_demand), demand, FIRST, .flags = WR_VAL_SPARE)                \
    V(GROUP(plan_result), result, FIRST, .flags = WR_VAL_SPARE)                \
    V(GROUP(plan_capacity), capacity, FIRST, .flags = WR_VAL_SPARE)            \
    V(LIST(plan_change), what_if, FIRST, .flags = WR_VAL_SPARE)                \
    V(GROUP(plan_saving), saving, FIRST, .flags = WR_VAL_SPARE)                \
    V(JSON, life, FIRST)                                                       \
    V(LIST(plan_scale), scale, FIRST, .flags = WR_VAL_SPARE)                   \
    V(JSON, step_ms, FIRST)                                                    \
    V(GROUP(plan_explain), explain, FIRST, .flags = WR_VAL_SPARE)

WR_VALUES(plan_input, WR_PLAN_INPUT_VALUES);
WR_VALUES(plan_fact, WR_PLAN_FACT_VALUES);
WR_VALUES(plan_config, WR_PLAN_CONFIG_VALUES);
WR_VALUES(plan_limit, WR_PLAN_LIMIT_VALUES);
WR_VALUES(plan_bounds, WR_PLAN_BOUNDS_VALUES);
WR_VALUES(plan_demand, WR_PLAN_DEMAND_VALUES);
WR_VALUES(plan_parts, WR_PLAN_PARTS_VALUES);
WR_VALUES(plan_epoch, WR_PLAN_EPOCH_VALUES);
WR_VALUES(plan_saves, WR_PLAN_SAVES_VALUES);
WR_VALUES(plan_result, WR_PLAN_RESULT_VALUES);
WR_VALUES(plan_capacity_point, WR_PLAN_CAPACITY_POINT_VALUES);
WR_VALUES(plan_capacity, WR_PLAN_CAPACITY_VALUES);
WR_VALUES(plan_change, WR_PLAN_CHANGE_VALUES);
WR_VALUES(plan_saving, WR_PLAN_SAVING_VALUES);
WR_VALUES(plan_scale, WR_PLAN_SCALE_VALUES);
WR_VALUES(plan_explain, WR_PLAN_EXPLAIN_VALUES);
WR_VALUES(plan, WR_PLAN_VALUES);

extern const struct wr_cases_spec wr_plan_spec;

#endif
