/* answer.c - all questions to one plan, one after the other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plan/simulate.h"

#define SAMPLES 400000 /* that the plan itself simulates at most */
#define PARTS   5      /* of the progress */

void wr_plan_answer_done(struct wr_plan_answer *a)
{
    wr_plan_result_done(&a->result);
    wr_plan_result_done(&a->life);
    wr_plan_capacity_done(&a->capacity);
    wr_plan_times_done(&a->times);
    free(a->what_if);
    memset(a, 0, sizeof(*a));
}

static void tell(const struct wr_plan_questions *q, const char *what,
                 size_t done)
{
    if (q->progress)
        q->progress(q->arg, what, done, PARTS);
}

static int answer_result(struct wr_plan_answer *a,
                         const struct wr_plan_questions *q, weir_err *err)
{
    const struct wr_plan *p = &a->draft->plan;
    struct wr_plan_how how = {.stopped = q->stopped, .steps = q->steps};

    if (!how.steps)
        how.steps = wr_plan_enough_steps(p, SAMPLES);
    return wr_plan_simulate(p, &how, &a->result, err);
}

/* The first batches again, with their spans: of one node. */
static int answer_life(struct wr_plan_answer *a,
                       const struct wr_plan_questions *q, weir_err *err)
{
    struct wr_plan p = a->draft->plan;
    const uint64_t per_step = p.compute.accelerators;
    const struct wr_plan_how how = {
        .stopped = q->stopped,
        .life = q->life,
        .steps = WR_MAX(2 * q->life / WR_MAX(per_step, 1u), 2u)};

    return q->life ? wr_plan_node(&p, &how, &a->life, err) : 0;
}

static int answer_scale(struct wr_plan_answer *a,
                        const struct wr_plan_questions *q, weir_err *err)
{
    int r = 0;

    for (size_t k = 0; k < q->scale_count && r == 0; k++) {
        struct wr_plan p = a->draft->plan;
        struct wr_plan_how how = {.stopped = q->stopped, .steps = q->steps};
        struct wr_plan_result res;

        p.nodes = (uint32_t)q->scale[k];
        /* Each node has as much to do as in the plan itself. */
        p.data.samples = p.data.samples / a->draft->plan.nodes * p.nodes;
        r = wr_plan_check(&p, err);
        if (r == 0 && !how.steps)
            how.steps = wr_plan_enough_steps(&p, SAMPLES / 4);
        if (r == 0)
            r = wr_plan_simulate(&p, &how, &res, err);
        if (r < 0)
            break;
        a->scale[a->scale_count++] = (struct wr_plan_scale_point){
            p.nodes, wr_plan_rate(&p, &res), wr_plan_steady_use(&p, &res)};
        wr_plan_result_done(&res);
    }
    return r;
}

/* How often to save, if something fails. */
static void answer_saving(struct wr_plan_answer *a)
{
    const struct wr_plan *p = &a->draft->plan;
    double per_step = (double)p->nodes * p->compute.accelerators *
                      p->compute.batch;
    double step_s = per_step / wr_plan_rate(p, &a->result);

    if (p->failure.node_mtbf_s > 0 && p->save.way != WR_PLAN_NO_SAVES)
        wr_plan_saving(p, a->result.save_stall_s, step_s, &a->saving);
}

int wr_plan_answer(struct wr_plan_answer *a, const struct wr_plan_questions *q,
                   weir_err *err)
{
    const struct wr_plan *p = &a->draft->plan;
    const struct wr_plan_how how = {.stopped = q->stopped, .steps = q->steps};
    int r;

    wr_plan_bounds(p, /* cached= */ false, &a->bounds);
    a->steps_all = wr_plan_steps(p) * p->epochs;
    tell(q, "simulating", 0);
    r = answer_result(a, q, err);
    if (r == 0)
        r = answer_life(a, q, err);
    tell(q, "trying changes", 1);
    if (r == 0 && q->what_if)
        r = wr_plan_what_if(p, &how, &a->what_if, &a->what_if_count, err);
    tell(q, "trying more accelerators", 3);
    if (r == 0 && q->target > 0) {
        a->target = q->target;
        r = wr_plan_capacity(p, q->target, q->most, &how, &a->capacity, err);
    }
    tell(q, "trying more nodes", 4);
    if (r == 0)
        r = answer_scale(a, q, err);
    if (r == 0)
        answer_saving(a);
    return r;
}
