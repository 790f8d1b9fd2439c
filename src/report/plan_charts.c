/* plan_charts.c - charts of a plan.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/plan_charts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/named.h"
#include "report/plan_tables.h"
#include "report/points.h"
#include "result/get.h"
#include "result/plan.h"
#include "result/stats.h"

#define BARS_MAX   64   /* epochs or limits that are drawn */
#define POINTS_MAX 1000 /* of a line */
#define APART      20   /* times: limits further apart are logarithmic */
#define JOINED     200  /* batches that are joined by a line */
#define STALL      3    /* times the median: a step that stands out */

static const struct wr_plan_values *plan_of(const struct wr_row *r)
{
    return r->row->values;
}

static const struct wr_chart_series parts[] = {
    {"parts.computing", "computing", 1},
    {"parts.storage", "waiting for the storage", 1},
    {"parts.cores", "waiting for cores that decode", 1},
    {"parts.others", "waiting for the slowest, and the all-reduce", 1},
    {"parts.saves", "waiting for checkpoints", 1},
    {.key = NULL}};

#define EPOCH_CHART(as_far)                                                    \
    {                                                                          \
        .is = {WR_DOC_STACKED, "Where the time of each epoch goes", "epoch",   \
               "seconds",                                                      \
               "Mean of the accelerators" as_far                               \
               "; everything but computing is lost."},                         \
        .from = WR_FROM_RUN, .of = &wr_plan_epoch_vals,                        \
        .list = offsetof(struct wr_plan_values, result.epochs), .least = 1,    \
        .most = BARS_MAX, .series = parts, .label = wr_chart_place,            \
    }

const struct wr_chart_rule wr_plan_epoch_chart = EPOCH_CHART("");
const struct wr_chart_rule wr_plan_part_chart = EPOCH_CHART(
    ", as far as it was simulated");

static bool is_most(const struct wr_row *r)
{
    const struct wr_plan_capacity_point_values *point = r->run;

    return point->accelerators == plan_of(r)->capacity.accelerators;
}

const struct wr_chart_rule wr_plan_capacity_chart = {
    .is = {WR_DOC_LINES, "Utilization by number of accelerators",
           "accelerators per node", "utilization (%)",
           "Marked: the most that reach the target.", .most = 100},
    .from = WR_FROM_RUN,
    .of = &wr_plan_capacity_point_vals,
    .list = offsetof(struct wr_plan_values, capacity.points),
    .most = POINTS_MAX,
    .series = WR_SERIES({"utilization", "utilization", .01}),
    .label = wr_chart_records,
    .marked = is_most,
    .x = "accelerators",
    .target = "capacity.target"};

const struct wr_chart_rule wr_plan_rate_chart = {
    .is = {WR_DOC_BARS, "Samples per second of each plan", "", "samples/s",
           "Bound: the tightest limit, closed form."},
    .from = WR_FROM_CASE,
    .of = &wr_plan_vals,
    .series = WR_SERIES({"result.samples_per_s", "simulated", 1},
                        {"bounds.samples_per_s", "bound", 1}),
    .ceiling = true,
    .label = wr_chart_record};

static bool scales(const struct wr_case *row)
{
    const struct wr_plan_values *p = row->values;

    return p->scale.count > 1;
}

/* The last point is where it was not tried further. */
static bool is_bend(const struct wr_row *r)
{
    return r->i == wr_plan_knee(&plan_of(r)->scale) &&
           r->i + 1 < plan_of(r)->scale.count;
}

static const struct wr_chart_rule scale_rule = {
    .is = {WR_DOC_LINES, "Throughput by number of nodes", "nodes", "samples/s",
           "Marked: the knee, the last point within 95 % of linear scaling.",
           .log_x = true, .log_y = true},
    .from = WR_FROM_RUN,
    .of = &wr_plan_scale_vals,
    .list = offsetof(struct wr_plan_values, scale),
    .most = POINTS_MAX,
    .wanted = scales,
    .series = WR_SERIES({"samples_per_s", "simulated", 1}),
    .label = wr_chart_records,
    .marked = is_bend,
    .x = "nodes"};

/* Beside it what the first point gives for as many nodes. */
void wr_plan_scale_chart(struct wr_scope *v)
{
    struct wr_doc_chart *c = wr_chart_draw(v, &scale_rule);
    const struct wr_plan_scale_values *first, *point;
    const struct wr_case *row = v->c.v;
    const struct wr_list *scale;
    struct wr_doc_series *line;

    if (!c)
        return;
    while (!scales(row))
        row++;
    scale = &((const struct wr_plan_values *)row->values)->scale;
    line = wr_doc_series(c, "linear");
    wr_doc_series_is(line, WR_DOC_REFERENCE);
    first = scale->v;
    for (size_t k = 0; k < WR_MIN(scale->count, (size_t)POINTS_MAX); k++) {
        point = wr_list_at(scale, k);
        wr_doc_point(line, point->nodes,
                     first->samples_per_s / first->nodes * point->nodes);
    }
}

static const char *limit_label(const struct wr_row *r, char *buf, size_t cap)
{
    const struct wr_plan_limit_values *limit = r->run;

    return wr_plan_limit_name(limit->resource);
}

void wr_plan_limit_chart(struct wr_scope *v)
{
    const struct wr_plan_values *p = v->c.v->values;
    struct wr_chart_rule rule = {
        .is = {WR_DOC_BARS, "What each resource could do alone", "",
               "samples/s",
               "The lowest is the bottleneck, the next one is behind it."},
        .from = WR_FROM_RUN,
        .of = &wr_plan_limit_vals,
        .list = offsetof(struct wr_plan_values, bounds.limits),
        .least = 2,
        .most = BARS_MAX,
        .series = WR_SERIES({"samples_per_s", "at most", 1}),
        .label = limit_label};
    double low = INFINITY, high = 0;

    for (size_t i = 0; i < p->bounds.limits.count; i++) {
        const struct wr_plan_limit_values *limit = wr_list_at(&p->bounds.limits,
                                                              i);

        if (limit->samples_per_s > 0)
            low = fmin(low, limit->samples_per_s);
        high = fmax(high, limit->samples_per_s);
    }
    rule.is.log_y = high > APART * low;
    if (high > 0)
        wr_chart_draw(v, &rule);
}

/* --- over time --- */

/* Numbers of a list against `at`, or if that is NULL against their number;
 * stalls are marked. */
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

void wr_plan_step_chart(struct wr_scope *v)
{
    const struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_POINTS,
        .title = "Time of each step",
        .x = "step",
        .y = "time (ms)",
        .note = "Simulated, from start to start. Marked: over three times the "
                "median."};
    const json_t *list = wr_get_list(v->r->json, "step_ms");
    double usual = median_of(list);

    if (json_array_size(list))
        draw_times(v->d, wr_doc_series(wr_doc_chart(v->s, &spec), "step"),
                   &(struct series_of){
                       .values = list, .usual = usual, .above = STALL * usual});
}

void wr_plan_batch_chart(struct wr_scope *v)
{
    struct wr_doc_chart_spec spec = {
        .kind = WR_DOC_POINTS,
        .title = "Time of each batch, as it was seen",
        .x = "batch",
        .y = "time (ms)",
        .note = "From the batch before. The stalls are marked."};
    const struct wr_plan_values *p = v->c.v->values;
    const struct wr_plan_explain_values *e = &p->explain;
    const json_t *at = wr_get_list(v->r->json, "explain.batches");
    const json_t *ms = wr_get_list(v->r->json, "explain.ms");

    if (!json_array_size(ms) || !json_array_size(at))
        return;
    if (json_array_size(ms) <= JOINED) /* of few, the eye follows a line */
        spec.kind = WR_DOC_LINES;
    draw_times(v->d, wr_doc_series(wr_doc_chart(v->s, &spec), "batch"),
               &(struct series_of){.at = at,
                                   .values = ms,
                                   .usual = e->usual_ms,
                                   .above = e->usual_ms + e->stall_ms / 2,
                                   .period = e->period,
                                   .phase = e->phase});
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

/* A span of a record: [from_ms, to_ms, lane, batch, kind]. */
static bool take_span(const json_t *o, struct wr_doc_span *ret)
{
    double lane = wr_get_at(o, 2);
    const char *kind = json_string_value(json_array_get(o, 4));
    int k;

    *ret = (struct wr_doc_span){.from = wr_get_at(o, 0),
                                .to = wr_get_at(o, 1),
                                .number = wr_get_at(o, 3)};
    k = kind ? wr_named_index(WR_NAMED(kinds), kind) : -1;
    if (!(lane >= 0) || !(lane < LANES_MAX) || k < 0)
        return false;
    ret->lane = (size_t)lane;
    ret->look = kinds[k].look;
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

void wr_plan_life(struct wr_scope *v)
{
    double most = 0;

    for (size_t i = 0; i < v->n; i++)
        most = fmax(most, end_of(v->r[i].json));
    for (size_t i = 0; i < v->n; i++)
        one_life(v->d, v->s, &v->r[i], v->n > 1, v->n > 1 ? most : 0);
}
