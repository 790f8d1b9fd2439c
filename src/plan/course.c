/* course.c - the course of a run in a plan: steps, epochs and saves.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/course.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* --- steps and epochs --- */

bool wr_plan_course_evaluates(const struct wr_plan_course *c)
{
    return c->step % c->epoch_steps >= c->epoch_steps - c->p->eval_steps;
}

bool wr_plan_course_met(struct wr_plan_course *c)
{
    bool eval = wr_plan_course_evaluates(c);

    c->trained += !eval;
    c->step++;
    return c->p->save.way != WR_PLAN_NO_SAVES && !eval &&
           c->trained % c->p->save.every == 0;
}

static void note_step(struct wr_plan_course *c)
{
    struct wr_plan_result *r = c->result;

    if (!wr_grow(&r->step_s, &r->step_cap, r->step_count + 1,
                 sizeof(*r->step_s)))
        c->failed = true;
    else
        r->step_s[r->step_count++] = (c->now - c->step_at) / c->unit;
}

static double samples_of_step(const struct wr_plan *p)
{
    return (double)p->compute.batch * p->compute.accelerators * p->nodes;
}

static void note_epoch(struct wr_plan_course *c, uint64_t steps)
{
    struct wr_plan_result *r = c->result;
    struct wr_plan_epoch e = {.seconds = (c->now - c->epoch_at) / c->unit,
                              .steps = steps};

    for (unsigned k = 0; k < WR_PLAN_PARTS; k++) {
        e.part_s[k] = c->part[k] / c->unit / c->nodes;
        c->all[k] += c->part[k];
    }
    memset(c->part, 0, sizeof(c->part));
    c->epoch_at = c->now;
    if (e.seconds > 0)
        e.samples_per_s = (double)steps * samples_of_step(c->p) / e.seconds;
    if (!wr_grow(&r->epochs, &r->epoch_cap, r->epoch_count + 1,
                 sizeof(*r->epochs)))
        c->failed = true;
    else
        r->epochs[r->epoch_count++] = e;
}

bool wr_plan_course_go_on(struct wr_plan_course *c, bool *ret_epoch_over)
{
    uint64_t rest = c->step % c->epoch_steps;

    *ret_epoch_over = rest == 0;
    note_step(c);
    if (rest == 0)
        note_epoch(c, c->epoch_steps);
    if (c->step < c->last)
        return true;
    if (rest)
        note_epoch(c, rest);
    c->over = true;
    c->result->seconds = c->now / c->unit;
    return false;
}

/* --- saves --- */

bool wr_plan_course_waits(struct wr_plan_course *c)
{
    const struct wr_plan_save *v = &c->p->save;
    uint64_t older = c->save_count - 1;

    c->blocked = (v->way == WR_PLAN_ASYNC && c->written < older) || /* memory */
                 (c->drains && v->kept && older - c->drained >= v->kept);
    return c->blocked;
}

bool wr_plan_course_save(struct wr_plan_course *c)
{
    if (!wr_grow(&c->saves, &c->save_cap, c->save_count + 1,
                 sizeof(*c->saves))) {
        c->failed = true;
        return false;
    }
    c->saves[c->save_count++] = (struct wr_plan_course_save){.begun = c->now};
    c->result->saves++;
    c->result->saves_blocked += wr_plan_course_waits(c);
    return true;
}

void wr_plan_course_durable(struct wr_plan_course *c, double at)
{
    c->durable += at - c->saves[c->drained++].begun;
}

/* --- the end --- */

/* Samples per second of the second half of the last epoch, of so many steps. */
static double steady_rate(const struct wr_plan_course *c, uint64_t steps)
{
    const struct wr_plan_result *r = c->result;
    size_t n = ((size_t)WR_MIN((uint64_t)r->step_count, steps) + 1) / 2;
    double seconds = 0;

    for (size_t k = r->step_count - n; k < r->step_count; k++)
        seconds += r->step_s[k];
    return seconds > 0 ? (double)n * samples_of_step(c->p) / seconds : 0;
}

void wr_plan_course_end(struct wr_plan_course *c, uint64_t steps)
{
    struct wr_plan_result *r = c->result;
    double samples = (double)c->step * samples_of_step(c->p);
    double saves = (double)c->save_count, drained = (double)c->drained;

    for (unsigned k = 0; k < WR_PLAN_PARTS; k++)
        r->part_s[k] = c->all[k] / c->unit / c->nodes;
    if (r->seconds > 0) {
        r->samples_per_s = samples / r->seconds;
        r->utilization = r->part_s[WR_PLAN_COMPUTES] / r->seconds;
    }
    r->steady_per_s = steady_rate(c, steps);
    r->save_stall_s = saves > 0 ? r->part_s[WR_PLAN_FOR_SAVES] / saves : NAN;
    r->save_durable_s = drained > 0 ? c->durable / drained / c->unit : NAN;
}

void wr_plan_course_done(struct wr_plan_course *c)
{
    free(c->saves);
}
