/* plan.c - the description: defaults, and what cannot be.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"

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

/* Uniform in (0, 1): both ends would be infinite somewhere. */
static double unit(uint64_t seed, uint64_t stream, uint64_t k)
{
    return ((double)(wr_rng_at(seed, stream, k) >> 12) + 0.5) * 0x1.0p-52;
}

/* The normal deviate below which a part `u` lies: rational approximations in the
 * middle and in both tails (P. J. Acklam's coefficients, relative error below
 * 1.2e-9). A deviate per number, so that a draw needs no state. */
static double normal_at(double u)
{
    static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,
                               -2.759285104469687e+02, 1.383577518672690e+02,
                               -3.066479806614716e+01, 2.506628277459239e+00};
    static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02,
                               -1.556989798598866e+02, 6.680131188771972e+01,
                               -1.328068155288572e+01};
    static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01,
                               -2.400758277161838e+00, -2.549732539343734e+00,
                               4.374664141464968e+00,  2.938163982698783e+00};
    static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01,
                               2.445134137142996e+00, 3.754408661907416e+00};
    double t = u < 0.5 ? u : 1 - u, q, r, x;

    if (t < 0.02425) {
        q = sqrt(-2 * log(t));
        x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q +
             c[5]) /
            ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
        return u < 0.5 ? x : -x;
    }
    q = u - 0.5;
    r = q * q;
    return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r +
            a[5]) *
           q /
           (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

/* The value below which a part `u` of all draws lies. */
static double quantile(const struct wr_plan_draw *d, double u)
{
    double s2;

    switch (d->law) {
    case WR_PLAN_EXPONENTIAL:
        return -d->mean * log1p(-u);
    case WR_PLAN_LOGNORMAL:
        s2 = log1p(d->cv * d->cv);
        return d->mean * exp(sqrt(s2) * normal_at(u) - s2 / 2);
    case WR_PLAN_FIXED:
        break;
    }
    return d->mean;
}

double wr_plan_drawn(const struct wr_plan_draw *d, uint64_t seed,
                     uint64_t stream, uint64_t k)
{
    return d->law == WR_PLAN_FIXED ? d->mean
                                   : quantile(d, unit(seed, stream, k));
}

double wr_plan_drawn_max(const struct wr_plan_draw *d, double n, uint64_t seed,
                         uint64_t stream, uint64_t k)
{
    return d->law == WR_PLAN_FIXED
               ? d->mean
               : quantile(d, pow(unit(seed, stream, k), 1 / n));
}

/* By the middles of equally likely parts. */
double wr_plan_mean_max(const struct wr_plan_draw *d, double n)
{
    const unsigned parts = 4000;
    double sum = 0;

    if (d->law == WR_PLAN_FIXED)
        return d->mean;
    for (unsigned k = 0; k < parts; k++)
        sum += quantile(d, pow((k + 0.5) / parts, 1 / n));
    return sum / parts;
}
