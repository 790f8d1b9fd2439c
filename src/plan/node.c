/* node.c - one node, sample by sample, in virtual time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "plan/node_private.h"

#define NS         1e9
#define LOOK_EVERY 65536 /* events between two looks at `stopped` */

void wr_sim_at(struct wr_sim *s, double at_ns, enum wr_sim_event kind,
               uint32_t id)
{
    s->run.failed |= !wr_plan_heap_add(&s->events, WR_MAX(at_ns, s->run.now),
                                       kind, id);
}

/* --- time --- */

/* Until `at_ns` everything goes on as it is. */
static void pass(struct wr_sim *s, double at_ns)
{
    double dt = at_ns - s->run.now, n = s->p->compute.accelerators;
    double *part = s->run.part;

    if (dt > 0 && !s->run.over) {
        uint32_t waits = s->doing[WR_SIM_WAITS], meets = s->doing[WR_SIM_MEETS];

        if (waits) { /* who has computed waits for the same input */
            waits += meets;
            meets = 0;
        }
        part[WR_PLAN_COMPUTES] += dt * s->doing[WR_SIM_COMPUTES] / n;
        part[wr_sim_lacks_cores(s) ? WR_PLAN_FOR_CORES : WR_PLAN_FOR_STORAGE] +=
            dt * waits / n;
        part[WR_PLAN_FOR_OTHERS] += dt * meets / n;
        part[WR_PLAN_FOR_SAVES] += dt * s->doing[WR_SIM_SAVES] / n;
        if (s->reads)
            s->reading_ns += dt;
    }
    s->run.now = WR_MAX(s->run.now, at_ns);
}

static void happen(struct wr_sim *s, const struct wr_plan_item *e)
{
    switch ((enum wr_sim_event)e->kind) {
    case WR_SIM_OPENED:
        wr_sim_opened(s, e->id);
        break;
    case WR_SIM_READ:
        wr_sim_arrived(s, e->id);
        break;
    case WR_SIM_STEP:
        wr_sim_step_done(s, e->id);
        break;
    case WR_SIM_REDUCED:
        wr_sim_reduced(s);
        break;
    case WR_SIM_STARTED: /* who waits for it looks at the time */
        break;
    case WR_SIM_COPIED:
        wr_sim_copied(s);
        break;
    case WR_SIM_MOVED:
        wr_sim_moved(s, e->id);
        break;
    }
}

/* One event, and what follows from it; false: there is none. */
static bool advance(struct wr_sim *s)
{
    double cores = wr_plan_share_next(&s->cores);
    double events = s->events.count ? s->events.at[0].key : INFINITY;
    struct wr_plan_item e;

    if (isinf(cores) && isinf(events))
        return false;
    if (cores <= events) {
        pass(s, cores);
        wr_sim_worked(s, wr_plan_share_pop(&s->cores));
    } else {
        pass(s, events);
        wr_plan_share_advance(&s->cores, s->run.now);
        e = wr_plan_heap_pop(&s->events);
        happen(s, &e);
    }
    if (!s->run.over) {
        wr_sim_compute(s);
        wr_sim_feed(s);
        wr_sim_compute(s); /* what took no time */
    }
    return true;
}

/* Until the run is over; saves on their way then are waited for, too. */
static int run(struct wr_sim *s, weir_err *err)
{
    uint64_t events = 0;

    wr_sim_begin_step(s);
    wr_sim_feed(s);
    while (!s->run.failed && advance(s)) {
        if (s->run.over && !s->movers[WR_SIM_WRITER].busy &&
            !s->movers[WR_SIM_DRAINER].busy)
            break;
        if (++events % LOOK_EVERY == 0 && s->how->stopped && s->how->stopped())
            return wr_fail(err, WEIR_ECANCELED, "canceled");
    }
    if (s->run.failed)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

/* --- beginning and end --- */

/* What is shared by nodes that all read at the same time. */
static struct wr_device_profile part_of(const struct wr_plan *p)
{
    struct wr_device_profile d = p->storage.profile;

    if (p->storage.shared && p->nodes > 1) {
        d.read_bytes_per_s /= p->nodes;
        d.write_bytes_per_s /= p->nodes;
        d.write_cache_bytes /= p->nodes;
        if (d.channels)
            d.channels = WR_MAX(d.channels / p->nodes, 1u);
        if (d.read_bytes_per_s > 0)
            d.read_bytes_per_s = WR_MAX(d.read_bytes_per_s, WR_DEVICE_MIN_RATE);
        if (d.write_bytes_per_s > 0)
            d.write_bytes_per_s = WR_MAX(d.write_bytes_per_s,
                                         WR_DEVICE_MIN_RATE);
    }
    return d;
}

static int init(struct wr_sim *s, weir_err *err)
{
    const struct wr_plan_cache *c = &s->p->cache;
    struct wr_device_profile d = part_of(s->p);
    int r = wr_device_new(&d, &s->device, err);

    if (r == 0 && c->share > 0 && *c->profile.name)
        r = wr_device_new(&c->profile, &s->cache, err);
    if (r == 0)
        r = wr_sim_save_init(s, err);
    if (r == 0 &&
        !(wr_sim_feed_init(s) && wr_sim_compute_init(s) && wr_sim_life_init(s)))
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    return r;
}

static void done(struct wr_sim *s)
{
    wr_sim_life_done(s);
    wr_sim_feed_done(s);
    wr_sim_save_done(s);
    wr_device_free(s->cache);
    wr_device_free(s->device);
    wr_plan_heap_done(&s->events);
    wr_plan_course_done(&s->run);
    free(s->accel);
}

static void conclude(struct wr_sim *s)
{
    struct wr_plan_result *r = s->run.result;
    double end_ns = r->seconds * NS;

    wr_plan_course_end(&s->run, WR_MAX(wr_plan_steps(s->p), UINT64_C(1)));
    r->storage_busy = end_ns > 0 ? s->reading_ns / end_ns : 0;
    r->cores_busy = end_ns > 0
                        ? WR_MIN(s->cores.done / end_ns / s->p->loader.cores, 1)
                        : 0;
}

int wr_plan_node(const struct wr_plan *p, const struct wr_plan_how *how,
                 struct wr_plan_result *ret, weir_err *err)
{
    struct wr_plan_result result = {.save_stall_s = NAN, .save_durable_s = NAN};
    struct wr_sim s = {
        .p = p,
        .how = how,
        .run = {.p = p, .result = &result, .unit = NS, .nodes = 1}};
    int r;

    s.run.epoch_steps = wr_plan_steps(p) + p->eval_steps;
    s.run.last = s.run.epoch_steps * p->epochs;
    if (how->steps)
        s.run.last = WR_MIN(s.run.last, how->steps);
    r = init(&s, err);
    if (r == 0)
        r = run(&s, err);
    if (r == 0)
        conclude(&s);
    done(&s);
    if (r < 0)
        wr_plan_result_done(&result);
    else
        *ret = result;
    return r;
}
