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
#include "base/top.h"
#include "result/stats.h"

/* --- periods ---
 *
 * Short ones are found by correlation: how much a batch is like the one P batches
 * on. That is a local measure, so that stalls which are missing, extra, or move to
 * another place in the middle of the log do little harm. Long ones (checkpoints,
 * epochs) are rare events, found by the distances between them. */

#define CORRELATED_MAX 200000 /* batches that are correlated */
#define LIKE           0.35   /* correlation that counts */
#define NEARLY         0.85   /* of the best one is as good */
#define PEAK           0.3    /* above that of the lags beside it, relatively */
#define SHORT_SURE     0.9
#define EVENTS_MAX     20000
#define NEXT_EVENTS    4 /* distances to so many that follow */
#define CANDIDATES     10
#define KEPT           0.7 /* of the places of a long period */
#define SHARE          0.5 /* of the lost time */
#define LONG_SURE      0.9

uint64_t wr_plan_period_stride(const struct wr_plan_times *t)
{
    uint64_t g = 0;

    for (size_t i = 1; i < t->count && g != 1; i++) {
        uint64_t a = t->batch[i] - t->batch[i - 1];

        while (a) {
            uint64_t rest = g % a;

            g = a;
            a = rest;
        }
    }
    return g ? g : 1;
}

static double log_choose(double n, double k)
{
    int sign;

    return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) -
           lgamma_r(n - k + 1, &sign);
}

/* --- short periods --- */

struct lags {
    double like[WR_PLAN_SHORT_PERIOD + 2]; /* correlation at each lag */
    double pairs[WR_PLAN_SHORT_PERIOD + 2];
    size_t longest;
};

struct series {
    const struct wr_plan_times *t;
    const struct wr_plan_stalls *s;
    uint64_t stride;
    size_t count;
};

/* Of batches that lie `lag` numbers apart, both of which the log has. */
static double correlation(const struct series *x, uint64_t lag, double mean,
                          double *ret_pairs)
{
    double sum = 0, pairs = 0;

    for (size_t i = 0, j = 0; i < x->count; i++) {
        uint64_t to = x->t->batch[i] + lag * x->stride;

        while (j < x->count && x->t->batch[j] < to)
            j++;
        if (j == x->count)
            break;
        if (x->t->batch[j] != to)
            continue;
        sum += (x->s->level[i] - mean) * (x->s->level[j] - mean);
        pairs++;
    }
    *ret_pairs = pairs;
    return pairs > 0 ? sum / pairs : 0;
}

static void correlate(const struct series *x, struct lags *l)
{
    double mean = 0, square = 0;

    for (size_t i = 0; i < x->count; i++)
        mean += x->s->level[i];
    mean /= (double)x->count;
    for (size_t i = 0; i < x->count; i++)
        square += pow(x->s->level[i] - mean, 2);
    square /= (double)x->count;
    l->longest = WR_MIN((x->count - 1) / 2, (size_t)WR_PLAN_SHORT_PERIOD);
    for (size_t lag = 1; lag <= l->longest + 1; lag++) {
        double r = correlation(x, lag, mean, &l->pairs[lag]);

        l->like[lag] = square > 0 ? r / square : 0;
    }
}

/* The shortest lag whose correlation is about as good as the best, and stands
 * out from its neighbours: times that drift are like all that are near. */
static size_t best_lag(const struct lags *l)
{
    double best = 0;

    for (size_t lag = 2; lag <= l->longest; lag++)
        best = fmax(best, l->like[lag]);
    for (size_t lag = 2; lag <= l->longest; lag++) {
        double beside = fmax(l->like[lag - 1], l->like[lag + 1]);

        if (l->like[lag] >= LIKE && l->like[lag] >= NEARLY * best &&
            l->like[lag] - beside >= PEAK * l->like[lag])
            return lag;
    }
    return 0;
}

/* What lies on batch numbers with one remainder. */
struct class
{
    double level, count, stalls, lost_ms;
};

static void fold(const struct series *x, uint64_t period, struct class *classes)
{
    memset(classes, 0, period * sizeof(*classes));
    for (size_t i = 0; i < x->count; i++) {
        struct class *c = &classes[x->t->batch[i] / x->stride % period];

        c->level += x->s->level[i];
        c->count++;
        c->stalls += x->s->stalled[i];
        if (x->s->stalled[i])
            c->lost_ms += x->t->ms[i] - x->s->usual_ms;
    }
}

/* Probability that so many of the stalls, or more, lie in the class by chance:
 * the hypergeometric distribution's tail. */
static double by_chance(const struct class *c, double count, double stalls)
{
    double all = log_choose(count, stalls), p = 0;

    for (double h = c->stalls; h <= fmin(c->count, stalls); h++)
        if (stalls - h <= count - c->count)
            p += exp(log_choose(c->count, h) +
                     log_choose(count - c->count, stalls - h) - all);
    return p;
}

static void find_short(const struct series *x, struct wr_plan_period *ret)
{
    struct class classes[WR_PLAN_SHORT_PERIOD], sum = {0}, *c = classes;
    struct lags l = {0};
    double tests, z, chance;
    size_t lag;

    correlate(x, &l);
    lag = best_lag(&l);
    if (!lag)
        return;
    fold(x, lag, classes);
    for (size_t k = 0; k < lag; k++) {
        if (classes[k].level > c->level)
            c = &classes[k];
        sum.count += classes[k].count;
        sum.stalls += classes[k].stalls;
        sum.lost_ms += classes[k].lost_ms;
    }
    /* All periods and phases that could have come out were tried. */
    tests = (double)(l.longest * (l.longest + 1)) / 2 - 1;
    z = l.like[lag] * sqrt(l.pairs[lag]);
    chance = fmin(tests * by_chance(c, sum.count, sum.stalls),
                  (double)l.longest * erfc(z / sqrt(2)) / 2);
    if (1 - chance < SHORT_SURE)
        return;
    *ret = (struct wr_plan_period){
        .period = lag * x->stride,
        .phase = (uint64_t)(c - classes) * x->stride,
        .sure = 1 - chance,
        .kept = c->stalls / c->count,
        .share = sum.lost_ms > 0 ? c->lost_ms / sum.lost_ms : 0,
        .run = 1,
    };
}

/* --- long periods --- */

/* Stalls in a row are one event: the first batches of an epoch. */
struct event {
    uint64_t at;
    double lost_ms, run;
};

struct events {
    struct event *all; /* owned */
    size_t count;
    uint64_t first, last; /* batch numbers of the log */
    double lost_ms, per_batch;
    uint64_t stride;
};

static bool gather(const struct series *x, struct events *e)
{
    size_t cap = 0, previous = 0;

    e->first = x->t->batch[0];
    e->stride = x->stride;
    for (size_t i = 0; i < x->t->count; i++) {
        double lost = x->t->ms[i] - x->s->usual_ms;

        if (!x->s->stalled[i])
            continue;
        if (e->count && i - previous <= 2) {
            e->all[e->count - 1].run++;
        } else {
            if (e->count == EVENTS_MAX)
                break;
            if (!wr_grow(&e->all, &cap, e->count + 1, sizeof(*e->all)))
                return false;
            e->all[e->count++] = (struct event){.at = x->t->batch[i], .run = 1};
        }
        e->all[e->count - 1].lost_ms += lost;
        e->lost_ms += lost;
        previous = i;
    }
    e->last = e->count == EVENTS_MAX ? e->all[e->count - 1].at
                                     : x->t->batch[x->t->count - 1];
    e->per_batch = (double)e->count / (double)x->t->count;
    return true;
}

/* How well events at `period` from the one at `from`, in both directions, tell
 * where events are. */
static void judge(const struct events *e, uint64_t period, uint64_t from,
                  struct wr_plan_period *ret)
{
    uint64_t phase = from % period;
    double places, hits = 0, lost = 0, run = 0;

    for (size_t k = 0; k < e->count; k++)
        if (e->all[k].at % period == phase) {
            hits++;
            lost += e->all[k].lost_ms;
            run += e->all[k].run;
        }
    places = (double)((from - e->first) / period + (e->last - from) / period) +
             1;
    *ret = (struct wr_plan_period){
        .period = period,
        .phase = phase,
        .kept = hits / places,
        .share = e->lost_ms > 0 ? lost / e->lost_ms : 0,
        .run = hits > 0 ? run / hits : 0,
        /* Filled in by the caller: the logarithm of chance. */
        .sure = log_choose(places, fmin(hits, places)) +
                (hits - 1) * log(fmin(e->per_batch, 1)),
    };
}

/* Tries a period with the phases of the first events. `free`: events that agree
 * because the period was taken from them; `tests`: periods that were tried. */
static void try_period(const struct events *e, uint64_t period, double free,
                       double tests, struct wr_plan_period *best)
{
    struct wr_plan_period p;

    for (size_t k = 0; k < WR_MIN(e->count, 16u); k++) {
        judge(e, period, e->all[k].at, &p);
        p.sure = 1 - tests * exp(fmin(p.sure - free * log(e->per_batch), 0));
        if (p.kept >= KEPT && p.share >= SHARE && p.sure >= LONG_SURE &&
            p.share * p.kept > best->share * best->kept)
            *best = p;
    }
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* The distances that occur most often, at least twice; returns how many. */
static size_t frequent(uint64_t *gaps, size_t n, uint64_t *ret)
{
    double counts[CANDIDATES];
    struct wr_top top = {
        .list = ret, .scores = counts, .size = sizeof(*ret), .cap = CANDIDATES};

    qsort(gaps, n, sizeof(*gaps), by_number);
    for (size_t i = 0, same; i < n; i += same) {
        uint64_t *at = NULL;

        for (same = 1; i + same < n && gaps[i + same] == gaps[i];)
            same++;
        if (same > 1)
            at = wr_top_add(&top, (double)same);
        if (at)
            *at = gaps[i];
    }
    return top.count;
}

static int find_long(const struct series *x, const uint64_t known[2],
                     struct wr_plan_period *ret)
{
    uint64_t *gaps = NULL, candidates[CANDIDATES];
    struct events e = {0};
    size_t n = 0, found;
    int r = WEIR_ENOMEM;

    if (!gather(x, &e))
        goto out;
    gaps = malloc((e.count * NEXT_EVENTS + 1) * sizeof(*gaps));
    if (!gaps)
        goto out;
    for (size_t k = 0; k < e.count; k++)
        for (size_t m = 1; m <= NEXT_EVENTS && k + m < e.count; m++)
            gaps[n++] = e.all[k + m].at - e.all[k].at;
    found = frequent(gaps, n, candidates);
    for (size_t k = 0; k < 2; k++)
        if (known[k] > 1 && known[k] <= e.last - e.first)
            try_period(&e, known[k], 0, 1, ret);
    for (size_t k = 0; k < found; k++)
        if (candidates[k] > WR_PLAN_SHORT_PERIOD * e.stride)
            try_period(&e, candidates[k], 1, (double)found, ret);
    r = 0;
out:
    free(gaps);
    free(e.all);
    return r;
}

int wr_plan_period_find(const struct wr_plan_times *t,
                        const struct wr_plan_stalls *s, const uint64_t known[2],
                        struct wr_plan_period *ret, weir_err *err)
{
    struct series x = {.t = t,
                       .s = s,
                       .stride = wr_plan_period_stride(t),
                       .count = WR_MIN(t->count, (size_t)CORRELATED_MAX)};
    struct wr_plan_period few = {0}, many = {0};

    if (s->count >= 2) {
        find_short(&x, &few);
        if (find_long(&x, known, &many) < 0)
            return wr_fail(err, WEIR_ENOMEM, "out of memory for %zu batches",
                           t->count);
    }
    *ret = few.period && few.share >= many.share ? few : many;
    if (!ret->period)
        *ret = few;
    return 0;
}

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
