/* cluster.c - many nodes on one file system, step by step, in virtual time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/cluster.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "plan/cluster_private.h"

static void cluster_changed(struct wr_cluster *c, uint32_t device);
static void cluster_go_on(struct wr_cluster *c);

/* What publishing a save asks of a tier, as src/tier does it: files and folders
 * made, and syncs. */
#define PUBLISH_METAS 4
#define PUBLISH_SYNCS 4

/* --- saves, to the slow tier ---
 *
 * All nodes save at the same time, an equal part each. The fast tier is in each
 * node; the slow one is shared, unless it is storage that each node has of its
 * own. A drain is a flow beside the reads. */

static void start_write(struct wr_cluster *c, uint32_t writer)
{
    struct wr_cluster_writer *w = &c->writers[writer];

    c->run.failed |= !wr_plan_fluid_add(&c->devices[w->device],
                                        WR_PLAN_FLUID_WRITES, c->run.now,
                                        c->write_bytes, writer);
    cluster_changed(c, w->device);
}

static void queue_writes(struct wr_cluster *c)
{
    for (uint32_t k = 0; k < c->writer_count; k++)
        if (c->writers[k].queued++ == c->writers[k].done)
            start_write(c, k);
}

static void try_save(struct wr_cluster *c);

static void cluster_write_done(struct wr_cluster *c, uint32_t writer)
{
    struct wr_cluster_writer *w = &c->writers[writer];
    struct wr_plan_course_save *v = &c->run.saves[w->done++];

    if (w->done < w->queued)
        start_write(c, writer);
    if (--v->left)
        return;
    wr_plan_course_durable(&c->run, c->run.now + c->publish_s);
    if (!c->run.drains)
        c->timers[WR_CLUSTER_GO] = c->run.now + c->publish_s;
    else if (c->run.blocked)
        try_save(c);
}

/* --- saves, as training sees them --- */

static void try_save(struct wr_cluster *c)
{
    if (wr_plan_course_waits(&c->run))
        return;
    switch (c->p->save.way) {
    case WR_PLAN_DIRECT:
        queue_writes(c);
        break;
    case WR_PLAN_BURST:
        c->timers[WR_CLUSTER_WRITTEN] = c->run.now + c->fast_s;
        break;
    case WR_PLAN_ASYNC:
        c->timers[WR_CLUSTER_GO] = c->run.now + c->copy_s;
        break;
    case WR_PLAN_NO_SAVES:
        break;
    }
}

static void cluster_save(struct wr_cluster *c)
{
    if (!wr_plan_course_save(&c->run))
        return;
    c->run.saves[c->run.save_count - 1].left = c->writer_count;
    try_save(c);
}

/* Its stall is over. */
static void cluster_saved(struct wr_cluster *c)
{
    double begun = c->run.saves[c->run.save_count - 1].begun;

    c->run.part[WR_PLAN_FOR_SAVES] += (c->run.now - begun) * c->node_count;
    if (c->p->save.way == WR_PLAN_ASYNC)
        c->timers[WR_CLUSTER_WRITTEN] = c->run.now + c->fast_s;
    cluster_go_on(c);
}

static void cluster_written(struct wr_cluster *c)
{
    c->run.written++;
    queue_writes(c);
    if (c->p->save.way == WR_PLAN_BURST)
        cluster_saved(c);
    else if (c->run.blocked)
        try_save(c);
}

static bool cluster_is_saving(const struct wr_cluster *c)
{
    return c->run.drained < c->run.save_count;
}

/* --- saves: the rates --- */

static double seconds_of(double bytes, double bytes_per_s)
{
    return bytes_per_s > 0 ? bytes / bytes_per_s : 0;
}

static double publish_s(const struct wr_device_profile *d)
{
    return (d->write_latency_us + PUBLISH_METAS * d->meta_latency_us +
            PUBLISH_SYNCS * d->sync_latency_us) /
           1e6;
}

static void set_limits(struct wr_cluster *c, struct wr_plan_flows *w)
{
    const struct wr_plan_save *v = &c->p->save;
    double client = c->p->storage.client_bytes_per_s;
    double rate = v->on_input ? c->p->storage.profile.write_bytes_per_s
                              : v->slow.write_bytes_per_s;

    if (rate > 0)
        w->full = rate;
    if (v->on_input && client > 0)
        w->alone = client;
    if (c->run.drains && v->fast.read_bytes_per_s > 0)
        w->alone = WR_MIN(w->alone, v->fast.read_bytes_per_s);
}

/* Nodes that write alike to the same device are one writer. */
static bool cluster_save_init(struct wr_cluster *c)
{
    const struct wr_plan_save *v = &c->p->save;
    bool own = v->on_input && !c->p->storage.shared;

    if (v->way == WR_PLAN_NO_SAVES)
        return true;
    c->run.drains = v->way != WR_PLAN_DIRECT;
    c->writer_count = own ? c->node_count : 1;
    c->writers = calloc(c->writer_count, sizeof(*c->writers));
    if (!c->writers)
        return false;
    for (uint32_t k = 0; k < c->writer_count; k++) {
        struct wr_plan_flows *w;

        c->writers[k].device = v->on_input ? k : c->inputs;
        w = &c->devices[c->writers[k].device].kinds[WR_PLAN_FLUID_WRITES];
        set_limits(c, w);
        w->weight = own ? 1 : c->p->nodes;
    }
    c->write_bytes = v->bytes / c->p->nodes;
    c->copy_s = seconds_of(c->write_bytes, v->copy_bytes_per_s);
    c->fast_s = seconds_of(c->write_bytes, v->fast.write_bytes_per_s) +
                publish_s(&v->fast);
    c->publish_s = publish_s(v->on_input ? &c->p->storage.profile : &v->slow);
    return true;
}

static struct wr_cluster_read *read_of(struct wr_cluster *c, uint32_t node,
                                       uint64_t step)
{
    return &c->reads[node * c->ahead + step % c->ahead];
}

/* --- reading ---
 *
 * What a node may begin depends on steps that are over, on all nodes at the same
 * time. So nodes differ only in what they read and decode. */

/* Steps whose reads may be begun now. */
static uint64_t open_steps(const struct wr_cluster *c)
{
    uint64_t n = c->run.step + c->ahead;

    if (c->run.now < c->begun_from_s || c->run.over)
        return c->run.step;
    if (!c->p->loader.prefetch)
        n = c->run.step + c->in_step;
    if (c->p->loader.apart)
        n = WR_MIN(n,
                   (c->run.step / c->run.epoch_steps + 1) * c->run.epoch_steps);
    return WR_MIN(n, c->total);
}

static void start_read(struct wr_cluster *c, uint32_t node)
{
    struct wr_cluster_node *n = &c->nodes[node];
    uint32_t device = c->inputs > 1 ? node : 0;

    n->reading = true;
    read_of(c, node, n->read)->begun_s = c->run.now;
    if (wr_cluster_is_cached(c, n->read))
        n->cache_s = WR_MAX(n->cache_s, c->run.now) + c->load.cache_s;
    c->run.failed |= !wr_plan_fluid_add(
        &c->devices[device], WR_PLAN_FLUID_READS, c->run.now,
        wr_cluster_read_work(c, node, n->read), node);
    cluster_changed(c, device);
}

/* Reads that may begin do. */
static void cluster_open(struct wr_cluster *c)
{
    uint64_t open = open_steps(c);

    for (uint32_t k = 0; k < c->node_count; k++) {
        if (!c->nodes[k].reading && c->nodes[k].read < open) {
            start_read(c, k);
            if (wr_cluster_worked(c, 1))
                return;
        }
    }
}

/* --- a node's step --- */

/* When the current step of a node is decoded. The cores work on it while it is
 * read, once it has a buffer. */
static double decode(struct wr_cluster *c, uint32_t node, bool *ret_lacks_cores)
{
    struct wr_cluster_node *n = &c->nodes[node];
    const struct wr_cluster_read *r = read_of(c, node, c->run.step);
    double start = WR_MIN(r->begun_s + c->load.first_s, r->done_s);
    double by_cores, by_reads;

    start = WR_MAX(start, n->decoded_s);
    start = WR_MAX(start, c->met_s[c->run.step % c->buffers]);
    by_cores = start + wr_cluster_core_work(c, node, c->run.step);
    by_reads = r->done_s + c->load.decode_tail_s +
               c->p->loader.batch_cpu_s.mean;
    *ret_lacks_cores = by_cores > by_reads;
    n->decoded_s = WR_MAX(by_cores, by_reads);
    return n->decoded_s;
}

/* Whom a node waits for, until its batches are there. */
static void note_wait(struct wr_cluster *c, double wait, bool lacks_cores)
{
    double cores = wait;

    if (!lacks_cores) {
        cores = wait * c->load.core_part;
        /* With batches ahead, decoding the last sample holds up nothing. */
        if (!c->p->loader.prefetch)
            cores = WR_MAX(cores,
                           WR_MIN(wait, c->load.decode_tail_s +
                                            c->p->loader.batch_cpu_s.mean));
    }
    c->run.part[WR_PLAN_FOR_CORES] += cores;
    c->run.part[WR_PLAN_FOR_STORAGE] += wait - cores;
    c->step_part_s += wait;
}

/* The bytes of a node's current step are there: so its end is known. */
static void compute(struct wr_cluster *c, uint32_t node)
{
    bool lacks_cores;
    double ready = decode(c, node, &lacks_cores), max, mean;
    double from = WR_MAX(ready, c->run.step_at);

    if (!c->run.step)
        c->run.result->first_batch_s = WR_MAX(c->run.result->first_batch_s,
                                              ready);
    note_wait(c, from - c->run.step_at, lacks_cores);
    wr_cluster_compute(c, node, &max, &mean);
    c->run.part[WR_PLAN_COMPUTES] += mean;
    c->step_part_s += mean;
    c->latest_s = WR_MAX(c->latest_s, from + max);
    if (--c->waiting == 0) {
        c->timers[WR_CLUSTER_MET] = c->latest_s +
                                    (wr_plan_course_evaluates(&c->run)
                                         ? 0
                                         : c->p->compute.reduce_s);
    }
}

static void cluster_read_done(struct wr_cluster *c, uint32_t node)
{
    struct wr_cluster_node *n = &c->nodes[node];
    uint64_t step = n->read++;

    read_of(c, node, step)->done_s = wr_cluster_is_cached(c, step)
                                         ? WR_MAX(c->run.now, n->cache_s)
                                         : c->run.now;
    n->reading = false;
    if (step == c->run.step && c->in_step)
        compute(c, node);
    if (n->read < open_steps(c))
        start_read(c, node);
}

/* --- a step of all nodes --- */

static void cluster_begin_step(struct wr_cluster *c)
{
    c->in_step = true;
    c->run.step_at = c->latest_s = c->run.now;
    c->waiting = c->node_count;
    c->step_part_s = 0;
    if (!c->p->loader.prefetch)
        cluster_open(c);
    for (uint32_t k = 0; k < c->node_count; k++) {
        if (c->nodes[k].read > c->run.step)
            compute(c, k);
        if (wr_cluster_worked(c, 1))
            return;
    }
}

static void finish_run(struct wr_cluster *c)
{
    for (uint32_t k = 0; k < c->device_count; k++) {
        wr_plan_fluid_advance(&c->devices[k], c->run.now);
        if (k < c->inputs)
            c->run.result->storage_busy +=
                WR_MAX(c->devices[k].busy_s,
                       c->devices[k].kinds[WR_PLAN_FLUID_READS].done /
                           c->load.most) /
                c->inputs;
        wr_plan_fluid_stop(&c->devices[k], WR_PLAN_FLUID_READS);
        cluster_changed(c, k);
    }
}

/* A step is over, and its save. */
static void cluster_go_on(struct wr_cluster *c)
{
    bool epoch_over;

    if (!wr_plan_course_go_on(&c->run, &epoch_over)) {
        finish_run(c);
        return;
    }
    if (epoch_over && c->p->loader.apart) {
        c->begun_from_s = c->run.now + c->p->loader.start_s;
        c->timers[WR_CLUSTER_STARTED] = c->begun_from_s;
    }
    cluster_begin_step(c);
}

static void cluster_met(struct wr_cluster *c)
{
    bool saves;

    c->met_s[c->run.step % c->buffers] = c->run.now;
    c->run.part[WR_PLAN_FOR_OTHERS] += (c->run.now - c->run.step_at) *
                                           c->node_count -
                                       c->step_part_s;
    saves = wr_plan_course_met(&c->run);
    c->in_step = false;
    if (c->p->loader.apart && c->run.step % c->run.epoch_steps == 0)
        c->begun_from_s = INFINITY;
    if (c->p->loader.prefetch)
        cluster_open(c);
    if (saves)
        cluster_save(c);
    else
        cluster_go_on(c);
}

#define LOOK_EVERY 8192 /* of work between two looks at `stopped` */
#define MOST_READS (UINT64_C(1) << 24) /* steps ahead, of all nodes */

/* --- events --- */

/* The device has another flow, or one less. */
static void cluster_changed(struct wr_cluster *c, uint32_t device)
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
    cluster_changed(c, device);
    if (kind == WR_PLAN_FLUID_READS)
        cluster_read_done(c, id);
    else
        cluster_write_done(c, id);
}

static void timer_ends(struct wr_cluster *c, enum wr_cluster_timer timer)
{
    c->timers[timer] = INFINITY;
    switch (timer) {
    case WR_CLUSTER_MET:
        cluster_met(c);
        break;
    case WR_CLUSTER_GO:
        cluster_saved(c);
        break;
    case WR_CLUSTER_WRITTEN:
        cluster_written(c);
        break;
    case WR_CLUSTER_STARTED:
        cluster_open(c);
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
    cluster_begin_step(c);
    cluster_open(c);
    while (!c->run.failed && !(c->run.over && !cluster_is_saving(c))) {
        if (wr_cluster_worked(c, 1))
            return wr_fail(err, WEIR_ECANCELED, "canceled");
        if (!advance(c))
            break;
    }
    if (c->run.failed)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (!c->run.over || cluster_is_saving(c)) /* rates next to nothing */
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
    return cluster_save_init(c);
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
