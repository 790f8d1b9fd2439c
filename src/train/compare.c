/* compare.c - what the input costs: alone, without it, and with it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/compare.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "result/stats.h"

/* All runs as one. */
struct whole {
    const struct wr_train_plan *plan; /* borrowed: with the callbacks */
    struct wr_train_result *last;     /* borrowed: of the last full run */
    enum wr_train_way way;
    uint64_t before, total; /* iterations of earlier runs, and of all */
    /* of the rounds that count */
    double rate[WR_TRAIN_WAYS][WR_TRAIN_ROUNDS_MAX];
    double cost[WR_TRAIN_ROUNDS_MAX];
    size_t count;
};

const char *wr_train_way_name(enum wr_train_way way)
{
    static const char *const names[] = {
        [WR_TRAIN_WAY_INPUT] = "input alone",
        [WR_TRAIN_WAY_SYNTHETIC] = "computing alone",
        [WR_TRAIN_WAY_FULL] = "everything",
    };

    return names[way];
}

static void on_progress(void *arg, const struct wr_train_news *news)
{
    const struct whole *w = arg;
    struct wr_train_news all = *news;

    all.doing = wr_train_way_name(w->way);
    all.done = w->before + news->done;
    all.total = w->total;
    if (w->plan->progress)
        w->plan->progress(w->plan->arg, &all);
}

static void on_note(void *arg, const char *text)
{
    const struct whole *w = arg;

    if (w->plan->note)
        w->plan->note(w->plan->arg, text);
}

/* What is left out is the only difference. */
static void plan_way(struct whole *w, struct wr_train_plan *ret)
{
    *ret = *w->plan;
    ret->iterations = w->plan->iterations + 1;
    ret->epochs = 0;
    ret->validate = false;
    ret->resume = false;
    ret->ckpt.fast = ret->ckpt.slow = NULL;
    ret->save_every = 0;
    ret->synthetic = w->way == WR_TRAIN_WAY_SYNTHETIC;
    if (w->way == WR_TRAIN_WAY_INPUT)
        ret->accelerator = (struct wr_accelerator){.kind = WR_ACCELERATOR_NONE};
    ret->progress = on_progress;
    ret->note = on_note;
    ret->arg = w;
}

double wr_train_way_rate(enum wr_train_way way,
                         const struct wr_train_result *res)
{
    const struct wr_series *s = &res->series;
    size_t rows = wr_series_rows(s);

    /* Of the input alone, the beginning of the second batch is in the time of
     * the first one: all of it counts. */
    if (way == WR_TRAIN_WAY_INPUT || rows < 2)
        return res->seconds > 0 ? (double)res->samples / res->seconds : 0;
    /* Rows that were merged are of several iterations. */
    return (double)res->samples / (double)s->added *
           (double)(s->added - s->merge) / (s->t[rows - 1] - s->t[0]);
}

static int run_way(struct whole *w, double *ret_rate, weir_err *err)
{
    struct wr_train_plan plan;
    struct wr_train_result res;
    int r;

    plan_way(w, &plan);
    r = wr_train(&plan, &res, err);
    w->before += plan.iterations;
    if (r == 0 && res.done < plan.iterations)
        r = wr_fail(err, WEIR_EIO, "the input ended after %" PRIu64 " batches",
                    res.done);
    if (r == 0)
        *ret_rate = wr_train_way_rate(w->way, &res);
    if (w->way == WR_TRAIN_WAY_FULL || r < 0) { /* for whoever shows it */
        wr_train_done(w->last);
        *w->last = res;
    } else {
        wr_train_done(&res);
    }
    return r;
}

static int run_round(struct whole *w, bool counts, weir_err *err)
{
    double rate[WR_TRAIN_WAYS];
    int r = 0;

    for (int way = 0; r == 0 && way < WR_TRAIN_WAYS; way++) {
        w->way = (enum wr_train_way)way;
        r = run_way(w, &rate[way], err);
    }
    if (r < 0 || !counts)
        return r;
    for (int way = 0; way < WR_TRAIN_WAYS; way++)
        w->rate[way][w->count] = rate[way];
    w->cost[w->count++] = 1 - rate[WR_TRAIN_WAY_FULL] /
                                  rate[WR_TRAIN_WAY_SYNTHETIC];
    return 0;
}

static struct wr_train_spread spread_of(double *v, size_t n)
{
    wr_stats_sort(v, n);
    return (struct wr_train_spread){
        .median = wr_stats_quantile(v, n, 0.5), .min = v[0], .max = v[n - 1]};
}

static void sum_up(struct whole *w, struct wr_train_compared *ret)
{
    *ret = (struct wr_train_compared){.rounds = (unsigned)w->count,
                                      .iterations = w->plan->iterations};
    for (int way = 0; way < WR_TRAIN_WAYS; way++)
        ret->rate[way] = spread_of(w->rate[way], w->count);
    ret->cost = spread_of(w->cost, w->count);
}

static int check(const struct wr_train_plan *plan, unsigned rounds,
                 weir_err *err)
{
    if (plan->synthetic || plan->accelerator.kind == WR_ACCELERATOR_NONE ||
        !plan->iterations)
        return wr_fail(err, WEIR_EINVAL,
                       "there is nothing to compare without an accelerator, "
                       "input and iterations");
    if (rounds < 2 || rounds > WR_TRAIN_ROUNDS_MAX)
        return wr_fail(err, WEIR_EINVAL,
                       "%u rounds are not between 2 and %d: the first one is "
                       "not counted",
                       rounds, WR_TRAIN_ROUNDS_MAX);
    return 0;
}

int wr_train_compare(const struct wr_train_plan *plan, unsigned rounds,
                     struct wr_train_compared *ret,
                     struct wr_train_result *ret_last, weir_err *err)
{
    struct whole *w = calloc(1, sizeof(*w));
    int r = check(plan, rounds, err);

    *ret_last = (struct wr_train_result){0};
    if (r == 0 && !w)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0) {
        w->plan = plan;
        w->last = ret_last;
        w->total = (plan->iterations + 1) * rounds * WR_TRAIN_WAYS;
    }
    for (unsigned k = 0; r == 0 && k < rounds; k++)
        r = run_round(w, /* counts= */ k > 0, err);
    if (r == 0)
        sum_up(w, ret);
    free(w);
    return r;
}
