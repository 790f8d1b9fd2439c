/* answer.h - all that weir plan says of a plan, and its record.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PLAN_ANSWER_H
#define WR_PLAN_ANSWER_H

#include "plan/bounds.h"
#include "plan/explain.h"
#include "plan/failure.h"
#include "plan/from.h"
#include "plan/whatif.h"

#define WR_PLAN_INPUTS_MAX 64
#define WR_PLAN_SCALE_MAX  64

/* Something that a plan was made from. */
struct wr_plan_input {
    const char *path; /* borrowed */
    const char *kind; /* borrowed: "bench", "workload", "trace", "times" */
};

struct wr_plan_scale_point {
    uint32_t nodes;
    double samples_per_s, utilization;
};

struct wr_plan_answer {
    struct wr_plan_input inputs[WR_PLAN_INPUTS_MAX];
    size_t input_count;
    const char *model;                 /* borrowed; NULL: none */
    const struct wr_plan_draft *draft; /* borrowed, finished; NULL: times
                                          were explained and nothing else */
    struct wr_plan_bounds bounds;
    struct wr_plan_result result;
    uint64_t steps_all;         /* of the whole training */
    struct wr_plan_result life; /* with spans; zeroed: none */
    struct wr_plan_capacity capacity;
    double target; /* utilization; 0: capacity was not asked for */
    struct wr_plan_outcome *what_if; /* owned: the plan itself first */
    size_t what_if_count;
    struct wr_plan_saving saving; /* mtbf_s 0: none */
    struct wr_plan_scale_point scale[WR_PLAN_SCALE_MAX];
    size_t scale_count;
    struct wr_plan_times times; /* that were explained; count 0: none */
    struct wr_plan_explained explained;
};

void wr_plan_answer_done(struct wr_plan_answer *a);

/* What is asked for. */
struct wr_plan_questions {
    double target; /* of the utilization, for the capacity; 0: none */
    uint32_t most; /* accelerators of a node that are tried */
    bool what_if;
    uint32_t life;         /* batches; 0: none */
    uint64_t steps;        /* simulated at most; 0: enough */
    const uint64_t *scale; /* numbers of nodes */
    size_t scale_count;
    bool (*stopped)(void); /* polled; may be NULL */
    /* What is done now, and how far it is; may be NULL. */
    void (*progress)(void *arg, const char *what, size_t done, size_t total);
    void *arg;
};

/* Answers them all for the draft's plan, into `a`. WEIR_ECANCELED: stopped. */
int wr_plan_answer(struct wr_plan_answer *a, const struct wr_plan_questions *q,
                   weir_err *err);

/* The record, docs/formats/record.md; NULL when memory is short. */
json_t *wr_plan_record(const struct wr_plan_answer *a);

#endif
