/* draw.c - random times and sizes as functions of (seed, stream, number).
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/rng.h"
#include "plan/plan.h"

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
