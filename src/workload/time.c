/* time.c - times of steps: means, and draws from their laws.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/rng.h"
#include "workload/derive.h"

#define DRAW_STREAM UINT64_C(0x64726177)

/* In (0, 1]: its logarithm is finite. */
static double unit(struct wr_rng *r)
{
    return 1 - wr_rng_unit(r);
}

static double standard_normal(struct wr_rng *r)
{
    double radius = sqrt(-2 * log(unit(r)));

    return radius * cos(2 * M_PI * wr_rng_unit(r));
}

/* Marsaglia and Tsang, "A simple method for generating gamma variables" (2000);
 * a shape below 1 is brought above it as their section 6 says. */
static double standard_gamma(struct wr_rng *r, double shape)
{
    double boost = 1, d, c;

    if (shape <= 0)
        return 0;
    if (shape < 1) {
        boost = pow(unit(r), 1 / shape);
        shape += 1;
    }
    d = shape - 1.0 / 3;
    c = 1 / sqrt(9 * d);
    for (;;) {
        double x = standard_normal(r), v = 1 + c * x;

        v = v * v * v;
        if (v > 0 && log(unit(r)) < x * x / 2 + d - d * v + d * log(v))
            return d * v * boost;
    }
}

/* Counts arrivals; for many of them the normal law is as good. */
static double poisson(struct wr_rng *r, double mean)
{
    double left = mean, count = 0;

    if (mean > 100)
        return fmax(0, nearbyint(mean + sqrt(mean) * standard_normal(r)));
    while ((left += log(unit(r))) >= 0)
        count++;
    return count;
}

double wr_wl_time_mean(const struct wr_wl_time *t)
{
    switch (t->law) {
    case WR_WL_NONE:
        return 0;
    case WR_WL_UNIFORM:
        return (t->a + t->b) / 2;
    case WR_WL_GAMMA:
        return t->a * t->b;
    default:
        return t->a;
    }
}

double wr_wl_time_draw(const struct wr_wl_time *t, uint64_t seed,
                       uint64_t stream, uint64_t k)
{
    struct wr_rng r = {.seed = wr_rng_at(seed, stream, k),
                       .stream = DRAW_STREAM};

    switch (t->law) {
    case WR_WL_NONE:
        return 0;
    case WR_WL_FIXED:
        return t->a;
    case WR_WL_NORMAL:
        return fabs(t->a + t->b * standard_normal(&r));
    case WR_WL_UNIFORM:
        return t->a + (t->b - t->a) * wr_rng_unit(&r);
    case WR_WL_GAMMA:
        return t->b * standard_gamma(&r, t->a);
    case WR_WL_EXPONENTIAL:
        return -t->a * log(unit(&r));
    case WR_WL_POISSON:
        return poisson(&r, t->a);
    }
    return 0;
}
