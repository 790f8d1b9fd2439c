/* node_feed.c - a node's workers: who reads and decodes what next.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "plan/node_private.h"

static uint64_t sim_epoch_batches(const struct wr_sim *s);

#define NS 1e9

/* The sample at this position of its epoch. */
static uint64_t sample_at(const struct wr_sim *s, uint64_t position)
{
    const struct wr_plan_data *d = &s->p->data;
    uint64_t per_epoch = sim_epoch_batches(s) * s->p->compute.batch;
    uint64_t epoch = position / per_epoch, k = position % per_epoch;

    if (d->sequential)
        return k % d->samples;
    return wr_rng_at(s->p->seed ^ epoch, WR_SIM_ORDER, k) % d->samples;
}

static bool is_cached(const struct wr_sim *s, uint64_t position,
                      uint64_t sample)
{
    uint64_t per_epoch = sim_epoch_batches(s) * s->p->compute.batch;
    double u = (double)(wr_rng_at(s->p->seed, WR_SIM_CACHED, sample) >> 11) *
               0x1.0p-53;

    return position >= per_epoch && u < s->p->cache.share;
}

/* The link of the node sends one answer after the other. */
static double through_client(struct wr_sim *s, double due, double bytes)
{
    double rate = s->p->storage.client_bytes_per_s;

    if (rate > 0) {
        due = WR_MAX(due, s->client_free_ns + bytes / rate * NS);
        s->client_free_ns = due;
    }
    return due;
}

static double varied(const struct wr_sim *s, double due, uint64_t k)
{
    struct wr_plan_draw d = {WR_PLAN_LOGNORMAL, 1, s->p->storage.vary};

    if (d.cv <= 0)
        return due;
    return s->run.now + (due - s->run.now) *
                            wr_plan_drawn(&d, s->p->seed, WR_SIM_REQUEST, k);
}

static double ask(struct wr_sim *s, const struct wr_device_request *rq)
{
    double due = (double)wr_device_submit(s->device, rq, (uint64_t)s->run.now);

    return through_client(s, varied(s, due, rq->object ^ rq->offset),
                          (double)rq->len);
}

/* Neighbours come with one request. */
static double ask_unit(struct wr_sim *s, struct wr_sim_worker *w,
                       uint64_t sample)
{
    const struct wr_plan_data *d = &s->p->data;
    uint64_t per = WR_MAX((uint64_t)((double)d->unit_bytes / d->bytes.mean),
                          (uint64_t)1);
    uint64_t unit = sample / per, place = unit;

    if (unit + 1 != w->unit) {
        if (d->shuffled_units)
            place = wr_mix64(unit ^ s->p->seed) % (d->samples / per + 1);
        w->unit = unit + 1;
        w->unit_ns = ask(
            s, &(struct wr_device_request){
                   .op = WR_DEVICE_READ,
                   .object = place * per / d->samples_per_object,
                   .offset = (uint64_t)((double)(place * per %
                                                 d->samples_per_object) *
                                        d->bytes.mean),
                   .len = (uint64_t)((double)per * d->bytes.mean)});
    }
    return WR_MAX(w->unit_ns, s->run.now);
}

static double ask_sample(struct wr_sim *s, const struct wr_sim_task *t,
                         uint64_t sample)
{
    const struct wr_plan_data *d = &s->p->data;
    bool alone = d->samples_per_object == 1;

    return ask(
        s, &(struct wr_device_request){
               .op = WR_DEVICE_READ,
               .object = sample / d->samples_per_object,
               .offset = (uint64_t)((double)(sample % d->samples_per_object) *
                                    d->bytes.mean),
               .len = (uint64_t)t->bytes,
               .opens = alone});
}

static double ask_cache(struct wr_sim *s, const struct wr_sim_task *t,
                        uint64_t sample)
{
    if (!s->cache)
        return s->run.now;
    return (double)wr_device_submit(
        s->cache,
        &(struct wr_device_request){
            .op = WR_DEVICE_READ, .object = sample, .len = (uint64_t)t->bytes},
        (uint64_t)s->run.now);
}

void wr_sim_opened(struct wr_sim *s, uint32_t task)
{
    const struct wr_sim_task *t = &s->tasks[task];
    const struct wr_plan_data *d = &s->p->data;
    bool together = s->p->loader.style == WR_PLAN_TOGETHER;
    uint32_t worker = together ? 0 : task / s->p->loader.depth;
    uint64_t sample = sample_at(s, t->sample);
    double due;

    if (d->sequential && d->unit_bytes && d->samples_per_object > 1)
        due = ask_unit(s, &s->workers[worker], sample);
    else
        due = ask_sample(s, t, sample);
    wr_sim_at(s, due, WR_SIM_READ, task);
}

/* Opens of all nodes go through one queue; this node has its part of it. */
static double open_turn(struct wr_sim *s)
{
    double each = NS * s->p->nodes / s->p->storage.opens_per_s;

    s->opens_free_ns = WR_MAX(s->opens_free_ns, s->run.now) + each;
    return s->opens_free_ns;
}

/* node_read.c: the bytes of a task are asked for now. */
static void sim_read(struct wr_sim *s, uint32_t task)
{
    struct wr_sim_task *t = &s->tasks[task];
    uint64_t sample = sample_at(s, t->sample);

    t->bytes = WR_MAX(
        wr_plan_drawn(&s->p->data.bytes, s->p->seed, WR_SIM_BYTES, sample), 1);
    t->decoded = false;
    s->reads++;
    if (s->p->cache.share > 0 && is_cached(s, t->sample, sample)) {
        t->decoded = s->p->cache.decoded;
        wr_sim_at(s, ask_cache(s, t, sample), WR_SIM_READ, task);
    } else if (s->p->storage.opens_per_s > 0 &&
               s->p->data.samples_per_object == 1) {
        wr_sim_at(s, open_turn(s), WR_SIM_OPENED, task);
    } else {
        wr_sim_opened(s, task);
    }
}

static bool together(const struct wr_sim *s)
{
    return s->p->loader.style == WR_PLAN_TOGETHER;
}

/* --- batches --- */

struct wr_sim_batch *wr_sim_batch(struct wr_sim *s, uint64_t seq)
{
    return &s->ring[seq % s->ring_count];
}

static uint64_t sim_epoch_batches(const struct wr_sim *s)
{
    return s->run.epoch_steps * s->p->compute.accelerators;
}

static bool may_begin(const struct wr_sim *s, uint64_t seq)
{
    const struct wr_plan_loader *l = &s->p->loader;

    if (seq >= s->total || seq >= s->released + s->objects)
        return false;
    if (s->run.now < s->epoch_from_ns)
        return false;
    if (l->apart &&
        seq / sim_epoch_batches(s) > s->run.step / s->run.epoch_steps)
        return false;
    if (!l->prefetch)
        return seq < s->wanted;
    return together(s) || seq < s->handed + (uint64_t)l->workers * l->prefetch;
}

static void begin(struct wr_sim *s, uint64_t seq)
{
    *wr_sim_batch(s, seq) = (struct wr_sim_batch){
        .seq = seq, .pending = s->p->compute.batch};
}

/* The next sample of a series of batches; false: none may be begun. */
static bool next_sample(struct wr_sim *s, uint64_t *batch, uint32_t *slot,
                        uint64_t stride, struct wr_sim_task *ret)
{
    if (*slot == 0) {
        if (!may_begin(s, *batch))
            return false;
        begin(s, *batch);
    }
    ret->batch = *batch;
    ret->sample = *batch * s->p->compute.batch + *slot;
    if (++*slot == s->p->compute.batch) {
        *slot = 0;
        *batch += stride;
    }
    return true;
}

static bool take_ticket(struct wr_sim *s, struct wr_sim_worker *w,
                        struct wr_sim_task *ret)
{
    return together(s) ? next_sample(s, &s->open_batch, &s->open_slot, 1, ret)
                       : next_sample(s, &w->next_batch, &w->next_slot,
                                     s->p->loader.workers, ret);
}

/* --- reading --- */

static bool has_tickets(const struct wr_sim *s)
{
    return !together(s) || s->open_slot || may_begin(s, s->open_batch);
}

static void fetch(struct wr_sim *s, uint32_t number)
{
    struct wr_sim_worker *w = &s->workers[number];

    while (w->spare_count) {
        uint32_t task = w->spare[w->spare_count - 1];

        if (!take_ticket(s, w, &s->tasks[task]))
            return;
        w->spare_count--;
        w->reads++;
        if (!w->busy)
            w->batch = s->tasks[task].batch;
        sim_read(s, task);
        wr_sim_life_worker(s, number);
    }
}

void wr_sim_arrived(struct wr_sim *s, uint32_t task)
{
    uint32_t number = task / s->p->loader.depth;
    struct wr_plan_heap *h = &s->arrived[together(s) ? 0 : number];

    s->reads--;
    s->workers[number].reads--;
    s->run.failed |= !wr_plan_heap_add(h, (double)s->tasks[task].sample, 0,
                                       task);
    wr_sim_life_worker(s, number);
}

/* --- decoding --- */

static void set_busy(struct wr_sim *s, uint32_t number, double seconds)
{
    struct wr_sim_worker *w = &s->workers[number];

    w->busy = true;
    s->idle--;
    s->run.failed |= !wr_plan_share_add(&s->cores, s->run.now, seconds * 1e9,
                                        number);
    wr_sim_life_worker(s, number);
}

static bool can_decode(const struct wr_sim *s, const struct wr_plan_heap *h)
{
    return h->count && s->tasks[h->at[0].id].batch < s->released + s->buffers;
}

static void decode(struct wr_sim *s, uint32_t number)
{
    struct wr_sim_worker *w = &s->workers[number];
    struct wr_plan_heap *h = &s->arrived[together(s) ? 0 : number];
    const struct wr_plan_loader *l = &s->p->loader;
    double seconds;

    if (!can_decode(s, h))
        return;
    w->task = wr_plan_heap_pop(h).id;
    w->batch = s->tasks[w->task].batch;
    w->collates = false;
    seconds = s->tasks[w->task].decoded
                  ? 0
                  : wr_plan_drawn(&l->cpu_s, s->p->seed, WR_SIM_CPU,
                                  s->tasks[w->task].sample);
    set_busy(s, number, seconds);
}

static void ready(struct wr_sim *s, uint64_t seq)
{
    struct wr_sim_batch *b = wr_sim_batch(s, seq);

    b->ready = true;
    b->ready_ns = s->run.now;
}

/* The task is decoded: its record is free, and maybe its batch complete. */
static bool finish(struct wr_sim *s, struct wr_sim_worker *w)
{
    struct wr_sim_worker *owner = &s->workers[w->task / s->p->loader.depth];

    owner->spare[owner->spare_count++] = w->task;
    return --wr_sim_batch(s, w->batch)->pending == 0;
}

void wr_sim_worked(struct wr_sim *s, uint32_t number)
{
    struct wr_sim_worker *w = &s->workers[number];
    double seconds;

    w->busy = false;
    s->idle++;
    if (w->collates) {
        w->collates = false;
        ready(s, w->batch);
    } else if (finish(s, w)) {
        seconds = wr_plan_drawn(&s->p->loader.batch_cpu_s, s->p->seed,
                                WR_SIM_COLLATE, w->batch);
        if (seconds > 0) {
            w->collates = true;
            set_busy(s, number, seconds);
            return;
        }
        ready(s, w->batch);
    }
    wr_sim_life_worker(s, number);
}

/* A worker that decodes asks for nothing meanwhile. */
void wr_sim_feed(struct wr_sim *s)
{
    for (uint32_t k = 0; k < s->p->loader.workers && s->idle; k++) {
        if (s->workers[k].busy)
            continue;
        if (has_tickets(s))
            fetch(s, k);
        decode(s, k);
        if (together(s) && !has_tickets(s) && !can_decode(s, s->arrived))
            return;
    }
}

bool wr_sim_lacks_cores(const struct wr_sim *s)
{
    const struct wr_plan_loader *l = &s->p->loader;
    uint32_t busy = l->workers - s->idle;

    if (!together(s)) /* the worker whose turn it is */
        return s->workers[s->handed % l->workers].busy;
    /* If nothing waits to be decoded, it is storage that is waited for. */
    return busy >= WR_MIN(l->workers, l->cores) && s->arrived[0].count;
}

/* --- beginning and end --- */

/* As many batches as weir's pipeline begins and has buffers for; each
 * accelerator holds one, and has `prefetch` ahead. */
static void count_batches(struct wr_sim *s)
{
    const struct wr_plan_loader *l = &s->p->loader;
    uint64_t each = l->prefetch + 1 + (l->prefetch && !l->in_place);
    uint64_t in_flight = (uint64_t)l->workers * l->depth;

    s->buffers = each * s->p->compute.accelerators;
    if (!together(s))
        s->buffers = (uint64_t)l->workers * WR_MAX(l->prefetch, 1u) +
                     s->p->compute.accelerators;
    s->objects = s->buffers;
    if (together(s) && l->prefetch && !l->in_place)
        s->objects += (in_flight + s->p->compute.batch - 1) /
                      s->p->compute.batch;
    s->ring_count = s->objects + s->p->compute.accelerators + 1;
}

static bool init_workers(struct wr_sim *s)
{
    const struct wr_plan_loader *l = &s->p->loader;
    size_t tasks = (size_t)l->workers * l->depth;

    s->workers = calloc(l->workers, sizeof(*s->workers));
    s->tasks = calloc(tasks, sizeof(*s->tasks));
    s->spare = calloc(tasks, sizeof(*s->spare));
    s->arrived = calloc(l->workers, sizeof(*s->arrived));
    if (!s->workers || !s->tasks || !s->spare || !s->arrived)
        return false;
    for (uint32_t k = 0; k < l->workers; k++) {
        struct wr_sim_worker *w = &s->workers[k];

        w->spare = &s->spare[(size_t)k * l->depth];
        w->spare_count = l->depth;
        w->next_batch = k;
        for (uint32_t i = 0; i < l->depth; i++)
            w->spare[i] = (k + 1) * l->depth - 1 - i;
    }
    s->idle = l->workers;
    return true;
}

bool wr_sim_feed_init(struct wr_sim *s)
{
    wr_plan_share_init(&s->cores, s->p->loader.cores, 1);
    s->total = sim_epoch_batches(s) * s->p->epochs;
    count_batches(s);
    s->ring = calloc(s->ring_count, sizeof(*s->ring));
    s->epoch_from_ns = s->p->loader.start_s * 1e9;
    if (s->epoch_from_ns > 0)
        wr_sim_at(s, s->epoch_from_ns, WR_SIM_STARTED, 0);
    return s->ring && init_workers(s);
}

void wr_sim_feed_done(struct wr_sim *s)
{
    for (uint32_t k = 0; s->arrived && k < s->p->loader.workers; k++)
        wr_plan_heap_done(&s->arrived[k]);
    wr_plan_share_done(&s->cores);
    free(s->workers);
    free(s->tasks);
    free(s->spare);
    free(s->arrived);
    free(s->ring);
}
