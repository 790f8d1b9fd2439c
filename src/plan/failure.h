/* failure.h - how often to save: Young, Daly, and what a failure costs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_PLAN_FAILURE_H
#define WR_PLAN_FAILURE_H

#include "plan/plan.h"

struct wr_plan_saving {
    double mtbf_s;    /* of the whole job; INFINITY: nothing fails */
    double stall_s;   /* of one save */
    double restore_s; /* reading it back, and the restart */
    double drain_s; /* after its stall, until a save outlives its node: what is
                       on a fast tier or in memory is lost with it */
    double young_s, daly_s; /* between two saves; INFINITY: never */
    double chosen_s;        /* the interval that the plan has; NaN: none */
    double lost_s;          /* per failure: work done again, and the restart */
    double waste;      /* part of the time lost to saves and failures with the
                          interval chosen, or Daly's */
    double waste_best; /* with Daly's */
};

/* `stall_s` and `step_s` are what a simulation found; a stall of NaN: it is not
 * known what a save costs, and neither is what depends on it (NaN). No interval
 * is shorter than a step, or than a save takes to be drained. */
void wr_plan_saving(const struct wr_plan *p, double stall_s, double step_s,
                    struct wr_plan_saving *ret);

#endif
