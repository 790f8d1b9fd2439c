/* node.c - one node, sample by sample, in virtual time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "plan/node_private.h"

static void sim_save(struct wr_sim *s);

#define NS 1e9

#define SPANS_MAX 50000

/* --- the life of the first batches ---
 *
 * A lane does one thing at a time: a worker decodes, else it waits for reads of
 * its own, else for something to do. The queue shows the batch that is next. */

static bool is_kept(const struct wr_sim *s)
{
    return s->how->life && s->handed <= s->how->life &&
           s->run.result->span_count < SPANS_MAX;
}

static bool sim_life_init(struct wr_sim *s)
{
    s->lanes = s->p->loader.workers + 1 + s->p->compute.accelerators;
    if (!s->how->life)
        return true;
    s->open_spans = calloc(s->lanes, sizeof(*s->open_spans));
    for (uint32_t k = 0; s->open_spans && k < s->lanes; k++)
        s->open_spans[k] = (struct wr_plan_span){.lane = k,
                                                 .kind = WR_PLAN_SPAN_WAIT};
    return s->open_spans;
}

static void keep(struct wr_sim *s, const struct wr_plan_span *span)
{
    struct wr_plan_result *r = s->run.result;

    if (span->to_s <= span->from_s)
        return;
    if (wr_grow(&r->spans, &s->span_cap, r->span_count + 1, sizeof(*r->spans)))
        r->spans[r->span_count++] = *span;
    else
        s->run.failed = true;
}

static void close_span(struct wr_sim *s, uint32_t lane)
{
    s->open_spans[lane].to_s = s->run.now / 1e9;
    keep(s, &s->open_spans[lane]);
}

/* The queue's stretches are whole when they are noted. */
static void close_all(struct wr_sim *s)
{
    for (uint32_t k = 0; s->open_spans && k < s->lanes; k++)
        if (k != s->p->loader.workers)
            close_span(s, k);
}

static void sim_life(struct wr_sim *s, uint32_t lane,
                     enum wr_plan_span_kind kind, uint64_t batch)
{
    struct wr_plan_span *o;

    if (!is_kept(s))
        return;
    o = &s->open_spans[lane];
    if (o->kind == kind && o->batch == (uint32_t)batch)
        return;
    close_span(s, lane);
    *o = (struct wr_plan_span){.from_s = s->run.now / 1e9,
                               .lane = lane,
                               .batch = (uint32_t)batch,
                               .kind = kind};
}

void wr_sim_life_worker(struct wr_sim *s, uint32_t number)
{
    const struct wr_sim_worker *w = &s->workers[number];

    sim_life(s, number,
             w->busy    ? WR_PLAN_SPAN_DECODE
             : w->reads ? WR_PLAN_SPAN_READ
                        : WR_PLAN_SPAN_WAIT,
             w->batch);
}

/* Batch `seq` leaves the queue now. */
static void sim_life_queue(struct wr_sim *s, uint64_t seq)
{
    const struct wr_sim_batch *b = wr_sim_batch(s, seq);
    struct wr_plan_span span = {.from_s = WR_MAX(b->ready_ns, s->queue_ns) /
                                          1e9,
                                .to_s = s->run.now / 1e9,
                                .lane = s->p->loader.workers,
                                .batch = (uint32_t)seq,
                                .kind = WR_PLAN_SPAN_QUEUED};

    if (is_kept(s))
        keep(s, &span);
    s->queue_ns = s->run.now;
    if (s->handed == (uint64_t)s->how->life + 1)
        close_all(s); /* the end of what is kept */
}

static void sim_life_done(struct wr_sim *s)
{
    if (is_kept(s))
        close_all(s);
    free(s->open_spans);
}

static bool sim_compute_init(struct wr_sim *s)
{
    s->accel = calloc(s->p->compute.accelerators, 1);
    s->doing[WR_SIM_WAITS] = s->p->compute.accelerators;
    return s->accel;
}

static void sim_doing(struct wr_sim *s, uint32_t g, enum wr_sim_doing doing)
{
    static const enum wr_plan_span_kind kinds[] = {
        WR_PLAN_SPAN_WAIT, WR_PLAN_SPAN_COMPUTE, WR_PLAN_SPAN_WAIT,
        WR_PLAN_SPAN_SAVE};

    s->doing[s->accel[g]]--;
    s->accel[g] = (uint8_t)doing;
    s->doing[doing]++;
    sim_life(s, s->p->loader.workers + 1 + g, kinds[doing],
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

/* Takes batches that are there. */
static void sim_compute(struct wr_sim *s)
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
        sim_life_queue(s, seq);
        sim_doing(s, g, WR_SIM_COMPUTES);
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

static void sim_begin_step(struct wr_sim *s)
{
    double turn = turn_ns(s);

    if (turn > 0) {
        s->hand_ns = s->run.now + turn;
        wr_sim_at(s, s->hand_ns, WR_SIM_STARTED, 0);
    }
    for (uint32_t g = 0; g < s->p->compute.accelerators; g++)
        sim_doing(s, g, WR_SIM_WAITS);
    s->met = 0;
    s->wanted += s->p->compute.accelerators;
    s->run.step_at = s->run.now;
}

/* --- the end of a step --- */

/* A step is over, and its save. */
static void sim_go_on(struct wr_sim *s)
{
    bool epoch_over, more = wr_plan_course_go_on(&s->run, &epoch_over);

    if (epoch_over && s->p->loader.apart && s->p->loader.start_s > 0) {
        s->epoch_from_ns = s->run.now + s->p->loader.start_s * NS;
        wr_sim_at(s, s->epoch_from_ns, WR_SIM_STARTED, 0);
    }
    if (more)
        sim_begin_step(s);
}

/* Everybody has met. */
static void sim_reduced(struct wr_sim *s)
{
    if (wr_plan_course_met(&s->run))
        sim_save(s);
    else
        sim_go_on(s);
}

static void sim_step_done(struct wr_sim *s, uint32_t g)
{
    s->released++;
    sim_doing(s, g, WR_SIM_MEETS);
    if (++s->met < s->p->compute.accelerators)
        return;
    if (s->p->compute.reduce_s > 0 && !wr_plan_course_evaluates(&s->run))
        wr_sim_at(s, s->run.now + s->p->compute.reduce_s * NS, WR_SIM_REDUCED,
                  0);
    else
        sim_reduced(s);
}

#define CHUNK  4194304.0
#define WINDOW 16

/* What a save asks of its tier besides the bytes, one after the other: files and
 * folders looked up, made and renamed ('m'), small ones read ('r') and written
 * ('w'), syncs ('s'). Counted with strace on weir's own (src/tier). */
static const char acts[] = "mmmmmmmmmmrmmmmmmmmmmr"
                           "mmmsmmmwsmmmsmmmwsmmmsmmmsmmms";
#define SMALL 4096

static double bytes_of(const struct wr_sim *s)
{
    return s->p->save.bytes / s->p->nodes;
}

/* --- saves: movers ---
 *
 * A save is written in chunks, several in flight, and then published, as
 * src/tier does it. The drain reads the fast tier and writes the slow one. A
 * copy in memory is made only while no other is being written. */

static double submit(const struct wr_sim *s, struct wr_device *d,
                     enum wr_device_op op, double offset, double len,
                     uint64_t save)
{
    return (double)wr_device_submit(
        d,
        &(struct wr_device_request){.op = op,
                                    .object = UINT64_MAX - save,
                                    .offset = (uint64_t)offset,
                                    .len = (uint64_t)len},
        (uint64_t)s->run.now);
}

/* A chunk is there once it was read and written; both go on at once. */
static void ask_chunk(struct wr_sim *s, uint32_t k)
{
    struct wr_sim_mover *m = &s->movers[k];
    double len = WR_MIN(CHUNK, bytes_of(s) - m->asked), due, read;

    due = submit(s, m->to, WR_DEVICE_WRITE, m->asked, len, m->next);
    if (m->from) {
        read = submit(s, m->from, WR_DEVICE_READ, m->asked, len, m->next);
        due = WR_MAX(due, read);
    }
    m->asked += len;
    m->pending++;
    wr_sim_at(s, due, WR_SIM_MOVED, k);
}

static void start_mover(struct wr_sim *s, uint32_t k)
{
    struct wr_sim_mover *m = &s->movers[k];
    uint64_t ready = s->save_ready;

    if (k == WR_SIM_DRAINER) /* what the writer has published */
        ready = s->movers[WR_SIM_WRITER].next;
    if (!m->to || m->busy || m->next >= ready)
        return;
    m->busy = true;
    m->asked = 0;
    m->acts = 0;
    while (m->pending < WINDOW && m->asked < bytes_of(s))
        ask_chunk(s, k);
}

static void end_stall(struct wr_sim *s)
{
    if (s->doing[WR_SIM_SAVES])
        sim_go_on(s);
}

static void begin_copy(struct wr_sim *s);

/* The save is published on the mover's tier. */
static void published(struct wr_sim *s, uint32_t k)
{
    struct wr_sim_mover *m = &s->movers[k];
    bool last = k == WR_SIM_DRAINER || !s->run.drains;

    m->busy = false;
    m->next++;
    s->run.written += k == WR_SIM_WRITER;
    if (last)
        wr_plan_course_durable(&s->run, s->run.now);
    if (s->run.blocked)
        begin_copy(s);
    else if (k == WR_SIM_WRITER && s->p->save.way != WR_PLAN_ASYNC)
        end_stall(s);
    for (uint32_t i = 0; i < WR_SIM_MOVERS; i++)
        start_mover(s, i);
}

/* The next act of publishing, on a file of its own. */
static void act(struct wr_sim *s, uint32_t k)
{
    struct wr_sim_mover *m = &s->movers[k];
    const char kind = acts[m->acts++];
    enum wr_device_op op = kind == 'm'   ? WR_DEVICE_META
                           : kind == 'r' ? WR_DEVICE_READ
                           : kind == 'w' ? WR_DEVICE_WRITE
                                         : WR_DEVICE_SYNC;

    wr_sim_at(s, submit(s, m->to, op, 0, SMALL, UINT64_MAX / 2 + m->acts),
              WR_SIM_MOVED, k);
}

static void sim_moved(struct wr_sim *s, uint32_t k)
{
    struct wr_sim_mover *m = &s->movers[k];

    if (m->pending) {
        m->pending--;
        if (m->asked < bytes_of(s))
            ask_chunk(s, k);
        if (m->pending)
            return;
    }
    if (acts[m->acts])
        act(s, k);
    else
        published(s, k);
}

/* --- saves, as training sees them --- */

/* What the saver does before a byte is written: a copy, or forms of its own. */
static void begin_copy(struct wr_sim *s)
{
    const struct wr_plan_save *v = &s->p->save;
    double seconds = v->own_s;

    if (wr_plan_course_waits(&s->run))
        return;
    if (v->way == WR_PLAN_ASYNC && v->copy_bytes_per_s > 0)
        seconds += bytes_of(s) / v->copy_bytes_per_s;
    wr_sim_at(s, s->run.now + seconds * NS, WR_SIM_COPIED, 0);
}

/* Training stands still from now on. */
static void sim_save(struct wr_sim *s)
{
    for (uint32_t g = 0; g < s->p->compute.accelerators; g++)
        sim_doing(s, g, WR_SIM_SAVES);
    if (wr_plan_course_save(&s->run))
        begin_copy(s);
}

static void sim_copied(struct wr_sim *s)
{
    s->save_ready++;
    start_mover(s, WR_SIM_WRITER);
    if (s->p->save.way == WR_PLAN_ASYNC)
        end_stall(s);
}

/* --- saves: the tiers --- */

static int device_of(const struct wr_device_profile *p, struct wr_device **ret,
                     weir_err *err)
{
    return wr_device_new(p, ret, err);
}

static int sim_save_init(struct wr_sim *s, weir_err *err)
{
    const struct wr_plan_save *v = &s->p->save;
    struct wr_sim_mover *m = s->movers;
    int r = 0;

    if (v->way == WR_PLAN_NO_SAVES)
        return 0;
    if (v->on_input)
        s->slow = s->device;
    else
        r = device_of(&v->slow, &s->slow, err);
    if (r == 0 && v->way != WR_PLAN_DIRECT)
        r = device_of(&v->fast, &s->fast, err);
    m[WR_SIM_WRITER].to = s->fast ? s->fast : s->slow;
    if (s->fast) {
        m[WR_SIM_DRAINER].from = s->fast;
        m[WR_SIM_DRAINER].to = s->slow;
        s->run.drains = true;
    }
    return r;
}

static void sim_save_done(struct wr_sim *s)
{
    if (s->slow != s->device)
        wr_device_free(s->slow);
    wr_device_free(s->fast);
}

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
        sim_step_done(s, e->id);
        break;
    case WR_SIM_REDUCED:
        sim_reduced(s);
        break;
    case WR_SIM_STARTED: /* who waits for it looks at the time */
        break;
    case WR_SIM_COPIED:
        sim_copied(s);
        break;
    case WR_SIM_MOVED:
        sim_moved(s, e->id);
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
        sim_compute(s);
        wr_sim_feed(s);
        sim_compute(s); /* what took no time */
    }
    return true;
}

/* Until the run is over; saves on their way then are waited for, too. */
static int run(struct wr_sim *s, weir_err *err)
{
    uint64_t events = 0;

    sim_begin_step(s);
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
        r = sim_save_init(s, err);
    if (r == 0 &&
        !(wr_sim_feed_init(s) && sim_compute_init(s) && sim_life_init(s)))
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    return r;
}

static void done(struct wr_sim *s)
{
    sim_life_done(s);
    wr_sim_feed_done(s);
    sim_save_done(s);
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
