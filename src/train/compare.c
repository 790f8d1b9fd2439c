/* compare.c - what the input costs: the input alone, computing alone, both.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/compare.h"

#include "base/error.h"
#include "base/mem.h"
#include "record/stats.h"

/* All runs as one, for whoever watches. */
struct whole {
    const struct wr_train_plan *plan; /* borrowed: with the callbacks */
    enum wr_train_way way;
    uint64_t before, total; /* iterations of earlier runs, and of all */
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

static void plan_way(struct whole *w, struct wr_train_plan *ret)
{
    *ret = *w->plan;
    ret->iterations = w->plan->iterations + 1;
    ret->epochs = 0;
    ret->validate = false;
    ret->resume = false;
    ret->ckpt.fast = ret->ckpt.slow = NULL;
    ret->synthetic = w->way == WR_TRAIN_WAY_SYNTHETIC;
    if (w->way == WR_TRAIN_WAY_INPUT)
        ret->accelerator.kind = WR_ACCELERATOR_NONE;
    ret->progress = on_progress;
    ret->note = on_note;
    ret->arg = w;
}

/* Samples per second after the first row. Rows that were merged have samples of
 * several iterations. */
static double rate_of(const struct wr_train_result *res)
{
    const struct wr_series *s = &res->series;
    size_t rows = wr_series_rows(s);
    double seconds = rows > 1 ? s->t[rows - 1] - s->t[0] : 0;
    double each = s->added ? (double)res->samples / (double)s->added : 0;

    return seconds > 0 ? each * (double)(s->added - s->merge) / seconds : 0;
}

static int run_way(struct whole *w, double *ret_rate,
                   struct wr_train_result *last, weir_err *err)
{
    struct wr_train_plan plan;
    struct wr_train_result res;
    int r;

    plan_way(w, &plan);
    r = wr_train(&plan, &res, err);
    w->before += plan.iterations;
    *ret_rate = rate_of(&res);
    if (w->way == WR_TRAIN_WAY_FULL) {
        wr_train_done(last);
        *last = res;
    } else {
        wr_train_done(&res);
    }
    return r;
}

int wr_train_compare(const struct wr_train_plan *plan, unsigned rounds,
                     struct wr_train_compared *ret,
                     struct wr_train_result *ret_last, weir_err *err)
{
    struct whole w = {.plan = plan,
                      .total = (plan->iterations + 1) * rounds * WR_TRAIN_WAYS};
    double rates[WR_TRAIN_WAYS][WR_TRAIN_ROUNDS_MAX];
    int r = 0;

    *ret_last = (struct wr_train_result){0};
    if (!plan->iterations || !rounds || rounds > WR_TRAIN_ROUNDS_MAX)
        return wr_fail(err, WEIR_EINVAL, "nothing to compare");
    for (unsigned k = 0; k < rounds; k++)
        for (int way = 0; way < WR_TRAIN_WAYS; way++) {
            w.way = (enum wr_train_way)way;
            r = run_way(&w, &rates[way][k], ret_last, err);
            if (r < 0)
                return r;
        }
    ret->rounds = rounds;
    for (int way = 0; way < WR_TRAIN_WAYS; way++) {
        double low = rates[way][0], high = low;

        for (unsigned k = 1; k < rounds; k++) {
            low = WR_MIN(low, rates[way][k]);
            high = WR_MAX(high, rates[way][k]);
        }
        ret->rate[way].min = low;
        ret->rate[way].max = high;
        ret->rate[way].median = wr_stats_median(rates[way], rounds);
    }
    return 0;
}
