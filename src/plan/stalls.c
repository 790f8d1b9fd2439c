/* stalls.c - which batches waited: times in two classes, if they have them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times are compared by their logarithms: a stall is a multiple of the usual
 * time. Otsu's threshold cuts them so that the classes differ most; it is
 * believed only if they lie apart by more than the usual times scatter. Where it
 * is not (a few stalls that differ much, above times that scatter), only what
 * lies far outside counts. */
#include "plan/stalls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "result/stats.h"

#define LEAST_FACTOR 1.25 /* a stall takes so much longer than usual */
#define APART        3.0  /* times the spread of the usual ones */
#define FEW          6.0  /* usual ones with which twice that is needed */
#define OUTSIDE      6.0  /* the same, for single ones */
#define USUAL_SHARE  0.25 /* of all batches at least */
#define FLOOR        0.02 /* of the mean: what is less than that hardly differs */
#define GRAINS       2.5 /* a stall is more than the rounding of the log */

void wr_plan_stalls_done(struct wr_plan_stalls *s)
{
    free(s->stalled);
    free(s->level);
    *s = (struct wr_plan_stalls){0};
}

/* Sorted times, and their logarithms. */
struct sorted {
    double *ms, *log; /* owned */
    size_t count;
    double floor_ms;
    double *scratch; /* owned */
};

static void sorted_done(struct sorted *s)
{
    free(s->ms);
    free(s->log);
    free(s->scratch);
}

static double log_of(const struct sorted *s, double ms)
{
    return log(ms + s->floor_ms);
}

static bool sorted_init(struct sorted *s, const struct wr_plan_times *t)
{
    double sum = 0;

    *s = (struct sorted){
        .ms = malloc(t->count * sizeof(double)),
        .log = malloc(t->count * sizeof(double)),
        .scratch = malloc(t->count * sizeof(double)),
        .count = t->count,
    };
    if (!s->ms || !s->log || !s->scratch)
        return false;
    memcpy(s->ms, t->ms, t->count * sizeof(double));
    wr_stats_sort(s->ms, t->count);
    for (size_t i = 0; i < s->count; i++)
        sum += s->ms[i];
    /* All zero is a log too: of a clock that is too coarse. */
    s->floor_ms = sum > 0 ? FLOOR * sum / (double)s->count : 1;
    for (size_t i = 0; i < s->count; i++)
        s->log[i] = log_of(s, s->ms[i]);
    return true;
}

/* Standard deviation of the first n, were they normal and without outliers. */
static double spread(const struct sorted *s, size_t n)
{
    double middle = wr_stats_quantile(s->log, n, 0.5);

    for (size_t i = 0; i < n; i++)
        s->scratch[i] = fabs(s->log[i] - middle);
    wr_stats_sort(s->scratch, n);
    return 1.4826 * wr_stats_quantile(s->scratch, n, 0.5);
}

/* Otsu: how many belong to the lower class. */
static size_t otsu(const struct sorted *s)
{
    double all = 0, below = 0, best = -1;
    size_t cut = s->count;

    for (size_t i = 0; i < s->count; i++)
        all += s->log[i];
    for (size_t i = 0; i + 1 < s->count; i++) {
        double n = (double)(i + 1), m = (double)(s->count - i - 1), gap;

        below += s->log[i];
        if (s->log[i] == s->log[i + 1])
            continue;
        gap = (all - below) / m - below / n;
        if (n * m * gap * gap > best) {
            best = n * m * gap * gap;
            cut = i + 1;
        }
    }
    return cut;
}

/* Whether the classes below and above `cut` are two. */
static bool is_apart(const struct sorted *s, size_t cut)
{
    double gap;

    if (cut == s->count || (double)cut < USUAL_SHARE * (double)s->count)
        return false;
    gap = wr_stats_quantile(s->log + cut, s->count - cut, 0.5) -
          wr_stats_quantile(s->log, cut, 0.5);
    /* The spread of a few is easily underestimated. */
    return gap >= log(LEAST_FACTOR) &&
           gap >= APART * (1 + FEW / (double)cut) * spread(s, cut);
}

static size_t far_outside(const struct sorted *s)
{
    double limit = wr_stats_quantile(s->log, s->count, 0.5) +
                   fmax(OUTSIDE * spread(s, s->count), log(LEAST_FACTOR));
    size_t cut = s->count;

    while (cut && s->log[cut - 1] > limit)
        cut--;
    return cut;
}

/* What the log rounds times to: 1, 10, 100 or 1000 ms; 0: less than that. */
static double grain(const struct sorted *s)
{
    double g = 0;

    for (double unit = 1; unit <= 1000; unit *= 10) {
        for (size_t i = 0; i < s->count; i++)
            if (fabs(remainder(s->ms[i], unit)) > 1e-6 * unit)
                return g;
        g = unit;
    }
    return g;
}

static size_t cut_of(const struct sorted *s)
{
    size_t cut = otsu(s);

    if (!is_apart(s, cut))
        cut = far_outside(s);
    if (cut < s->count && wr_stats_quantile(s->ms + cut, s->count - cut, 0.5) -
                                  wr_stats_quantile(s->ms, cut, 0.5) <
                              GRAINS * grain(s))
        cut = s->count;
    return cut;
}

static void measure(struct wr_plan_stalls *r, const struct sorted *s,
                    size_t cut)
{
    size_t stalls = s->count - cut;
    const double *high = s->ms + cut;

    r->usual_ms = wr_stats_quantile(s->ms, cut, 0.5);
    r->median_ms = wr_stats_quantile(s->ms, s->count, 0.5);
    r->usual_vary = wr_stats_quantile(s->ms, cut, 0.9) /
                        fmax(r->usual_ms, 1e-9) -
                    1;
    for (size_t i = 0; i < s->count; i++)
        r->total_ms += s->ms[i];
    if (!stalls)
        return;
    r->stall_ms = wr_stats_quantile(high, stalls, 0.5) - r->usual_ms;
    r->stall_vary = (wr_stats_quantile(high, stalls, 0.75) -
                     wr_stats_quantile(high, stalls, 0.25)) /
                    (r->stall_ms + r->usual_ms);
}

static void classify(struct wr_plan_stalls *r, const struct sorted *s,
                     const struct wr_plan_times *t, size_t cut)
{
    double usual = log_of(s, r->usual_ms);
    double range = log_of(s, r->usual_ms + r->stall_ms) - usual;

    for (size_t i = 0; i < t->count && cut < s->count; i++) {
        double level = (log_of(s, t->ms[i]) - usual) / range;

        r->level[i] = (float)fmin(fmax(level, 0), 1);
        r->stalled[i] = t->ms[i] >= s->ms[cut];
        if (!r->stalled[i])
            continue;
        r->count++;
        r->lead += r->lead == i;
        r->lost_ms += t->ms[i] - r->usual_ms;
    }
}

int wr_plan_stalls_find(const struct wr_plan_times *t,
                        struct wr_plan_stalls *ret, weir_err *err)
{
    struct wr_plan_stalls r = {
        .stalled = calloc(WR_MAX(t->count, 1u), sizeof(bool)),
        .level = calloc(WR_MAX(t->count, 1u), sizeof(float)),
    };
    struct sorted s = {0};
    size_t cut;

    if (!r.stalled || !r.level || !sorted_init(&s, t)) {
        sorted_done(&s);
        wr_plan_stalls_done(&r);
        return wr_fail(err, WEIR_ENOMEM, "out of memory for %zu batches",
                       t->count);
    }
    cut = cut_of(&s);
    measure(&r, &s, cut);
    classify(&r, &s, t, cut);
    sorted_done(&s);
    *ret = r;
    return 0;
}
