/* plan_charts.c - charts of a plan.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/plan_charts.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "record/plan_tables.h"
#include "record/plan_words.h"
#include "record/points.h"
#include "result/get.h"
#include "result/stats.h"

#define BARS_MAX   64   /* epochs that are drawn */
#define CHANGES    16   /* of what-if that are drawn */
#define POINTS_MAX 1000 /* of a line */
#define APART      20   /* times: limits further apart are logarithmic */
#define JOINED     200  /* batches that are joined by a line */
#define STALL      3    /* times the median: a step that stands out */

/* --- over time --- */

void wr_plan_epoch_chart(struct wr_doc_section *s, const json_t *j)
{
    static const struct {
        const char *key, *name;
    } parts[] = {{"computing", "computing"},
                 {"storage", "waiting for the storage"},
                 {"cores", "waiting for cores that decode"},
                 {"others", "waiting for the slowest, and the all-reduce"},
                 {"saves", "waiting for checkpoints"}};
    struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_STACKED,
        .title = "Where the time of each epoch goes",
        .x = "epoch",
        .y = "seconds",
        .note = "Mean of the accelerators; everything but computing is lost."};
    const json_t *list = wr_get_list(j, "result.epochs");
    size_t n = WR_MIN(json_array_size(list), (size_t)BARS_MAX);
    struct wr_doc_chart *c;

    if (!n)
        return;
    if (wr_plan_is_partial(j))
        spec.note = "Mean of the accelerators, as far as it was simulated; "
                    "everything but computing is lost.";
    c = wr_doc_chart(s, &spec);
    for (size_t i = 0; i < n; i++)
        wr_doc_label(c, "%zu", i + 1);
    for (size_t k = 0; k < WR_ARRAY_LEN(parts); k++) {
        struct wr_doc_series *to = wr_doc_series(c, parts[k].name);

        for (size_t i = 0; i < n; i++)
            wr_doc_value(
                to,
                wr_get_number(wr_get_object(json_array_get(list, i), "parts"),
                              parts[k].key));
    }
}

/* Numbers of a list against `at`, or if that is NULL against their number;
 * those that `stalls` tells are marked. */
struct series_of {
    const json_t *at, *values;
    double usual, above; /* a stall is above */
    double period, phase;
};

static bool is_stall(const struct series_of *o, double x, double y)
{
    if (!(y > o->usual))
        return false;
    if (o->period >= 1)
        return fabs(fmod(x, o->period) - o->phase) < 0.5;
    return y > o->above;
}

static void draw_times(struct wr_doc *d, struct wr_doc_series *to,
                       const struct series_of *o)
{
    size_t n = json_array_size(o->values);
    struct wr_points p = {0};

    if (o->at)
        n = WR_MIN(n, json_array_size(o->at));
    for (size_t i = 0; i < n; i++) {
        double x = o->at ? wr_get_at(o->at, i) : (double)i + 1;
        double y = wr_get_at(o->values, i);

        if (isfinite(y))
            wr_points_add(&p, x, y, is_stall(o, x, y));
    }
    wr_points_draw(&p, d, to, WR_VIEW_SERIES_POINTS);
    wr_points_done(&p);
}

static double median_of(const json_t *list)
{
    size_t n = json_array_size(list);
    double *v = malloc((n + 1) * sizeof(*v)), median;

    if (!v)
        return NAN;
    for (size_t i = 0; i < n; i++)
        v[i] = wr_get_at(list, i);
    median = wr_stats_median(v, n);
    free(v);
    return median;
}

void wr_plan_step_chart(struct wr_doc *d, struct wr_doc_section *s,
                        const json_t *j)
{
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_POINTS,
        .title = "Time of each step",
        .x = "step",
        .y = "time (ms)",
        .note = "Simulated, from start to start. Marked: over three times the "
                "median."};
    const json_t *list = wr_get_list(j, "step_ms");
    double usual = median_of(list);

    if (!json_array_size(list))
        return;
    draw_times(d, wr_doc_series(wr_doc_chart(s, &spec), "step"),
               &(struct series_of){
                   .values = list, .usual = usual, .above = STALL * usual});
}

void wr_plan_batch_chart(struct wr_doc *d, struct wr_doc_section *s,
                         const json_t *j)
{
    struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_POINTS,
        .title = "Time of each batch, as it was seen",
        .x = "batch",
        .y = "time (ms)",
        .note = "From the batch before. The stalls are marked."};
    const json_t *e = wr_get_object(j, "explain");
    const json_t *at = wr_get_list(e, "batches"), *ms = wr_get_list(e, "ms");
    double usual = wr_get_number(e, "usual_ms");
    double stall = wr_get_number(e, "stall_ms");

    if (!json_array_size(ms) || !json_array_size(at))
        return;
    if (json_array_size(ms) <= JOINED) /* of few, the eye follows a line */
        spec.kind = WR_DOC_LINES;
    draw_times(d, wr_doc_series(wr_doc_chart(s, &spec), "batch"),
               &(struct series_of){.at = at,
                                   .values = ms,
                                   .usual = usual,
                                   .above = usual + stall / 2,
                                   .period = wr_get_number(e, "period"),
                                   .phase = wr_get_number(e, "phase")});
}

/* --- bars --- */

void wr_plan_limit_chart(struct wr_doc_section *s, const json_t *j)
{
    struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_BARS,
        .title = "What each resource could do alone",
        .x = "",
        .y = "samples/s",
        .note = "The lowest is the bottleneck, the next one is behind it."};
    const json_t *list = wr_get_list(j, "bounds.limits");
    size_t n = WR_MIN(json_array_size(list), (size_t)BARS_MAX);
    double low = INFINITY, high = 0;
    struct wr_doc_series *to;
    struct wr_doc_chart *c;

    for (size_t i = 0; i < n; i++) {
        double v = wr_get_number(json_array_get(list, i), "samples_per_s");

        low = v > 0 ? fmin(low, v) : low;
        high = fmax(high, v);
    }
    if (n < 2 || !(high > 0))
        return;
    spec.log_y = high > APART * low;
    c = wr_doc_chart(s, &spec);
    to = wr_doc_series(c, "at most");
    for (size_t i = 0; i < n; i++) {
        const json_t *o = json_array_get(list, i);

        wr_doc_label(c, "%s", wr_plan_limit_name(wr_get_text(o, "resource")));
        wr_doc_value(to, wr_get_number(o, "samples_per_s"));
    }
}

void wr_plan_change_chart(struct wr_doc_section *s, const json_t *j)
{
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_BARS,
        .title = "What if: samples per second with each change",
        .x = "",
        .y = "samples/s",
        .note = "One change at a time, the largest gain first."};
    const json_t *list[WR_PLAN_CHANGES];
    size_t n = wr_plan_changes(j, list, CHANGES);
    struct wr_doc_series *now, *then;
    struct wr_doc_chart *c;

    if (!n)
        return;
    c = wr_doc_chart(s, &spec);
    then = wr_doc_series(c, "changed");
    now = wr_doc_series(c, "now");
    wr_doc_series_is(now, WR_DOC_REFERENCE);
    wr_doc_label(c, "as it is");
    wr_doc_value(now, wr_get_number(j, "result.samples_per_s"));
    wr_doc_value(then, NAN);
    for (size_t i = 0; i < n; i++) {
        const char *what = wr_get_text(list[i], "what");

        wr_doc_label(c, "%.80s", *what ? what : wr_get_text(list[i], "name"));
        wr_doc_value(then, wr_get_number(list[i], "samples_per_s"));
    }
}

void wr_plan_rate_chart(struct wr_doc_section *s,
                        const struct wr_view_record *r, size_t n)
{
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_BARS,
        .title = "Samples per second of each plan",
        .x = "",
        .y = "samples/s",
        .note = "Bound: the tightest limit, closed form."};
    struct wr_doc_chart *c = wr_doc_chart(s, &spec);
    struct wr_doc_series *rate = wr_doc_series(c, "simulated");
    struct wr_doc_series *most = wr_doc_series(c, "bound");

    wr_doc_series_is(most, WR_DOC_CEILING);
    for (size_t i = 0; i < n; i++) {
        wr_doc_label(c, "%s", r[i].label);
        wr_doc_value(rate, wr_get_number(r[i].json, "result.samples_per_s"));
        wr_doc_value(most, wr_get_number(r[i].json, "bounds.samples_per_s"));
    }
}

/* --- lines --- */

void wr_plan_capacity_chart(struct wr_doc_section *s,
                            const struct wr_view_record *r, size_t n)
{
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_LINES,
        .title = "Utilization by number of accelerators",
        .x = "accelerators per node",
        .y = "utilization (%)",
        .note = "Marked: the most that reach the target.",
        .most = 100};
    double from = INFINITY, to = -INFINITY, target = NAN;
    struct wr_doc_chart *c = NULL;
    struct wr_doc_series *line;

    for (size_t i = 0; i < n; i++) {
        const json_t *list = wr_get_list(r[i].json, "capacity.points");
        double most = wr_get_number(r[i].json, "capacity.accelerators");

        if (!json_array_size(list))
            continue;
        c = c ? c : wr_doc_chart(s, &spec);
        line = wr_doc_series(c, n > 1 ? r[i].label : "utilization");
        for (size_t k = 0; k < json_array_size(list) && k < POINTS_MAX; k++) {
            const json_t *o = json_array_get(list, k);
            double x = wr_get_number(o, "accelerators");

            wr_doc_point(line, x, 100 * wr_get_number(o, "utilization"));
            if (x == most)
                wr_doc_mark(line);
            from = fmin(from, x);
            to = fmax(to, x);
        }
        target = wr_get_number(r[i].json, "capacity.target");
    }
    if (!c || !(target > 0) || !(from < to))
        return;
    line = wr_doc_series(c, "target");
    wr_doc_series_is(line, WR_DOC_REFERENCE);
    wr_doc_point(line, from, 100 * target);
    wr_doc_point(line, to, 100 * target);
}

/* What the first point gives for as many nodes. */
static void linear_line(struct wr_doc_chart *c, const json_t *list)
{
    const json_t *first = json_array_get(list, 0);
    double each = wr_get_number(first, "samples_per_s") /
                  wr_get_number(first, "nodes");
    struct wr_doc_series *line = wr_doc_series(c, "linear");

    wr_doc_series_is(line, WR_DOC_REFERENCE);
    for (size_t k = 0; k < json_array_size(list) && k < POINTS_MAX; k++) {
        double x = wr_get_number(json_array_get(list, k), "nodes");

        wr_doc_point(line, x, each * x);
    }
}

void wr_plan_scale_chart(struct wr_doc_section *s,
                         const struct wr_view_record *r, size_t n)
{
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_LINES,
        .title = "Throughput by number of nodes",
        .x = "nodes",
        .y = "samples/s",
        .note = "Marked: the knee, the last point within 95 % of linear "
                "scaling.",
        .log_x = true,
        .log_y = true};
    struct wr_doc_chart *c = NULL;
    const json_t *list = NULL;

    for (size_t i = 0; i < n; i++) {
        const json_t *one = wr_get_list(r[i].json, "scale");
        size_t knee = wr_plan_knee(r[i].json);
        struct wr_doc_series *line;

        if (json_array_size(one) < 2)
            continue;
        list = list ? list : one;
        c = c ? c : wr_doc_chart(s, &spec);
        line = wr_doc_series(c, n > 1 ? r[i].label : "simulated");
        for (size_t k = 0; k < json_array_size(one) && k < POINTS_MAX; k++) {
            const json_t *o = json_array_get(one, k);

            wr_doc_point(line, wr_get_number(o, "nodes"),
                         wr_get_number(o, "samples_per_s"));
            if (k == knee && k + 1 < json_array_size(one))
                wr_doc_mark(line);
        }
    }
    if (c)
        linear_line(c, list);
}

/* --- the life of a batch: lanes of workers, queue, accelerators --- */

#define LANES_MAX 64
#define SPANS_MAX 20000

/* Kinds of spans in a record. */
static const struct {
    const char *kind;
    enum wr_doc_look look;
    const char *name;
} kinds[] = {{"read", WR_DOC_LOOK_DOTTED, "reading"},
             {"decode", WR_DOC_LOOK_STRIPED, "decoding"},
             {"compute", WR_DOC_LOOK_SOLID, "computing"},
             {"queued", WR_DOC_LOOK_THIN, "ready, in the queue"},
             {"wait", WR_DOC_LOOK_HATCHED, "waiting"},
             {"save", WR_DOC_LOOK_CROSSED, "saving"}};

static bool look_of(const char *kind, enum wr_doc_look *ret)
{
    for (size_t i = 0; i < WR_ARRAY_LEN(kinds); i++)
        if (!strcmp(kind, kinds[i].kind)) {
            *ret = kinds[i].look;
            return true;
        }
    return false;
}

/* A span of a record: [from_ms, to_ms, lane, batch, kind]. */
static bool take_span(const json_t *o, struct wr_doc_span *ret)
{
    double lane = wr_get_at(o, 2);
    const char *kind = json_string_value(json_array_get(o, 4));

    *ret = (struct wr_doc_span){.from = wr_get_at(o, 0),
                                .to = wr_get_at(o, 1),
                                .number = wr_get_at(o, 3)};
    if (!(lane >= 0) || !(lane < LANES_MAX) || !kind ||
        !look_of(kind, &ret->look))
        return false;
    ret->lane = (size_t)lane;
    return isfinite(ret->from) && isfinite(ret->to);
}

static int by_begin(const void *a, const void *b)
{
    const struct wr_doc_span *x = a, *y = b;

    return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
                              : (x->to > y->to) - (x->to < y->to);
}

static double end_of(const json_t *j)
{
    const json_t *list = wr_get_list(j, "life.spans");
    double end = 0;

    for (size_t i = 0; i < json_array_size(list) && i < SPANS_MAX; i++)
        end = fmax(end, wr_get_at(json_array_get(list, i), 1));
    return end;
}

static void add_spans(struct wr_doc *d, struct wr_doc_lanes *l,
                      const json_t *list)
{
    size_t n = WR_MIN(json_array_size(list), (size_t)SPANS_MAX), count = 0;
    struct wr_doc_span *v = calloc(n + 1, sizeof(*v));

    if (!v) {
        wr_doc_fail(d);
        return;
    }
    for (size_t i = 0; i < n; i++)
        count += take_span(json_array_get(list, i), &v[count]);
    qsort(v, count, sizeof(*v), by_begin);
    for (size_t i = 0; i < count; i++)
        wr_doc_span(l, &v[i]);
    free(v);
}

/* The last lane is of saves: without any it tells nothing. */
static size_t count_lanes(const json_t *j)
{
    const json_t *spans = wr_get_list(j, "life.spans");
    size_t n = json_array_size(wr_get_list(j, "life.lanes"));

    for (size_t i = 0; n > 1 && i < json_array_size(spans); i++)
        if (wr_get_at(json_array_get(spans, i), 2) == (double)(n - 1))
            return n;
    return n > 1 ? n - 1 : n;
}

static void one_life(struct wr_doc *d, struct wr_doc_section *s,
                     const struct wr_view_record *r, bool many, double most)
{
    const json_t *names = wr_get_list(r->json, "life.lanes");
    const json_t *spans = wr_get_list(r->json, "life.spans");
    size_t n = count_lanes(r->json);
    char title[WR_VIEW_NAME], note[WR_VIEW_NAME];
    struct wr_doc_lanes *l;

    if (!n || !json_array_size(spans))
        return;
    snprintf(title, sizeof(title), "The life of a batch%s%.200s",
             many ? ": " : "", many ? r->label : "");
    snprintf(note, sizeof(note), "Hatched time is lost.");
    if (n > LANES_MAX || json_array_size(spans) > SPANS_MAX)
        snprintf(note, sizeof(note),
                 "Hatched time is lost. Of %zu lanes and %zu spans the first "
                 "are drawn.",
                 n, json_array_size(spans));
    l = wr_doc_lanes(s, &(struct wr_doc_lanes_spec){.title = title,
                                                    .x = "time (ms)",
                                                    .thing = "batch",
                                                    .note = note,
                                                    .most = most});
    for (size_t i = 0; i < n && i < LANES_MAX; i++) {
        const char *name = json_string_value(json_array_get(names, i));

        wr_doc_lane(l, name ? name : "");
    }
    for (size_t i = 0; i < WR_ARRAY_LEN(kinds); i++)
        wr_doc_lanes_look(l, kinds[i].look, kinds[i].name);
    add_spans(d, l, spans);
}

void wr_plan_life(struct wr_doc *d, struct wr_doc_section *s,
                  const struct wr_view_record *r, size_t n)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, end_of(r[i].json));
    for (size_t i = 0; i < n; i++)
        one_life(d, s, &r[i], n > 1, n > 1 ? most : 0);
}
