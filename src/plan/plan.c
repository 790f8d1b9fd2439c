/* plan.c - the description: defaults, and what cannot be.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

void wr_plan_defaults(struct wr_plan *p)
{
    *p = (struct wr_plan){
        .data = {.samples_per_object = 1},
        .loader = {.workers = 1, .depth = 32, .prefetch = 1, .cores = 1},
        .compute = {.accelerators = 1, .batch = 64},
        .nodes = 1,
        .epochs = 1,
    };
}

/* --- what cannot be --- */

static int check_draw(const char *name, const struct wr_plan_draw *d,
                      double most, weir_err *err)
{
    if (!isfinite(d->mean) || d->mean < 0)
        return wr_fail(err, WEIR_EINVAL,
                       "%s: %g: a number that is not negative is needed", name,
                       d->mean);
    if (d->mean > most)
        return wr_fail(err, WEIR_EINVAL, "%s: %g: more than %g", name, d->mean,
                       most);
    if (!isfinite(d->cv) || d->cv < 0 || d->cv > 100)
        return wr_fail(err, WEIR_EINVAL,
                       "%s: a deviation of %g times the mean: 0 to 100 is "
                       "possible",
                       name, d->cv);
    return 0;
}

static int check_count(const char *name, uint64_t n, uint64_t least,
                       uint64_t most, weir_err *err)
{
    if (n < least)
        return wr_fail(err, WEIR_EINVAL,
                       "%s: %" PRIu64 ": at least %" PRIu64 " is needed", name,
                       n, least);
    if (n > most)
        return wr_fail(err, WEIR_EINVAL, "%s: %" PRIu64 ": more than %" PRIu64,
                       name, n, most);
    return 0;
}

static int check_number(const char *name, double x, double most, weir_err *err)
{
    if (!(x >= 0 && x <= most)) /* NaN too */
        return wr_fail(err, WEIR_EINVAL, "%s: %g: 0 to %g is possible", name, x,
                       most);
    return 0;
}

static int check_data(const struct wr_plan *p, weir_err *err)
{
    const struct wr_plan_data *d = &p->data;
    int r = check_draw("bytes per sample", &d->bytes, 1e15, err);

    if (r == 0 && d->bytes.mean < 1)
        r = wr_fail(err, WEIR_EINVAL,
                    "bytes per sample: %g: at least 1 is needed",
                    d->bytes.mean);
    if (r == 0)
        r = check_count("samples", d->samples, 1, UINT64_C(1) << 50, err);
    if (r == 0)
        r = check_count("samples per file", d->samples_per_object, 1,
                        UINT64_C(1) << 50, err);
    if (r == 0 && !wr_plan_steps(p))
        r = wr_fail(err, WEIR_EINVAL,
                    "%" PRIu64 " samples are less than a step takes: "
                    "%" PRIu64 " x %" PRIu32 " (accelerators x batch)",
                    d->samples, (uint64_t)p->nodes * p->compute.accelerators,
                    p->compute.batch);
    return r;
}

static int check_loader(const struct wr_plan *p, weir_err *err)
{
    const struct wr_plan_loader *l = &p->loader;
    int r = check_count("workers", l->workers, 1, WR_PLAN_MAX_WORKERS, err);

    if (r == 0)
        r = check_count("depth", l->depth, 1, 4096, err);
    if (r == 0)
        r = check_count("prefetch", l->prefetch, 0, 1 << 16, err);
    if (r == 0)
        r = check_count("cores", l->cores, 1, 1 << 16, err);
    if (r == 0)
        r = check_draw("CPU seconds per sample", &l->cpu_s, WR_PLAN_MAX_SECONDS,
                       err);
    if (r == 0)
        r = check_draw("CPU seconds per batch", &l->batch_cpu_s,
                       WR_PLAN_MAX_SECONDS, err);
    return r;
}

static int check_compute(const struct wr_plan *p, weir_err *err)
{
    const struct wr_plan_compute *c = &p->compute;
    int r = check_count("nodes", p->nodes, 1, WR_PLAN_MAX_NODES, err);

    if (r == 0)
        r = check_count("accelerators per node", c->accelerators, 1,
                        WR_PLAN_MAX_ACCELERATORS, err);
    if (r == 0)
        r = check_count("batch", c->batch, 1, WR_PLAN_MAX_BATCH, err);
    if (r == 0)
        r = check_draw("seconds per step", &c->step_s, WR_PLAN_MAX_SECONDS,
                       err);
    if (r == 0)
        r = check_number("seconds of the all-reduce", c->reduce_s,
                         WR_PLAN_MAX_SECONDS, err);
    if (r == 0)
        r = check_number("seconds of an evaluation step", p->eval_s,
                         WR_PLAN_MAX_SECONDS, err);
    if (r == 0)
        r = check_count("epochs", p->epochs, 1, 1 << 20, err);
    if (r == 0)
        r = check_count("evaluation steps", p->eval_steps, 0, WR_PLAN_MAX_STEPS,
                        err);
    return r;
}

static int check_storage(const struct wr_plan *p, weir_err *err)
{
    const struct wr_plan_storage *s = &p->storage;
    int r = check_number("bytes per second of a client", s->client_bytes_per_s,
                         WR_DEVICE_MAX_RATE, err);

    if (r == 0 && !*s->profile.name)
        r = wr_fail(err, WEIR_EINVAL, "storage: nothing is said of it");
    if (r == 0)
        r = check_number("opens per second", s->opens_per_s, 1e12, err);
    if (r == 0)
        r = check_number("variation of the storage", s->vary, 100, err);
    if (r == 0)
        r = check_number("share of the cache", p->cache.share, 1, err);
    return r;
}

static int check_save(const struct wr_plan *p, weir_err *err)
{
    const struct wr_plan_save *s = &p->save;
    int r = 0;

    if (s->way != WR_PLAN_NO_SAVES) {
        r = check_count("steps between saves", s->every, 1, WR_PLAN_MAX_STEPS,
                        err);
        if (r == 0)
            r = check_number("bytes of a save", s->bytes, 1e18, err);
        if (r == 0 && s->bytes < 1)
            r = wr_fail(err, WEIR_EINVAL,
                        "bytes of a save: at least 1 is needed");
        if (r == 0 && !*s->slow.name)
            r = wr_fail(err, WEIR_EINVAL,
                        "saves: nothing is said of the storage they go to");
        if (r == 0 && s->way != WR_PLAN_DIRECT && !*s->fast.name)
            r = wr_fail(err, WEIR_EINVAL,
                        "saves: nothing is said of the fast tier");
    }
    if (r == 0)
        r = check_number("bytes per second of a copy in memory",
                         s->copy_bytes_per_s, WR_DEVICE_MAX_RATE, err);
    if (r == 0)
        r = check_number("seconds of the saver itself", s->own_s,
                         WR_PLAN_MAX_SECONDS, err);
    if (r == 0)
        r = check_number("mean time between failures", p->failure.node_mtbf_s,
                         1e12, err);
    if (r == 0)
        r = check_number("seconds of a restart", p->failure.restart_s, 1e9,
                         err);
    return r;
}

int wr_plan_check(const struct wr_plan *p, weir_err *err)
{
    int r = check_compute(p, err);

    if (r == 0)
        r = check_loader(p, err);
    if (r == 0)
        r = check_data(p, err);
    if (r == 0)
        r = check_storage(p, err);
    if (r == 0)
        r = check_save(p, err);
    return r;
}

/* --- what follows --- */

uint64_t wr_plan_steps(const struct wr_plan *p)
{
    uint64_t per_step = (uint64_t)p->nodes * p->compute.accelerators *
                        p->compute.batch;
    uint64_t n = per_step ? p->data.samples / per_step : 0;

    return p->max_steps ? WR_MIN(n, p->max_steps) : n;
}

void wr_plan_result_done(struct wr_plan_result *r)
{
    if (!r)
        return;
    free(r->epochs);
    free(r->step_s);
    free(r->spans);
    memset(r, 0, sizeof(*r));
}
