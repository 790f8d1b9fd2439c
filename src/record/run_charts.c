/* run_charts.c - charts of runs of a workload.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/run_charts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "result/get.h"
#include "record/pivot.h"
#include "record/points.h"
#include "record/run_tables.h"
#include "record/view_say.h"

#define BARS_MAX 64 /* epochs or ranks that are drawn */
#define BINS_MAX 64
/* Of shares that are summed up: rounding must not make that more than 100. */
#define PERCENT (100 * (1 - 1e-9))

/* --- utilization --- */

/* The target at both ends of the axis. */
static void target_line(struct wr_doc_chart *c, double target, double from,
                        double to)
{
    struct wr_doc_series *line;

    if (!(target > 0) || !(from <= to))
        return;
    line = wr_doc_series(c, "target");
    wr_doc_series_is(line, WR_DOC_REFERENCE);
    wr_doc_point(line, from, 100 * target);
    if (to > from)
        wr_doc_point(line, to, 100 * target);
}

void wr_run_search_chart(struct wr_scope *v)
{
    const struct wr_view_record *r = v->r;
    size_t n = v->n;
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_LINES,
        .title = "Utilization by number of accelerators",
        .x = "accelerators",
        .y = "AU (%)",
        .note = "As many can be fed as stay above the target.",
        .most = 100};
    double from = INFINITY, to = -INFINITY, target = NAN;
    struct wr_doc_chart *c = NULL;

    for (size_t i = 0; i < n; i++) {
        const json_t *points[WR_RUN_POINTS];
        size_t count = wr_run_search_points(r[i].json, points, WR_RUN_POINTS);
        struct wr_doc_series *line;

        if (!count)
            continue;
        if (!c)
            c = wr_doc_chart(v->s, &spec);
        line = wr_doc_series(c, n > 1 ? r[i].label : "AU");
        for (size_t k = 0; k < count; k++) {
            double x = wr_get_number(points[k], "accelerators");

            wr_doc_point(line, x, 100 * wr_get_number(points[k], "au"));
            from = fmin(from, x);
            to = fmax(to, x);
        }
        target = wr_get_number(r[i].json, "search.target");
    }
    if (c)
        target_line(c, target, from, to);
}

/* The target of all of them; NaN if they differ. */
static double common_target(const struct wr_view_record *r, size_t n)
{
    double target = wr_get_number(r[0].json, "config.au_target");

    for (size_t i = 1; i < n; i++)
        if (wr_get_number(r[i].json, "config.au_target") != target)
            return NAN;
    return target;
}

static size_t most_epochs(const struct wr_view_record *r, size_t n)
{
    size_t most = 0;

    for (size_t i = 0; i < n; i++)
        most = WR_MAX(most, json_array_size(wr_get_list(r[i].json, "epochs")));
    return WR_MIN(most, (size_t)BARS_MAX);
}

void wr_run_au_chart(struct wr_scope *v)
{
    const struct wr_view_record *r = v->r;
    size_t n = v->n;
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_BARS,
        .title = "Utilization of each epoch",
        .x = "epoch",
        .y = "AU (%)",
        .note = "AU: the part of the time in which the accelerators computed.",
        .most = 100};
    size_t epochs = most_epochs(r, n);
    double target = common_target(r, n);
    struct wr_doc_chart *c;
    struct wr_doc_series *to;

    if (!epochs)
        return;
    c = wr_doc_chart(v->s, &spec);
    for (size_t k = 0; k < epochs; k++)
        wr_doc_label(c, "%zu", k + 1);
    for (size_t i = 0; i < n; i++) {
        const json_t *list = wr_get_list(r[i].json, "epochs");

        to = wr_doc_series(c, n > 1 ? r[i].label : "AU");
        for (size_t k = 0; k < epochs; k++)
            wr_doc_value(to,
                         100 * wr_get_number(json_array_get(list, k), "au"));
    }
    if (!(target > 0))
        return;
    to = wr_doc_series(c, "target");
    wr_doc_series_is(to, WR_DOC_CEILING);
    for (size_t k = 0; k < epochs; k++)
        wr_doc_value(to, 100 * target);
}

/* --- where the time went --- */

void wr_run_loss_chart(struct wr_scope *v)
{
    const struct wr_view_record *r = v->r;
    size_t n = v->n;
    static const struct {
        const char *key, *name;
    } parts[] = {{"compute", "computing"},
                 {"read", "waiting for input"},
                 {"barrier", "waiting for the slowest accelerator"},
                 {"save", "saving checkpoints"},
                 {"eval", "evaluating"},
                 {"emulator", "the emulator itself"}};
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_STACKED,
        .title = "Where the time went",
        .x = "",
        .y = "% of the time",
        .note = "Everything but computing is lost.",
        .most = 100};
    struct wr_doc_chart *c = NULL;

    for (size_t k = 0; k < WR_ARRAY_LEN(parts); k++) {
        struct wr_doc_series *to = NULL;

        for (size_t i = 0; i < n && !to; i++)
            if (wr_get_number(wr_get_object(r[i].json, "loss"), parts[k].key) >
                0) {
                c = c ? c : wr_doc_chart(v->s, &spec);
                to = wr_doc_series(c, parts[k].name);
            }
        for (size_t i = 0; to && i < n; i++)
            wr_doc_value(to, PERCENT *
                                 wr_get_number(wr_get_object(r[i].json, "loss"),
                                               parts[k].key));
    }
    for (size_t i = 0; c && i < n; i++)
        wr_doc_label(c, "%s", n > 1 ? r[i].label : "this run");
}

/* --- over time --- */

/* A column of the series against its time; nothing if there is none. */
static void draw_column(struct wr_doc *d, struct wr_doc_chart *c,
                        const json_t *record, const char *key, const char *name)
{
    const json_t *t = wr_get_list(record, "series.t");
    const json_t *v = wr_get_list(wr_get_object(record, "series"), key);
    struct wr_points p = {0};

    /* A rate is known now and then: points in between have none. */
    for (size_t i = 0; i < json_array_size(t) && i < json_array_size(v); i++)
        if (isfinite(wr_get_at(v, i)))
            wr_points_add(&p, wr_get_at(t, i), wr_get_at(v, i), false);
    if (p.count)
        wr_points_draw(&p, d, wr_doc_series(c, name), WR_VIEW_SERIES_POINTS);
    wr_points_done(&p);
}

void wr_run_step_chart(struct wr_scope *v)
{
    const json_t *record = v->r->json;
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_POINTS,
        .title = "Time of each step, and waiting in it",
        .x = "seconds",
        .y = "milliseconds",
        .note = "Waiting is time in which an accelerator had no data."};
    struct wr_doc_chart *c;

    if (!json_array_size(wr_get_list(record, "series.t")))
        return;
    c = wr_doc_chart(v->s, &spec);
    draw_column(v->d, c, record, "wait_ms", "waiting for the batch");
    draw_column(v->d, c, record, "step_ms", "the whole step");
}

void wr_run_flow_chart(struct wr_scope *v)
{
    const json_t *record = v->r->json;
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_AREA,
        .title = "What was read over time",
        .x = "seconds",
        .y = "MB/s",
        .note = "Demand: what the accelerators take if they never wait."};
    const json_t *t = wr_get_list(record, "series.t");
    size_t rows = json_array_size(t);
    double demand = wr_get_number(record, "demand.bytes_per_s") *
                    wr_get_number(record, "config.accelerators") / 1e6;
    struct wr_doc_series *line;
    struct wr_doc_chart *c;

    if (!rows || !json_array_size(wr_get_list(record, "series.mb_per_s")))
        return;
    c = wr_doc_chart(v->s, &spec);
    draw_column(v->d, c, record, "mb_per_s", "read");
    if (!(demand > 0) || rows < 2)
        return;
    line = wr_doc_series(c, "demand");
    wr_doc_series_is(line, WR_DOC_REFERENCE);
    wr_doc_point(line, wr_get_at(t, 0), demand);
    wr_doc_point(line, wr_get_at(t, rows - 1), demand);
}

/* --- reads --- */

/* Nanoseconds, as the record has them. */
static char *latency_text(char *buf, size_t cap, double ns)
{
    if (ns < 1e6)
        snprintf(buf, cap, "%.3g us", ns / 1e3);
    else
        wr_say_time(ns / 1e9, buf, cap);
    return buf;
}

static void add_bins(struct wr_pivot *p, const char *series, const json_t *list,
                     char *(*text)(char *, size_t, double))
{
    double total = 0;

    for (size_t i = 0; i < json_array_size(list) && i < BINS_MAX; i++)
        total += fmax(0, wr_get_number(json_array_get(list, i), "count"));
    for (size_t i = 0; i < json_array_size(list) && i < BINS_MAX; i++) {
        const json_t *bin = json_array_get(list, i);
        double from = wr_get_number(bin, "from"), to = wr_get_number(bin, "to");
        double count = wr_get_number(bin, "count");
        char label[96], a[32], b[32];

        if (!(from >= 0) || !(to >= from) || !(count >= 0) || !(total > 0))
            continue;
        snprintf(label, sizeof(label), "%s to %s", text(a, sizeof(a), from),
                 text(b, sizeof(b), to));
        wr_pivot_add(p, series, label, from, 100 * count / total);
    }
}

void wr_run_read_charts(struct wr_scope *v)
{
    const struct wr_view_record *r = v->r;
    size_t n = v->n;
    static const struct {
        const char *path, *title, *x;
        char *(*text)(char *, size_t, double);
    } charts[] = {{"reads.latencies", "How long reads took", "time of a read",
                   latency_text},
                  {"reads.sizes", "How large reads were", "bytes of a read",
                   wr_format_binary}};

    for (size_t k = 0; k < WR_ARRAY_LEN(charts); k++) {
        const struct wr_doc_chart_spec spec = {.kind = WR_DOC_BARS,
                                               .title = charts[k].title,
                                               .x = charts[k].x,
                                               .y = "% of all reads"};
        struct wr_pivot p = {0};

        for (size_t i = 0; i < n; i++)
            add_bins(&p, n > 1 ? r[i].label : "reads",
                     wr_get_list(r[i].json, charts[k].path), charts[k].text);
        wr_pivot_draw(&p, v->d, v->s, &spec);
    }
}

/* --- ranks --- */

void wr_run_rank_chart(struct wr_scope *v)
{
    const json_t *record = v->r->json;
    static const struct {
        const char *key, *name;
    } parts[] = {{"wait_s", "waiting for its batches"},
                 {"barrier_s", "waiting for slower ranks"}};
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_STACKED,
        .title = "Time that each rank lost",
        .x = "rank",
        .y = "seconds",
        .note = "A rank that waits for its batches and not for others is the "
                "one that they wait for."};
    const json_t *list = wr_get_list(record, "ranks");
    size_t n = WR_MIN(json_array_size(list), (size_t)BARS_MAX);
    struct wr_doc_chart *c;

    if (n < 2)
        return;
    c = wr_doc_chart(v->s, &spec);
    for (size_t i = 0; i < n; i++) {
        const json_t *o = json_array_get(list, i);
        const char *host = wr_get_text(o, "host");

        wr_doc_label(c, "%.0f%s%s%s", fmax(0, wr_get_number(o, "rank")),
                     *host ? " (" : "", host, *host ? ")" : "");
    }
    for (size_t k = 0; k < WR_ARRAY_LEN(parts); k++) {
        struct wr_doc_series *to = wr_doc_series(c, parts[k].name);

        for (size_t i = 0; i < n; i++)
            wr_doc_value(to,
                         wr_get_number(json_array_get(list, i), parts[k].key));
    }
}
