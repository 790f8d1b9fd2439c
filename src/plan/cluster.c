/* cluster.c - many nodes on one file system, step by step, in virtual time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/cluster.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "plan/cluster_private.h"

#define LOOK_EVERY 8192 /* of work between two looks at `stopped` */
#define MOST_READS (UINT64_C(1) << 24) /* steps ahead, of all nodes */

/* --- events --- */

void wr_cluster_changed(struct wr_cluster *c, uint32_t device)
{
    if (!c->is_changed[device]) {
        c->is_changed[device] = true;
        c->changed[c->changed_count++] = device;
    }
}

bool wr_cluster_worked(struct wr_cluster *c, uint64_t work)
{
    c->work += work;
    if (c->work >= LOOK_EVERY) {
        c->work = 0;
        c->canceled |= c->how->stopped && c->how->stopped();
    }
    return c->canceled;
}

/* Puts the next ends of flows into the heap. */
static void note_ends(struct wr_cluster *c)
{
    enum wr_plan_fluid_kind kind;

    for (uint32_t k = 0; k < c->changed_count; k++) {
        uint32_t device = c->changed[k];
        double at = wr_plan_fluid_next(&c->devices[device], &kind);

        c->is_changed[device] = false;
        c->stamps[device]++;
        if (!isinf(at))
            c->run.failed |= !wr_plan_heap_add(&c->events, at,
                                               c->stamps[device], device);
    }
    c->changed_count = 0;
}

static void flow_ends(struct wr_cluster *c, uint32_t device)
{
    struct wr_plan_fluid *f = &c->devices[device];
    enum wr_plan_fluid_kind kind = WR_PLAN_FLUID_READS;
    uint32_t id;

    wr_plan_fluid_next(f, &kind);
    id = wr_plan_fluid_pop(f);
    wr_cluster_changed(c, device);
    if (kind == WR_PLAN_FLUID_READS)
        wr_cluster_read_done(c, id);
    else
        wr_cluster_write_done(c, id);
}

static void timer_ends(struct wr_cluster *c, enum wr_cluster_timer timer)
{
    c->timers[timer] = INFINITY;
    switch (timer) {
    case WR_CLUSTER_MET:
        wr_cluster_met(c);
        break;
    case WR_CLUSTER_GO:
        wr_cluster_saved(c);
        break;
    case WR_CLUSTER_WRITTEN:
        wr_cluster_written(c);
        break;
    case WR_CLUSTER_STARTED:
        wr_cluster_open(c);
        break;
    case WR_CLUSTER_TIMERS:
        break;
    }
}

/* One event, and what follows from it; false: there is none. */
static bool advance(struct wr_cluster *c)
{
    unsigned first = 0;
    struct wr_plan_item e;

    note_ends(c);
    while (c->events.count &&
           c->events.at[0].kind != c->stamps[c->events.at[0].id])
        wr_plan_heap_pop(&c->events);
    for (unsigned k = 1; k < WR_CLUSTER_TIMERS; k++)
        if (c->timers[k] < c->timers[first])
            first = k;
    if (c->events.count && c->events.at[0].key <= c->timers[first]) {
        e = wr_plan_heap_pop(&c->events);
        c->run.now = WR_MAX(c->run.now, e.key);
        flow_ends(c, e.id);
        return true;
    }
    if (isinf(c->timers[first]))
        return false;
    c->run.now = WR_MAX(c->run.now, c->timers[first]);
    timer_ends(c, (enum wr_cluster_timer)first);
    return true;
}

/* Until the run is over; saves on their way then are waited for, too. */
static int run(struct wr_cluster *c, weir_err *err)
{
    if (c->p->loader.apart) {
        c->begun_from_s = c->p->loader.start_s;
        c->timers[WR_CLUSTER_STARTED] = c->begun_from_s;
    }
    wr_cluster_begin_step(c);
    wr_cluster_open(c);
    while (!c->run.failed && !(c->run.over && !wr_cluster_is_saving(c))) {
        if (wr_cluster_worked(c, 1))
            return wr_fail(err, WEIR_ECANCELED, "canceled");
        if (!advance(c))
            break;
    }
    if (c->run.failed)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (!c->run.over || wr_cluster_is_saving(c)) /* rates next to nothing */
        return wr_fail(err, WEIR_EINVAL, "step %" PRIu64 " would never end",
                       c->run.step);
    return 0;
}

/* --- beginning and end --- */

/* How far a node may be ahead, in steps; as node_feed.c counts batches. */
static void set_window(struct wr_cluster *c)
{
    const struct wr_plan_loader *l = &c->p->loader;
    uint64_t g = c->p->compute.accelerators;
    uint64_t records = (uint64_t)l->workers * l->depth;
    uint64_t batches = (records + c->p->compute.batch - 1) /
                       c->p->compute.batch;

    c->buffers = c->ahead = 1;
    if (l->prefetch && l->style == WR_PLAN_IN_TURNS) {
        c->buffers += ((uint64_t)l->workers * l->prefetch + g - 1) / g;
        c->ahead = c->buffers;
    } else if (l->prefetch) {
        c->buffers += l->prefetch + !l->in_place;
        c->ahead = c->buffers + (l->in_place ? 0 : batches / g);
    }
    c->ahead = WR_MIN(c->ahead, WR_MAX(MOST_READS / c->node_count, 4));
    c->ahead = WR_MIN(c->ahead, c->total);
    c->buffers = WR_MIN(c->buffers, c->ahead);
}

/* Which nodes are simulated, and what of them is one. */
static void set_nodes(struct wr_cluster *c)
{
    const struct wr_plan *p = c->p;
    struct wr_plan_result *r = c->run.result;
    bool nodes, accelerators = c->lump && p->compute.accelerators > 1;

    wr_cluster_load(p, 1, &c->load);
    nodes = c->lump && p->nodes > 1 && !c->load.read_varies &&
            !c->load.cores_vary;
    c->node_count = nodes ? 1 : p->nodes;
    c->run.nodes = c->node_count;
    c->each = nodes ? p->nodes : 1;
    r->lumped = nodes || accelerators;
    if (nodes)
        snprintf(r->lumped_why, sizeof(r->lumped_why),
                 "nothing of their reading is drawn, so all %u nodes are alike "
                 "and one stands for them; the slowest accelerator is drawn "
                 "as one",
                 p->nodes);
    else if (accelerators)
        snprintf(r->lumped_why, sizeof(r->lumped_why),
                 "of the %u accelerators of a node only the slowest is drawn",
                 p->compute.accelerators);
}

static int set_steps(struct wr_cluster *c, weir_err *err)
{
    const struct wr_plan *p = c->p;
    uint64_t asked = c->how->steps;

    if (__builtin_add_overflow(wr_plan_steps(p), p->eval_steps,
                               &c->run.epoch_steps) ||
        c->run.epoch_steps > UINT64_MAX / 4)
        return wr_fail(err, WEIR_EINVAL,
                       "evaluation steps: %" PRIu64 ": too many",
                       p->eval_steps);
    if (__builtin_mul_overflow(c->run.epoch_steps, p->epochs, &c->total))
        c->total = UINT64_MAX / 2;
    c->run.last = asked ? WR_MIN(asked, c->total) : c->total;
    if (c->run.last > WR_PLAN_MAX_STEPS)
        return wr_fail(err, WEIR_EINVAL,
                       "%" PRIu64 " steps: no more than %u can be simulated",
                       c->run.last, WR_PLAN_MAX_STEPS);
    return 0;
}

static void set_device(struct wr_cluster *c, uint32_t k)
{
    struct wr_plan_fluid *f = &c->devices[k];
    struct wr_plan_flows *w = &f->kinds[WR_PLAN_FLUID_READS];

    wr_plan_fluid_init(f);
    if (k < c->inputs) {
        w->alone = c->load.alone;
        w->most = c->load.most;
        w->full = c->load.full;
        w->weight = c->p->storage.shared ? c->each : 1;
    }
}

static bool init(struct wr_cluster *c)
{
    set_window(c);
    wr_cluster_load(c->p, c->ahead, &c->load);
    c->inputs = c->p->storage.shared ? 1 : c->node_count;
    c->device_count = c->inputs + 1;
    c->devices = calloc(c->device_count, sizeof(*c->devices));
    c->stamps = calloc(c->device_count, sizeof(*c->stamps));
    c->changed = calloc(c->device_count, sizeof(*c->changed));
    c->is_changed = calloc(c->device_count, sizeof(*c->is_changed));
    c->nodes = calloc(c->node_count, sizeof(*c->nodes));
    c->reads = calloc(c->node_count * c->ahead, sizeof(*c->reads));
    c->met_s = calloc(c->buffers, sizeof(*c->met_s));
    for (unsigned k = 0; k < WR_CLUSTER_TIMERS; k++)
        c->timers[k] = INFINITY;
    if (!c->devices || !c->stamps || !c->changed || !c->is_changed ||
        !c->nodes || !c->reads || !c->met_s)
        return false;
    for (uint32_t k = 0; k < c->device_count; k++)
        set_device(c, k);
    return wr_cluster_save_init(c);
}

static void done(struct wr_cluster *c)
{
    for (uint32_t k = 0; c->devices && k < c->device_count; k++)
        wr_plan_fluid_done(&c->devices[k]);
    wr_plan_heap_done(&c->events);
    free(c->devices);
    free(c->stamps);
    free(c->changed);
    free(c->is_changed);
    free(c->nodes);
    free(c->reads);
    free(c->met_s);
    free(c->writers);
    wr_plan_course_done(&c->run);
}

/* What the cores had to do, of what they could have done. */
static double cores_busy(const struct wr_cluster *c)
{
    const struct wr_plan_loader *l = &c->p->loader;
    double cached = (double)(c->run.step -
                             WR_MIN(c->run.step, c->run.epoch_steps));
    double work = (c->load.cpu_s + c->load.collate_s) * (double)c->run.step;

    if (c->p->cache.decoded)
        work -= c->load.cpu_s * cached * c->p->cache.share;
    work *= (double)WR_MIN(l->workers, l->cores) / l->cores;
    return WR_MIN(work / c->run.result->seconds, 1);
}

static void conclude(struct wr_cluster *c)
{
    struct wr_plan_result *r = c->run.result;

    wr_plan_course_end(&c->run, c->run.epoch_steps);
    if (r->seconds > 0) {
        r->storage_busy = WR_MIN(r->storage_busy / r->seconds, 1);
        r->cores_busy = cores_busy(c);
    }
}

int wr_plan_cluster(const struct wr_plan *p, const struct wr_plan_how *how,
                    bool lump, struct wr_plan_result *ret, weir_err *err)
{
    struct wr_plan_result result = {.save_stall_s = NAN, .save_durable_s = NAN};
    struct wr_cluster c = {.p = p,
                           .how = how,
                           .lump = lump,
                           .run = {.p = p, .result = &result, .unit = 1}};
    int r = set_steps(&c, err);

    if (r == 0) {
        set_nodes(&c);
        r = init(&c) ? run(&c, err)
                     : wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    if (r == 0)
        conclude(&c);
    done(&c);
    if (r < 0)
        wr_plan_result_done(&result);
    else
        *ret = result;
    return r;
}
