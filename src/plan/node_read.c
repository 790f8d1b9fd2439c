/* node_read.c - a node's reads: where a sample lies, and when it is there.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "plan/node_private.h"

#define NS 1e9

/* The sample at this position of its epoch. */
static uint64_t sample_at(const struct wr_sim *s, uint64_t position)
{
    const struct wr_plan_data *d = &s->p->data;
    uint64_t per_epoch = wr_sim_epoch_batches(s) * s->p->compute.batch;
    uint64_t epoch = position / per_epoch, k = position % per_epoch;

    if (d->sequential)
        return k % d->samples;
    return wr_rng_at(s->p->seed ^ epoch, WR_SIM_ORDER, k) % d->samples;
}

static bool is_cached(const struct wr_sim *s, uint64_t position,
                      uint64_t sample)
{
    uint64_t per_epoch = wr_sim_epoch_batches(s) * s->p->compute.batch;
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

void wr_sim_read(struct wr_sim *s, uint32_t task)
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
