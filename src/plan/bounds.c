/* bounds.c - what each resource could do alone: the bottleneck in closed form.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/bounds.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

const char *wr_plan_resource_name(enum wr_plan_resource r)
{
    static const char *const names[] = {
        "accelerators", "bandwidth", "requests", "opens",
        "client",       "in flight", "cores"};

    return (unsigned)r < WR_ARRAY_LEN(names) ? names[r] : "";
}

/* --- the device --- */

/* Seconds of a request on its channel, the bus left out. */
static double wait_s(const struct wr_device_profile *d, bool opens,
                     bool sequential, double in_flight)
{
    double us = d->read_latency_us, depth = WR_MIN(in_flight, 1e9);

    if (opens)
        us += d->meta_latency_us;
    if (!sequential && d->seek_us > 0)
        us += d->seek_us * wr_device_law(d, (unsigned)WR_MAX(depth, 1));
    return us / 1e6;
}

static double bus_s(const struct wr_device_profile *d, double bytes)
{
    return d->read_bytes_per_s > 0 ? bytes / d->read_bytes_per_s : 0;
}

/* Requests on channels, the bandwidth left out. */
static double channel_rate(const struct wr_device_profile *d, double bytes,
                           bool opens, bool sequential, double in_flight)
{
    double each = wait_s(d, opens, sequential, in_flight) + bus_s(d, bytes);

    return d->channels && each > 0 ? d->channels / each : INFINITY;
}

double wr_plan_device_rate(const struct wr_device_profile *d, double bytes,
                           bool opens, bool sequential, double in_flight)
{
    double bus = bus_s(d, bytes);
    double each = wait_s(d, opens, sequential, in_flight) + bus;
    double rate = each > 0 ? in_flight / each : INFINITY;

    rate = WR_MIN(rate, channel_rate(d, bytes, opens, sequential, in_flight));
    return bus > 0 ? WR_MIN(rate, 1 / bus) : rate;
}

/* --- a plan's resources --- */

struct wr_plan_request wr_plan_request_of(const struct wr_plan *p)
{
    const struct wr_plan_data *d = &p->data;
    struct wr_plan_request q = {.samples = 1,
                                .opens = d->samples_per_object == 1};

    if (d->sequential && d->unit_bytes && !q.opens)
        q.samples = WR_MAX(floor((double)d->unit_bytes / d->bytes.mean), 1);
    q.sequential = d->sequential && !q.opens && !d->shuffled_units;
    q.bytes = q.samples * d->bytes.mean;
    return q;
}

/* What a node asks for. */
struct request {
    struct wr_plan_request each;
    double in_flight;
    double fresh; /* part of the samples that storage is asked for */
};

static struct request request_of(const struct wr_plan *p, bool cached)
{
    const struct wr_plan_loader *l = &p->loader;
    struct request q = {.each = wr_plan_request_of(p),
                        .in_flight = (double)l->workers * l->depth,
                        .fresh = cached ? 1 - p->cache.share : 1};

    if (!l->prefetch)
        q.in_flight = WR_MIN(q.in_flight, (double)p->compute.batch *
                                              p->compute.accelerators);
    return q;
}

/* A rate of samples of all nodes, of which only those not cached are limited. */
static double whole(double rate, const struct request *q)
{
    return q->fresh > 0 ? rate / q->fresh : INFINITY;
}

static double bandwidth_limit(const struct wr_plan *p, const struct request *q)
{
    const struct wr_plan_storage *s = &p->storage;
    double rate = s->profile.read_bytes_per_s / p->data.bytes.mean;

    return rate > 0 ? whole(rate * (s->shared ? 1 : p->nodes), q) : INFINITY;
}

static double request_limit(const struct wr_plan *p, const struct request *q)
{
    const struct wr_plan_storage *s = &p->storage;
    double all = q->in_flight / q->each.samples * (s->shared ? p->nodes : 1);
    double rate = channel_rate(&s->profile, q->each.bytes, q->each.opens,
                               q->each.sequential, WR_MAX(all, 1));

    return whole(rate * q->each.samples * (s->shared ? 1 : p->nodes), q);
}

/* A record is held from the request until the sample is decoded. */
static double in_flight_limit(const struct wr_plan *p, const struct request *q,
                              double cpu_s)
{
    double requests = WR_MAX(q->in_flight / q->each.samples, 1);
    double each = q->fresh * (wait_s(&p->storage.profile, q->each.opens,
                                     q->each.sequential, requests) +
                              bus_s(&p->storage.profile, q->each.bytes)) +
                  cpu_s;

    return each > 0 ? p->nodes * q->in_flight / each : INFINITY;
}

static double cpu_s(const struct wr_plan *p, bool cached)
{
    double part = cached && p->cache.decoded ? 1 - p->cache.share : 1;

    return p->loader.cpu_s.mean * part +
           p->loader.batch_cpu_s.mean / p->compute.batch;
}

static double cores_limit(const struct wr_plan *p, double cpu)
{
    double cores = WR_MIN(p->loader.workers, p->loader.cores);

    return cpu > 0 ? p->nodes * cores / cpu : INFINITY;
}

/* Of the slowest accelerator, on average. */
static double step_s(const struct wr_plan *p)
{
    return wr_plan_mean_max(&p->compute.step_s,
                            (double)p->nodes * p->compute.accelerators) +
           p->compute.reduce_s;
}

static int by_rate(const void *a, const void *b)
{
    double x = ((const struct wr_plan_limit *)a)->samples_per_s;
    double y = ((const struct wr_plan_limit *)b)->samples_per_s;

    return (x > y) - (x < y);
}

static double tightest_input(const struct wr_plan_bounds *b)
{
    double rate = INFINITY;

    for (unsigned k = 0; k < WR_PLAN_RESOURCES; k++)
        if (b->limits[k].resource != WR_PLAN_ACCELERATORS)
            rate = WR_MIN(rate, b->limits[k].samples_per_s);
    return rate;
}

static void say_needs(const struct wr_plan *p, const struct request *q,
                      double cpu, struct wr_plan_bounds *b)
{
    double per_step = (double)p->nodes * p->compute.accelerators *
                      p->compute.batch;
    double alone = step_s(p);

    b->need_samples_per_s = alone > 0 ? per_step / alone : INFINITY;
    b->need_bytes_per_s = b->need_samples_per_s * q->fresh * p->data.bytes.mean;
    b->need_opens_per_s = q->each.opens ? b->need_samples_per_s * q->fresh : 0;
    b->need_cores = cpu > 0 ? b->need_samples_per_s * cpu : 0;
}

void wr_plan_bounds(const struct wr_plan *p, bool cached,
                    struct wr_plan_bounds *ret)
{
    struct request q = request_of(p, cached);
    const struct wr_plan_storage *s = &p->storage;
    double cpu = cpu_s(p, cached), compute = step_s(p), input;
    double per_step = (double)p->nodes * p->compute.accelerators *
                      p->compute.batch;
    struct wr_plan_limit *l = ret->limits;

    for (unsigned k = 0; k < WR_PLAN_RESOURCES; k++)
        l[k] = (struct wr_plan_limit){(enum wr_plan_resource)k, INFINITY};
    if (compute > 0)
        l[WR_PLAN_ACCELERATORS].samples_per_s = per_step / compute;
    l[WR_PLAN_BANDWIDTH].samples_per_s = bandwidth_limit(p, &q);
    l[WR_PLAN_REQUESTS].samples_per_s = request_limit(p, &q);
    if (s->opens_per_s > 0 && q.each.opens)
        l[WR_PLAN_OPENS].samples_per_s = whole(s->opens_per_s, &q);
    if (s->client_bytes_per_s > 0)
        l[WR_PLAN_CLIENT].samples_per_s = whole(
            p->nodes * s->client_bytes_per_s / p->data.bytes.mean, &q);
    l[WR_PLAN_IN_FLIGHT].samples_per_s = in_flight_limit(p, &q, cpu);
    l[WR_PLAN_CORES].samples_per_s = cores_limit(p, cpu);
    input = tightest_input(ret);
    ret->load_s = isinf(input) ? 0 : per_step / input;
    ret->step_s = p->loader.prefetch ? WR_MAX(compute, ret->load_s)
                                     : compute + ret->load_s;
    ret->samples_per_s = ret->step_s > 0 ? per_step / ret->step_s : INFINITY;
    ret->utilization = ret->step_s > 0 ? p->compute.step_s.mean / ret->step_s
                                       : 1;
    say_needs(p, &q, cpu, ret);
    qsort(l, WR_PLAN_RESOURCES, sizeof(*l), by_rate);
}
