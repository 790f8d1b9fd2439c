/* train_charts.c - charts of one run of training.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/train_charts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "record/batches.h"
#include "result/get.h"
#include "record/points.h"
#include "result/stats.h"

#define SAVES_MAX 1000 /* that are drawn */

/* Times of an iteration. */
static const struct {
    const char *key, *name;
} parts[] = {{"wait_ms", "waiting for the batch"},
             {"step_ms", "computing"},
             {"save_ms", "saving"}};
#define PARTS WR_ARRAY_LEN(parts)

/* --- the loss --- */

/* Rows of the series may stand for several iterations each. */
static double iteration_of(const json_t *record, size_t row)
{
    double merged = wr_get_number(record, "series.merged");
    double from = wr_get_number(record, "result.resumed_at");

    return (from > 0 ? from : 0) +
           (double)(row + 1) * (merged > 1 ? merged : 1);
}

static bool has_loss(const json_t *record)
{
    const json_t *list = wr_get_list(record, "series.loss");

    for (size_t i = 0; i < json_array_size(list); i++)
        if (!isnan(wr_get_at(list, i)))
            return true;
    return false;
}

static void loss_line(struct wr_doc *d, struct wr_doc_chart *c,
                      const json_t *record, const char *name)
{
    const json_t *list = wr_get_list(record, "series.loss");
    struct wr_points p = {0};

    for (size_t i = 0; i < json_array_size(list); i++)
        wr_points_add(&p, iteration_of(record, i), wr_get_at(list, i), false);
    wr_points_draw(&p, d, wr_doc_series(c, name), WR_VIEW_SERIES_POINTS);
    wr_points_done(&p);
}

static void held_out_line(struct wr_doc_chart *c, const json_t *record,
                          const char *name)
{
    const json_t *list = wr_get_list(record, "validations");
    struct wr_doc_series *to;

    if (!json_array_size(list))
        return;
    to = wr_doc_series(c, name);
    for (size_t i = 0; i < WR_MIN(json_array_size(list), (size_t)SAVES_MAX);
         i++) {
        const json_t *v = json_array_get(list, i);

        wr_doc_point(to, wr_get_number(v, "iteration"),
                     wr_get_number(v, "loss"));
    }
}

void wr_train_loss(struct wr_doc *d, struct wr_doc_section *s,
                   const struct wr_view_record *r, size_t n)
{
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_LINES,
        .title = "Loss",
        .x = "iteration",
        .y = "loss",
        .note = "The mean of each batch; held out: pictures that the network "
                "never learns from."};
    struct wr_doc_chart *c = wr_doc_chart(s, &spec);
    char name[WR_VIEW_NAME];

    for (size_t i = 0; i < n; i++) {
        if (!has_loss(r[i].json))
            continue;
        loss_line(d, c, r[i].json, n > 1 ? r[i].label : "training");
        snprintf(name, sizeof(name), "%s%sheld out", n > 1 ? r[i].label : "",
                 n > 1 ? ", " : "");
        held_out_line(c, r[i].json, name);
    }
}

void wr_train_accuracy(struct wr_doc_section *s, const json_t *record)
{
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_LINES,
        .title = "Accuracy on the held-out part",
        .x = "iteration",
        .y = "right (%)",
        .note = "Chance: what guessing would get right."};
    const json_t *list = wr_get_list(record, "validations");
    double chance = wr_get_number(record, "result.chance");
    struct wr_doc_series *right, *guess;
    struct wr_doc_chart *c;

    if (json_array_size(list) < 2) /* a number of the summary says it */
        return;
    c = wr_doc_chart(s, &spec);
    right = wr_doc_series(c, "right");
    guess = chance > 0 ? wr_doc_series(c, "chance") : NULL;
    wr_doc_series_is(guess, WR_DOC_REFERENCE);
    for (size_t i = 0; i < WR_MIN(json_array_size(list), (size_t)SAVES_MAX);
         i++) {
        const json_t *v = json_array_get(list, i);
        double at = wr_get_number(v, "iteration");

        wr_doc_point(right, at, 100 * wr_get_number(v, "accuracy"));
        wr_doc_point(guess, at, 100 * chance);
    }
}

/* --- where the time went --- */

/* What is not waiting, computing, saving or validating. */
static double rest_of(const json_t *res)
{
    static const char *const keys[] = {"wait_s", "step_s", "save_s",
                                       "validate_s"};
    double rest = wr_get_number(res, "seconds");

    for (size_t i = 0; i < WR_ARRAY_LEN(keys); i++) {
        double v = wr_get_number(res, keys[i]);

        rest -= v > 0 ? v : 0;
    }
    return fmax(0, rest);
}

void wr_train_parts(struct wr_doc_section *s, const struct wr_view_record *r,
                    size_t n)
{
    static const struct {
        const char *key, *name;
    } of[] = {{"step_s", "computing"},
              {"wait_s", "waiting for input"},
              {"save_s", "saving"},
              {"validate_s", "validating"},
              {NULL, "else"}};
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_STACKED,
        .title = "Where the time went",
        .x = "",
        .y = "seconds",
        .note = "Waiting for input and saving are what computing alone would "
                "not take."};
    struct wr_doc_chart *c = wr_doc_chart(s, &spec);

    for (size_t k = 0; k < n; k++)
        wr_doc_label(c, "%s", n > 1 ? r[k].label : "this run");
    for (size_t i = 0; i < WR_ARRAY_LEN(of); i++) {
        struct wr_doc_series *to = wr_doc_series(c, of[i].name);

        for (size_t k = 0; k < n; k++) {
            const json_t *res = wr_get_object(r[k].json, "result");

            wr_doc_value(to, of[i].key ? wr_get_number(res, of[i].key)
                                       : rest_of(res));
        }
    }
}

/* --- input alone, synthetic, all --- */

void wr_train_compared(struct wr_doc_section *s, const json_t *record)
{
    static const struct {
        const char *key, *name;
    } of[] = {{"compare.input", "input alone"},
              {"compare.synthetic", "computing alone"},
              {"compare.full", "everything"}};
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_BARS,
        .title = "What the input costs",
        .x = "",
        .y = "images/s",
        .note = "Computing alone: on the same batch from memory, again and "
                "again. Whiskers: lowest and highest run."};
    struct wr_doc_series *to;
    struct wr_doc_chart *c;

    if (!wr_get_object(record, "compare"))
        return;
    c = wr_doc_chart(s, &spec);
    to = wr_doc_series(c, "images/s");
    for (size_t i = 0; i < WR_ARRAY_LEN(of); i++) {
        const json_t *o = wr_get_object(record, of[i].key);

        if (!o)
            continue;
        wr_doc_label(c, "%s", of[i].name);
        wr_doc_value_range(to, wr_get_number(o, "images_per_s"),
                           wr_get_number(o, "min"), wr_get_number(o, "max"));
    }
}

/* --- each iteration --- */

/* What is longer than this is a stall. */
static double stall_limit(const json_t *series, size_t rows)
{
    double *v = malloc(WR_MAX(rows, (size_t)1) * sizeof(*v)), median;

    if (!v)
        return INFINITY;
    for (size_t i = 0; i < rows; i++) {
        v[i] = 0;
        for (size_t k = 0; k < PARTS; k++)
            v[i] += fmax(0, wr_get_at(wr_get_list(series, parts[k].key), i));
    }
    median = wr_stats_quantile(v, wr_stats_sort(v, rows), 0.5);
    free(v);
    return fmax(WR_STALL_TIMES * median, WR_STALL_MS);
}

void wr_train_iterations(struct wr_doc *d, struct wr_doc_section *s,
                         const json_t *record)
{
    const json_t *series = wr_get_object(record, "series");
    const json_t *t = wr_get_list(series, "t_s");
    size_t rows = json_array_size(t);
    double limit = stall_limit(series, rows);
    char note[WR_VIEW_NAME];
    const struct wr_doc_chart_spec spec = {.kind = WR_DOC_POINTS,
                                           .title = "Time of each iteration",
                                           .x = "seconds",
                                           .y = "milliseconds",
                                           .note = note};
    struct wr_points p = {0};
    struct wr_doc_chart *c;

    snprintf(note, sizeof(note),
             "Marked: stalls, over %g times the median of an iteration.",
             WR_STALL_TIMES);
    c = wr_doc_chart(s, &spec);
    for (size_t k = 0; k < PARTS; k++) {
        const json_t *list = wr_get_list(series, parts[k].key);

        for (size_t i = 0; i < rows; i++) {
            double v = wr_get_at(list, i);

            /* Most iterations do not save: that is no time of 0. */
            if (v > 0 || !strcmp(parts[k].key, "wait_ms"))
                wr_points_add(&p, wr_get_at(t, i), v, i > 0 && v > limit);
        }
        if (p.count)
            wr_points_draw(&p, d, wr_doc_series(c, parts[k].name),
                           WR_VIEW_SERIES_POINTS);
    }
    wr_points_done(&p);
}

/* --- saves --- */

void wr_train_saves(struct wr_doc_section *s, const json_t *record)
{
    static const struct {
        const char *key, *name;
    } of[] = {{"stall_s", "training stood still"},
              {"fast_s", "on the fast tier"},
              {"slow_s", "on the slow tier"},
              {"verified_s", "verified"}};
    const struct wr_doc_chart_spec spec = {.kind = WR_DOC_POINTS,
                                           .title = "How long each save took",
                                           .x = "iteration",
                                           .y = "seconds since the save began",
                                           .log_y = true};
    const json_t *list = wr_get_list(record, "saves");
    size_t n = WR_MIN(json_array_size(list), (size_t)SAVES_MAX);
    struct wr_doc_chart *c;

    if (!n)
        return;
    c = wr_doc_chart(s, &spec);
    for (size_t k = 0; k < WR_ARRAY_LEN(of); k++) {
        struct wr_doc_series *to = NULL;

        for (size_t i = 0; i < n; i++) {
            const json_t *save = json_array_get(list, i);
            double v = wr_get_number(save, of[k].key);

            if (isnan(v))
                continue;
            if (!to)
                to = wr_doc_series(c, of[k].name);
            wr_doc_point(to, wr_get_number(save, "step"), v);
        }
    }
}
