/* simulate.c - one answer for any plan, by the engine that fits it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/simulate.h"

#include <math.h>

#include "base/mem.h"
#include "plan/bounds.h"
#include "plan/cluster.h"

#define LEAST_STEPS 64
#define SAVES       3 /* that are seen at least */
#define LONG        8 /* times what is loaded ahead */

int wr_plan_simulate(const struct wr_plan *p, const struct wr_plan_how *how,
                     struct wr_plan_result *ret, weir_err *err)
{
    if (p->nodes > 1)
        return wr_plan_cluster(p, how, /* lump= */ true, ret, err);
    return wr_plan_node(p, how, ret, err);
}

uint64_t wr_plan_enough_steps(const struct wr_plan *p, uint64_t samples)
{
    uint64_t all = wr_plan_steps(p) * p->epochs;
    uint64_t per_step = (uint64_t)p->compute.accelerators * p->compute.batch;
    uint64_t n = samples / WR_MAX(per_step, 1u);

    if (p->nodes > 1) /* step by step: a step of a node costs as ten samples */
        n = 10 * samples / p->nodes;
    n = WR_MAX(n, (uint64_t)LEAST_STEPS);
    if (p->loader.style == WR_PLAN_IN_TURNS) /* all have had some */
        n = WR_MAX(n, UINT64_C(4) * p->loader.workers /
                          WR_MAX(p->compute.accelerators, 1u));
    if (p->save.way != WR_PLAN_NO_SAVES && p->save.every < n)
        n = WR_MAX(n, SAVES * p->save.every);
    return n < all ? n : 0;
}

/* Batches of a node that may be there or on their way before one is needed. */
static double batches_ahead(const struct wr_plan *p)
{
    const struct wr_plan_loader *l = &p->loader;

    if (l->style == WR_PLAN_IN_TURNS)
        return (double)l->workers * WR_MAX(l->prefetch, 1u);
    return l->prefetch + (double)l->workers * l->depth / p->compute.batch;
}

double wr_plan_rate(const struct wr_plan *p, const struct wr_plan_result *r)
{
    const struct wr_plan_epoch *last = r->epoch_count
                                           ? &r->epochs[r->epoch_count - 1]
                                           : NULL;
    bool is_cached = r->epoch_count > 1 && p->cache.share > 0;
    double rate = r->samples_per_s;
    struct wr_plan_bounds b;

    if (is_cached)
        rate = last->samples_per_s;
    if (last && isfinite(r->steady_per_s) && r->steady_per_s > 0 &&
        (double)last->steps * p->compute.accelerators >=
            LONG * batches_ahead(p))
        rate = r->steady_per_s;
    wr_plan_bounds(p, is_cached, &b);
    return WR_MIN(rate, b.samples_per_s);
}

double wr_plan_steady_use(const struct wr_plan *p,
                          const struct wr_plan_result *r)
{
    double each = wr_plan_rate(p, r) /
                  ((double)p->nodes * p->compute.accelerators);

    return WR_MIN(each / p->compute.batch * p->compute.step_s.mean, 1);
}

double wr_plan_epoch_s(const struct wr_plan *p, const struct wr_plan_result *r)
{
    double samples = (double)wr_plan_steps(p) * p->nodes *
                     p->compute.accelerators * p->compute.batch;

    return samples / wr_plan_rate(p, r) + (double)p->eval_steps * p->eval_s;
}
