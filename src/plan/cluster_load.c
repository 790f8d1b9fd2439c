/* cluster_load.c - what a node's step asks for, drawn or fixed.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/mem.h"
#include "plan/bounds.h"
#include "plan/cluster_private.h"

/* Streams of random numbers. */
enum { BYTES = 101, VARY, CPU, COLLATE, COMPUTE };

static bool is_fixed(const struct wr_plan_draw *d)
{
    return d->law == WR_PLAN_FIXED || d->mean <= 0 ||
           (d->law == WR_PLAN_LOGNORMAL && d->cv <= 0);
}

/* --- rates --- */

/* What a request of this plan is, and how many a node has in flight. */
struct asked {
    struct wr_plan_request each;
    double records; /* samples in flight */
    double requests;
};

static struct asked asked_of(const struct wr_plan *p, uint64_t ahead)
{
    const struct wr_plan_loader *l = &p->loader;
    double step = (double)p->compute.batch * p->compute.accelerators;
    struct asked q = {.each = wr_plan_request_of(p)};

    q.records = WR_MIN((double)l->workers * l->depth, step * (double)ahead);
    q.requests = WR_MAX(q.records / q.each.samples, 1);
    return q;
}

static double device_rate(const struct wr_device_profile *d,
                          const struct asked *q, double requests)
{
    return q->each.samples * wr_plan_device_rate(d, q->each.bytes,
                                                 q->each.opens,
                                                 q->each.sequential, requests);
}

/* Seconds of a request without any other in its way. */
static double request_s(const struct wr_device_profile *d,
                        const struct asked *q)
{
    struct wr_device_profile bare = *d;
    double bus = d->read_bytes_per_s > 0 ? q->each.bytes / d->read_bytes_per_s
                                         : 0;

    bare.channels = 0;
    bare.read_bytes_per_s = 0;
    return q->requests * q->each.samples / device_rate(&bare, q, q->requests) +
           bus;
}

static void set_rates(const struct wr_plan *p, const struct asked *q,
                      struct wr_cluster_load *ret)
{
    const struct wr_plan_storage *s = &p->storage;
    const struct wr_device_profile *d = &s->profile;
    double held = request_s(d, q) + p->loader.cpu_s.mean, by_records;

    ret->alone = device_rate(d, q, q->requests);
    if (s->client_bytes_per_s > 0)
        ret->alone = WR_MIN(ret->alone,
                            s->client_bytes_per_s / p->data.bytes.mean);
    by_records = held > 0 ? q->records / held : INFINITY;
    if (by_records < ret->alone) {
        ret->alone = by_records;
        ret->core_part = p->loader.cpu_s.mean / held;
        ret->decode_tail_s = 0; /* it is in the rate */
    }
    ret->full = d->read_bytes_per_s > 0
                    ? d->read_bytes_per_s / p->data.bytes.mean
                    : INFINITY;
    ret->most = device_rate(d, q, q->requests * (s->shared ? p->nodes : 1));
    if (s->opens_per_s > 0 && q->each.opens)
        ret->most = WR_MIN(ret->most,
                           s->opens_per_s / (s->shared ? 1 : p->nodes));
}

void wr_cluster_load(const struct wr_plan *p, uint64_t ahead,
                     struct wr_cluster_load *ret)
{
    const struct wr_plan_loader *l = &p->loader;
    double cores = WR_MIN(l->workers, l->cores);
    struct asked q = asked_of(p, ahead);

    *ret = (struct wr_cluster_load){
        .samples = (double)p->compute.batch * p->compute.accelerators,
        .first_s = request_s(&p->storage.profile, &q),
        .collate_s = l->batch_cpu_s.mean * p->compute.accelerators / cores,
        .decode_tail_s = l->cpu_s.mean,
        .cores_vary = !is_fixed(&l->cpu_s) || !is_fixed(&l->batch_cpu_s),
        .read_varies = !is_fixed(&p->data.bytes) || p->storage.vary > 0,
    };
    ret->cpu_s = ret->samples * l->cpu_s.mean / cores;
    if (*p->cache.profile.name)
        ret->cache_s = ret->samples * p->cache.share /
                       device_rate(&p->cache.profile, &q, q.requests);
    set_rates(p, &q, ret);
}

/* --- what a step takes --- */

bool wr_cluster_is_cached(const struct wr_cluster *c, uint64_t step)
{
    return step >= c->run.epoch_steps && c->p->cache.share > 0;
}

/* The sum of `n` draws over its mean. One of many is drawn from a lognormal law
 * with the mean and deviation that the sum has. */
static double sum_over_mean(const struct wr_plan_draw *d, double n,
                            const struct wr_cluster *c, uint64_t stream,
                            uint64_t k)
{
    struct wr_plan_draw sum = *d;

    if (is_fixed(d))
        return 1;
    sum.mean = 1;
    if (n > 1) {
        sum.law = WR_PLAN_LOGNORMAL;
        sum.cv = (d->law == WR_PLAN_EXPONENTIAL ? 1 : d->cv) / sqrt(n);
    }
    return wr_plan_drawn(&sum, c->p->seed, stream, k);
}

double wr_cluster_read_work(const struct wr_cluster *c, uint32_t node,
                            uint64_t step)
{
    const struct wr_plan_draw vary = {WR_PLAN_LOGNORMAL, 1, c->p->storage.vary};
    uint64_t k = step * c->node_count + node;
    double n = c->load.samples;

    if (wr_cluster_is_cached(c, step))
        n *= 1 - c->p->cache.share;
    if (!c->load.read_varies)
        return n;
    return n * sum_over_mean(&c->p->data.bytes, n, c, BYTES, k) *
           sum_over_mean(&vary, 1, c, VARY, k);
}

double wr_cluster_core_work(const struct wr_cluster *c, uint32_t node,
                            uint64_t step)
{
    const struct wr_plan_loader *l = &c->p->loader;
    uint64_t k = step * c->node_count + node;
    double part = 1;

    if (c->p->cache.decoded && wr_cluster_is_cached(c, step))
        part = 1 - c->p->cache.share;
    if (!c->load.cores_vary)
        return c->load.cpu_s * part + c->load.collate_s;
    return c->load.cpu_s * part *
               sum_over_mean(&l->cpu_s, c->load.samples * part, c, CPU, k) +
           c->load.collate_s * sum_over_mean(&l->batch_cpu_s,
                                             c->p->compute.accelerators, c,
                                             COLLATE, k);
}

/* --- accelerators --- */

static double below(double z)
{
    return erfc(-z * M_SQRT1_2) / 2;
}

/* The mean of those draws that are less than `most`. */
static double mean_below(const struct wr_plan_draw *d, double most)
{
    double s2, z, part;

    if (most <= 0)
        return 0;
    if (d->law == WR_PLAN_EXPONENTIAL)
        return d->mean - most / expm1(most / d->mean);
    s2 = log1p(d->cv * d->cv);
    z = (log(most / d->mean) + s2 / 2) / sqrt(s2);
    part = below(z);
    return part > 0 ? WR_MIN(d->mean * below(z - sqrt(s2)) / part, most) : most;
}

/* The slowest is drawn from its distribution; given it, the others are draws
 * that are less. */
static void compute_lumped(const struct wr_cluster *c, uint64_t k,
                           double *ret_max_s, double *ret_mean_s)
{
    const struct wr_plan_draw *d = &c->p->compute.step_s;
    double n = c->p->compute.accelerators * c->each;

    *ret_max_s = wr_plan_drawn_max(d, n, c->p->seed, COMPUTE, k);
    *ret_mean_s = (*ret_max_s + (n - 1) * mean_below(d, *ret_max_s)) / n;
}

static void compute_each(struct wr_cluster *c, uint64_t k, double *ret_max_s,
                         double *ret_mean_s)
{
    uint64_t n = c->p->compute.accelerators;
    double max = 0, sum = 0;

    for (uint64_t g = 0; g < n; g++) {
        double t = wr_plan_drawn(&c->p->compute.step_s, c->p->seed, COMPUTE,
                                 k * n + g);

        max = WR_MAX(max, t);
        sum += t;
    }
    wr_cluster_worked(c, n / 8);
    *ret_max_s = max;
    *ret_mean_s = sum / (double)n;
}

void wr_cluster_compute(struct wr_cluster *c, uint32_t node, double *ret_max_s,
                        double *ret_mean_s)
{
    const struct wr_plan *p = c->p;
    uint64_t k = c->run.step * c->node_count + node;
    bool eval = c->run.step % c->run.epoch_steps >=
                c->run.epoch_steps - p->eval_steps;

    if (eval || (is_fixed(&p->compute.step_s) && c->lump))
        *ret_max_s = *ret_mean_s = eval ? p->eval_s : p->compute.step_s.mean;
    else if (c->lump)
        compute_lumped(c, k, ret_max_s, ret_mean_s);
    else
        compute_each(c, k, ret_max_s, ret_mean_s);
}
