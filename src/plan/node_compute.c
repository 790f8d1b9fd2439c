/* node_compute.c - a node's accelerators: steps, epochs, and what they wait for.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plan/node_private.h"

#define NS 1e9

bool wr_sim_compute_init(struct wr_sim *s)
{
    s->accel = calloc(s->p->compute.accelerators, 1);
    s->doing[WR_SIM_WAITS] = s->p->compute.accelerators;
    return s->accel;
}

void wr_sim_doing(struct wr_sim *s, uint32_t g, enum wr_sim_doing doing)
{
    static const enum wr_plan_span_kind kinds[] = {
        WR_PLAN_SPAN_WAIT, WR_PLAN_SPAN_COMPUTE, WR_PLAN_SPAN_WAIT,
        WR_PLAN_SPAN_SAVE};

    s->doing[s->accel[g]]--;
    s->accel[g] = (uint8_t)doing;
    s->doing[doing]++;
    wr_sim_life(s, s->p->loader.workers + 1 + g, kinds[doing],
                s->run.step * s->p->compute.accelerators + g);
}

/* --- a step --- */

static double compute_s(const struct wr_sim *s, uint64_t seq)
{
    if (wr_plan_course_evaluates(&s->run))
        return s->p->eval_s;
    return wr_plan_drawn(&s->p->compute.step_s, s->p->seed, WR_SIM_COMPUTE,
                         seq);
}

void wr_sim_compute(struct wr_sim *s)
{
    uint32_t n = s->p->compute.accelerators;

    if (s->run.now < s->hand_ns)
        return;
    for (uint32_t g = 0; g < n && s->doing[WR_SIM_WAITS]; g++) {
        uint64_t seq = s->run.step * n + g;
        struct wr_sim_batch *b = wr_sim_batch(s, seq);

        if (s->accel[g] != WR_SIM_WAITS || b->seq != seq || !b->ready)
            continue;
        b->ready = false;
        s->handed++;
        if (!s->run.result->first_batch_s && !seq)
            s->run.result->first_batch_s = s->run.now / NS;
        wr_sim_life_queue(s, seq);
        wr_sim_doing(s, g, WR_SIM_COMPUTES);
        wr_sim_at(s, s->run.now + compute_s(s, seq) * NS, WR_SIM_STEP, g);
    }
}

/* Linux lets a thread run so long if others wait: 0.7 ms on one core, as much
 * again for each doubling of cores up to eight. */
static double slice_ns(uint32_t cores)
{
    double n = WR_MIN(cores, 8u);

    return 0.7e6 * (1 + floor(log2(n)));
}

/* A batch that is given back wakes the workers. If they are more than the cores,
 * the thread that feeds the accelerators waits for its turn among them. */
static double turn_ns(const struct wr_sim *s)
{
    const struct wr_plan_loader *l = &s->p->loader;
    uint64_t can_run = l->workers - s->idle + s->arrived[0].count;

    if (!l->prefetch || l->workers <= l->cores || !s->run.step)
        return 0;
    if (l->in_place)
        can_run = l->workers; /* what they read goes into the batch */
    can_run = WR_MIN(can_run, l->workers);
    return can_run > l->cores ? slice_ns(l->cores) * (double)can_run / l->cores
                              : 0;
}

void wr_sim_begin_step(struct wr_sim *s)
{
    double turn = turn_ns(s);

    if (turn > 0) {
        s->hand_ns = s->run.now + turn;
        wr_sim_at(s, s->hand_ns, WR_SIM_STARTED, 0);
    }
    for (uint32_t g = 0; g < s->p->compute.accelerators; g++)
        wr_sim_doing(s, g, WR_SIM_WAITS);
    s->met = 0;
    s->wanted += s->p->compute.accelerators;
    s->run.step_at = s->run.now;
}

/* --- the end of a step --- */

void wr_sim_go_on(struct wr_sim *s)
{
    bool epoch_over, more = wr_plan_course_go_on(&s->run, &epoch_over);

    if (epoch_over && s->p->loader.apart && s->p->loader.start_s > 0) {
        s->epoch_from_ns = s->run.now + s->p->loader.start_s * NS;
        wr_sim_at(s, s->epoch_from_ns, WR_SIM_STARTED, 0);
    }
    if (more)
        wr_sim_begin_step(s);
}

/* Everybody has met. */
void wr_sim_reduced(struct wr_sim *s)
{
    if (wr_plan_course_met(&s->run))
        wr_sim_save(s);
    else
        wr_sim_go_on(s);
}

void wr_sim_step_done(struct wr_sim *s, uint32_t g)
{
    s->released++;
    wr_sim_doing(s, g, WR_SIM_MEETS);
    if (++s->met < s->p->compute.accelerators)
        return;
    if (s->p->compute.reduce_s > 0 && !wr_plan_course_evaluates(&s->run))
        wr_sim_at(s, s->run.now + s->p->compute.reduce_s * NS, WR_SIM_REDUCED,
                  0);
    else
        wr_sim_reduced(s);
}
