/* course.h - the course of a run in a plan: steps, epochs and saves.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What both simulations do alike once it is known when a step is over: they count
 * it, end epochs, begin saves and wait for earlier ones, and sum all of it up. */
#ifndef WR_PLAN_COURSE_H
#define WR_PLAN_COURSE_H

#include "plan/plan.h"

struct wr_plan_course_save {
    double begun;
    uint32_t left; /* those who bring it to the slow tier and have not yet */
};

struct wr_plan_course {
    const struct wr_plan *p;       /* borrowed */
    struct wr_plan_result *result; /* borrowed */
    double unit;  /* of all times here: so many make a second */
    double nodes; /* whose parts are summed */
    double now;
    bool failed; /* no memory */

    uint64_t epoch_steps, last; /* of an epoch, those that are simulated */
    uint64_t step;              /* that are over, evaluations included */
    uint64_t trained;           /* without them */
    double step_at, epoch_at;   /* when they began */
    double part[WR_PLAN_PARTS]; /* of the epoch */
    double all[WR_PLAN_PARTS];  /* of the epochs before */
    bool over;

    struct wr_plan_course_save *saves; /* owned */
    size_t save_count, save_cap;
    uint64_t written, drained; /* saves: by the first tier, by the last one */
    double durable;            /* times until the last one had them, summed */
    bool drains;               /* there are two tiers */
    bool blocked;              /* the save that begins waits for one before */
};

/* Whether the step that goes on is of an evaluation. */
bool wr_plan_course_evaluates(const struct wr_plan_course *c);

/* All accelerators have met: the step is counted. True: a save follows. */
bool wr_plan_course_met(struct wr_plan_course *c);

/* A step is over, with its save. True: another one is to begin. */
bool wr_plan_course_go_on(struct wr_plan_course *c, bool *ret_epoch_over);

/* A save begins; false: no memory. */
bool wr_plan_course_save(struct wr_plan_course *c);

/* Sets and returns `blocked`: what is needed for the save is still in use. */
bool wr_plan_course_waits(struct wr_plan_course *c);

/* The last tier has the next save at this time. */
void wr_plan_course_durable(struct wr_plan_course *c, double at);

/* Sums it up; `steps` of the last epoch tell the steady rate. */
void wr_plan_course_end(struct wr_plan_course *c, uint64_t steps);
void wr_plan_course_done(struct wr_plan_course *c);

#endif
