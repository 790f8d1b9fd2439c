/* simulate.c - one answer for any plan, by the engine that fits it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/simulate.h"

#include <math.h>

#include "base/mem.h"

#define LEAST_STEPS 64
#define SAVES       3 /* that are seen at least */

int wr_plan_simulate(const struct wr_plan *p, const struct wr_plan_how *how,
                     struct wr_plan_result *ret, weir_err *err)
{
    return wr_plan_node(p, how, ret, err);
}

uint64_t wr_plan_enough_steps(const struct wr_plan *p, uint64_t samples)
{
    uint64_t all = wr_plan_steps(p) * p->epochs;
    uint64_t per_step = (uint64_t)p->compute.accelerators * p->compute.batch;
    uint64_t n = samples / WR_MAX(per_step, 1u);

    n = WR_MAX(n, (uint64_t)LEAST_STEPS);
    if (p->loader.style == WR_PLAN_IN_TURNS) /* all have had some */
        n = WR_MAX(n, UINT64_C(4) * p->loader.workers /
                          WR_MAX(p->compute.accelerators, 1u));
    if (p->save.way != WR_PLAN_NO_SAVES && p->save.every < n)
        n = WR_MAX(n, SAVES * p->save.every);
    return n < all ? n : 0;
}

double wr_plan_rate(const struct wr_plan_result *r)
{
    return isfinite(r->steady_per_s) && r->steady_per_s > 0 ? r->steady_per_s
                                                            : r->samples_per_s;
}

double wr_plan_epoch_s(const struct wr_plan *p, const struct wr_plan_result *r)
{
    double samples = (double)wr_plan_steps(p) * p->nodes *
                     p->compute.accelerators * p->compute.batch;

    return samples / wr_plan_rate(r) + (double)p->eval_steps * p->eval_s;
}
