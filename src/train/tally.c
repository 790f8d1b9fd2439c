/* tally.c - what a run of training notes down, in fixed memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "train/tally.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#define COUNTS 0.1 /* part of the time from which on something limits */
#define TELLS  3   /* iterations that tell what limits */

static const enum wr_series_rule rules[WR_TRAIN_COLUMNS] = {
    [WR_TRAIN_LOSS] = WR_SERIES_MEAN,
    [WR_TRAIN_WAIT_MS] = WR_SERIES_MAX,
    [WR_TRAIN_STEP_MS] = WR_SERIES_MAX,
    [WR_TRAIN_SAVE_MS] = WR_SERIES_MAX,
};

int wr_train_tally_init(struct wr_train_tally *t, size_t rows,
                        struct wr_train_result *ret, weir_err *err)
{
    int r;

    *t = (struct wr_train_tally){.ret = ret};
    *ret = (struct wr_train_result){.loss_first = NAN, .loss_last = NAN};
    r = wr_series_init(&ret->series, rows, WR_TRAIN_COLUMNS, rules, err);
    if (r < 0)
        return r;
    ret->validations = calloc(WR_TRAIN_VALIDATIONS_MAX,
                              sizeof(*ret->validations));
    ret->bad = calloc(WR_TRAIN_BAD_MAX, sizeof(*ret->bad));
    if (!ret->validations || !ret->bad)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

void wr_train_done(struct wr_train_result *r)
{
    wr_series_done(&r->series);
    for (size_t i = 0; i < r->bad_kept; i++)
        free((char *)(uintptr_t)r->bad[i].text);
    free(r->bad);
    free(r->saves);
    free(r->validations);
    *r = (struct wr_train_result){0};
}

double wr_train_tally_now(const struct wr_train_tally *t)
{
    return (double)(wr_clock_ns() - t->ret->start_ns) * 1e-9;
}

static void note_loss(struct wr_train_tally *t, double loss)
{
    size_t n = (size_t)WR_MIN(t->count + 1, (uint64_t)WR_TRAIN_RECENT);
    double sum = 0;

    if (t->count == 0)
        t->ret->loss_first = loss;
    t->recent[t->count % WR_TRAIN_RECENT] = loss;
    for (size_t i = 0; i < n; i++)
        sum += t->recent[i];
    t->ret->loss_last = sum / (double)n;
}

void wr_train_tally_row(struct wr_train_tally *t,
                        const struct wr_train_row *row)
{
    const double values[WR_TRAIN_COLUMNS] = {
        [WR_TRAIN_LOSS] = row->loss,
        [WR_TRAIN_WAIT_MS] = row->wait_s * 1e3,
        [WR_TRAIN_STEP_MS] = row->step_s * 1e3,
        [WR_TRAIN_SAVE_MS] = row->save_s * 1e3,
    };

    note_loss(t, row->loss);
    if (t->count == 0)
        t->ret->first_wait_s = row->wait_s;
    t->ret->wait_s += row->wait_s;
    t->ret->step_s += row->step_s;
    wr_series_add(&t->ret->series, wr_train_tally_now(t), values);
    t->count++;
}

void wr_train_tally_validation(struct wr_train_tally *t,
                               const struct wr_train_validation *v)
{
    struct wr_train_result *ret = t->ret;

    ret->last = *v;
    ret->validate_s += v->seconds;
    ret->validation_count++;
    if (ret->validation_kept < WR_TRAIN_VALIDATIONS_MAX)
        ret->validations[ret->validation_kept++] = *v;
}

static bool is_known(const struct wr_train_result *ret, uint64_t id)
{
    for (size_t i = 0; i < ret->bad_kept; i++)
        if (ret->bad[i].id == id)
            return true;
    return false;
}

void wr_train_tally_bad(struct wr_train_tally *t, const weir_pipeline *p)
{
    struct wr_train_result *ret = t->ret;
    const weir_bad_sample *s;

    ret->bad_count += weir_pipeline_bad_count(p);
    for (uint64_t k = 0; (s = weir_pipeline_bad(p, k)); k++) {
        char *text;

        if (ret->bad_kept == WR_TRAIN_BAD_MAX || is_known(ret, s->id))
            continue;
        text = strdup(s->text ? s->text : "?");
        if (!text)
            return;
        ret->bad[ret->bad_kept] = *s;
        ret->bad[ret->bad_kept++].text = text;
    }
}

/* What took a tenth of the time or more, and most of it; else computing. Every
 * run waits for its first batch, however fast its input is. */
static enum wr_train_limit find_limit(const struct wr_train_result *r,
                                      uint64_t count)
{
    double wait = r->wait_s - r->first_wait_s;
    double all = wait + r->step_s + r->save_s;

    if (count < TELLS || all <= 0)
        return WR_TRAIN_LIMIT_NONE;
    if (r->save_s > COUNTS * all && r->save_s > wait)
        return WR_TRAIN_LIMIT_SAVE;
    return wait > COUNTS * all ? WR_TRAIN_LIMIT_INPUT : WR_TRAIN_LIMIT_COMPUTE;
}

void wr_train_tally_end(struct wr_train_tally *t,
                        const struct wr_train_feed *feed)
{
    struct wr_train_result *ret = t->ret;

    if (ret->start_ns)
        ret->seconds = wr_train_tally_now(t);
    ret->limit = find_limit(ret, t->count);
    if (!feed->pipeline)
        return;
    weir_pipeline_stats(feed->pipeline, &ret->stats);
    weir_pipeline_tuning(feed->pipeline, ret->tuning, sizeof(ret->tuning));
    wr_train_tally_bad(t, feed->pipeline);
}
