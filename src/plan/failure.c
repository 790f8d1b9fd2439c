/* failure.c - how often to save: Young, Daly, and what a failure costs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * J. W. Young, "A first order approximation to the optimum checkpoint interval",
 * CACM 17 (1974); J. T. Daly, "A higher order estimate of the optimum checkpoint
 * interval for restart dumps", FGCS 22 (2006). Failures come
 * at random, any one stops the whole job, and may come during a restart, too.
 *
 * What lies on a fast tier or in memory is lost with its node. So after a failure
 * the slow tier is read, and a save counts once it has been drained. */
#include "plan/failure.h"

#include <math.h>

#include "base/mem.h"

/* --- formulas --- */

static double young(double stall, double mtbf)
{
    return sqrt(2 * stall * mtbf);
}

static double daly(double stall, double mtbf)
{
    double x = stall / (2 * mtbf);

    if (stall >= 2 * mtbf)
        return mtbf;
    return young(stall, mtbf) * (1 + sqrt(x) / 3 + x / 9) - stall;
}

/* The part of the time that is no training. What a failure costs besides the
 * work since the last save is a longer restart to Daly's formula. */
static double waste(const struct wr_plan_saving *s, double interval)
{
    double m = s->mtbf_s, each = interval + s->stall_s;

    if (isinf(interval))
        return isinf(m) ? 0 : 1;
    if (isinf(m))
        return s->stall_s / each;
    return 1 - interval /
                   (m * exp((s->restore_s + s->drain_s) / m) * expm1(each / m));
}

/* Work since the last save that a failure takes, on average: half an interval
 * when failures are rare, never more than the time between them. */
static double redone(const struct wr_plan_saving *s, double interval)
{
    double each = interval + s->stall_s;

    return s->mtbf_s - each / expm1(each / s->mtbf_s);
}

/* --- the plan's tiers --- */

static double seconds_of(double bytes, double bytes_per_s)
{
    return bytes_per_s > 0 ? bytes / bytes_per_s : 0;
}

/* All nodes at once, from or to the slow tier, which they share unless it is
 * storage that each has of its own. */
static double slow_s(const struct wr_plan *p, bool writes)
{
    const struct wr_plan_save *v = &p->save;
    const struct wr_device_profile *d = v->on_input ? &p->storage.profile
                                                    : &v->slow;
    bool own = v->on_input && !p->storage.shared;
    double rate = writes ? d->write_bytes_per_s : d->read_bytes_per_s;
    double s = seconds_of(own ? v->bytes / p->nodes : v->bytes, rate);

    if (v->on_input)
        s = WR_MAX(
            s, seconds_of(v->bytes / p->nodes, p->storage.client_bytes_per_s));
    return s;
}

static double drain_s(const struct wr_plan *p)
{
    const struct wr_plan_save *v = &p->save;
    double part = v->bytes / p->nodes;
    double s = WR_MAX(slow_s(p, /* writes= */ true),
                      seconds_of(part, v->fast.read_bytes_per_s));

    switch (v->way) {
    case WR_PLAN_ASYNC: /* in memory, then on the fast tier */
        return s + seconds_of(part, v->fast.write_bytes_per_s);
    case WR_PLAN_BURST:
        return s;
    case WR_PLAN_DIRECT:
    case WR_PLAN_NO_SAVES:
        break;
    }
    return 0;
}

/* --- what to do --- */

/* A save is made after a step, and before the next one can be the one before has
 * to be drained. */
static double possible(const struct wr_plan_saving *s, double interval,
                       double step_s)
{
    double least = WR_MAX(step_s, s->drain_s - s->stall_s);

    return WR_MAX(interval, least);
}

static void set_intervals(struct wr_plan_saving *s, double step_s)
{
    if (isinf(s->mtbf_s)) {
        s->young_s = s->daly_s = INFINITY;
        return;
    }
    s->young_s = possible(s, young(s->stall_s, s->mtbf_s), step_s);
    s->daly_s = possible(s, daly(s->stall_s, s->mtbf_s), step_s);
}

void wr_plan_saving(const struct wr_plan *p, double stall_s, double step_s,
                    struct wr_plan_saving *ret)
{
    struct wr_plan_saving s = {
        .mtbf_s = p->failure.node_mtbf_s > 0 ? p->failure.node_mtbf_s / p->nodes
                                             : INFINITY,
        .stall_s = stall_s,
        .restore_s = p->failure.restart_s,
        .young_s = NAN,
        .daly_s = NAN,
        .chosen_s = NAN,
        .lost_s = NAN,
        .waste = NAN,
        .waste_best = NAN,
    };
    double interval;

    if (p->save.way != WR_PLAN_NO_SAVES) {
        s.restore_s += slow_s(p, /* writes= */ false);
        s.drain_s = drain_s(p);
        s.chosen_s = (double)p->save.every * step_s;
    }
    if (!isnan(stall_s)) { /* else it is not known what a save costs */
        set_intervals(&s, step_s);
        interval = isnan(s.chosen_s) ? s.daly_s : s.chosen_s;
        s.waste = waste(&s, interval);
        s.waste_best = waste(&s, s.daly_s);
        if (!isinf(s.mtbf_s))
            s.lost_s = redone(&s, interval) + s.drain_s + s.restore_s;
    }
    *ret = s;
}
