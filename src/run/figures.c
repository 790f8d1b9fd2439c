/* figures.c - the numbers that a result comes down to.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/figures.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

static double seconds_of(uint64_t ns)
{
    return (double)ns * 1e-9;
}

/* NaN where there is nothing to divide by. */
static double part(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

/* Sums over all accelerators, in seconds. */
struct totals {
    double wall, compute, wait, barrier, save, eval, first;
};

static void add(struct totals *t, const struct wr_run_times *x)
{
    t->wall = fmax(t->wall, seconds_of(x->wall));
    t->compute += seconds_of(x->compute);
    t->wait += seconds_of(x->wait);
    t->barrier += seconds_of(x->barrier);
    t->save += seconds_of(x->save);
    t->eval += seconds_of(x->eval);
}

/* The time of all accelerators in which they were to train. */
static double training(const struct totals *t, double world)
{
    return t->wall * world - t->save - t->eval;
}

static double utilization(const struct totals *t, double world)
{
    double time = training(t, world) - t->first;

    return t->compute > 0 ? part(t->compute, time) : NAN;
}

static struct wr_run_loss_values loss_of(const struct totals *t, double world)
{
    double all = t->wall * world;
    struct wr_run_loss_values l = {0};

    if (all <= 0)
        return l;
    l.compute = t->compute / all;
    l.read = t->wait / all;
    l.barrier = t->barrier / all;
    l.save = t->save / all;
    l.eval = t->eval / all;
    l.emulator = fmax(0, 1 - l.compute - l.read - l.barrier - l.save - l.eval);
    return l;
}

/* Means over the epochs, as DLIO prints them. */
static void mean_of_dlio(const struct wr_run_result *r,
                         struct wr_run_figures *ret)
{
    size_t n = r->rank_count * r->epoch_count;

    for (size_t k = 0; k < n; k++) {
        ret->au_dlio += r->epochs[k].au_dlio;
        ret->dlio_per_s += r->epochs[k].dlio_per_s;
    }
    ret->au_dlio = part(ret->au_dlio,
                        (double)r->epoch_count * (double)r->world);
    ret->dlio_per_s = part(ret->dlio_per_s, (double)r->epoch_count);
}

static double mean_resident(const struct wr_run_epoch *e, size_t n)
{
    double sum = 0;
    size_t known = 0;

    for (size_t k = 0; k < n; k++) {
        if (e[k].resident < 0)
            continue;
        sum += e[k].resident;
        known++;
    }
    return known ? sum / (double)known : -1;
}

static void add_rank(struct wr_run_figures *ret, struct totals *t,
                     const struct wr_run_rank *k)
{
    add(t, &k->t);
    t->first += seconds_of(k->first_wait_ns) * k->accelerators;
    ret->samples += k->samples;
    ret->bytes += k->bytes;
    ret->steps = WR_MAX(ret->steps, k->steps);
    ret->stalls += k->stalls;
    ret->cpu_s += k->cpu_s;
    ret->peak_bytes += k->peak_bytes;
    ret->load_s = fmax(ret->load_s, seconds_of(k->load_ns));
    ret->first_batch_ms = fmax(ret->first_batch_ms,
                               (double)k->first_wait_ns / 1e6);
    wr_meter_add(&ret->reads, &k->reads);
    wr_hist_merge(&ret->waits, &k->waits);
}

void wr_run_figures(const struct wr_run_result *r, struct wr_run_figures *ret)
{
    struct totals t = {0};
    double world = (double)r->world, trained;

    memset(ret, 0, sizeof(*ret));
    for (uint32_t k = 0; k < r->rank_count; k++)
        add_rank(ret, &t, &r->ranks[k]);
    trained = training(&t, world) / fmax(world, 1);
    ret->seconds = t.wall;
    ret->au = utilization(&t, world);
    ret->samples_per_s = part((double)ret->samples, trained);
    ret->bytes_per_s = part((double)ret->bytes, trained + ret->load_s);
    ret->loss = loss_of(&t, world);
    ret->resident = mean_resident(r->epochs, r->rank_count * r->epoch_count);
    mean_of_dlio(r, ret);
}

struct wr_run_epoch_values wr_run_epoch_of(const struct wr_run_result *r,
                                           uint64_t epoch)
{
    struct wr_run_epoch_values ret = {.epoch = (double)epoch + 1,
                                      .resident = NAN};
    struct totals t = {0};
    double world = fmax((double)r->world, 1), trained;

    for (uint32_t k = 0; k < r->rank_count; k++) {
        const struct wr_run_epoch *e = &r->epochs[k * r->epoch_count + epoch];

        add(&t, &e->t);
        ret.samples += (double)e->samples;
        ret.bytes += (double)e->bytes;
        ret.steps = (double)e->steps;
        ret.au_dlio += e->au_dlio / world;
        if (e->resident >= 0)
            ret.resident = fmax(ret.resident, e->resident);
        if (epoch == 0)
            t.first += seconds_of(r->ranks[k].first_wait_ns) *
                       r->ranks[k].accelerators;
    }
    trained = training(&t, world) / world;
    ret.seconds = t.wall;
    ret.au = utilization(&t, world);
    ret.samples_per_s = part(ret.samples, trained);
    ret.bytes_per_s = part(ret.bytes, trained);
    ret.wait_s = t.wait / world;
    ret.eval_s = t.eval / world;
    ret.save_s = t.save / world;
    return ret;
}
