/* chart.c - charts by rule: which values of the rows of a section are drawn.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/chart.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "report/pivot.h"
#include "report/points.h"
#include "report/say.h"
#include "result/get.h"

/* Of shares that are summed up: rounding must not make that more than all. */
#define ROUNDING 1e-9

#define COLUMNS_BESIDE 8 /* charts of columns that a page may have */

static double in_unit(double x, double unit)
{
    return unit > 1   ? x / unit
           : unit > 0 ? x * round(1 / unit) /* 100 * x is not x / 0.01 */
                      : x;
}

/* --- columns of a record --- */

static bool has_values(const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (wr_get_at(list, i) != 0 && !isnan(wr_get_at(list, i)))
            return true;
    return false;
}

void wr_chart_column(struct wr_scope *v, const struct wr_chart_rule *rule,
                     const json_t *table, const struct wr_chart_series *s,
                     size_t limit, struct wr_doc_chart **chart)
{
    const json_t *t = wr_get_list(table, rule->x);
    const json_t *list = wr_get_list(table, s->key);
    size_t n = WR_MIN(json_array_size(t), json_array_size(list));
    struct wr_points p = {0};

    if (rule->if_any && !has_values(list))
        return;
    for (size_t i = 0; i < n; i++)
        if (rule->gaps || isfinite(wr_get_at(list, i)))
            wr_points_add(&p, wr_get_at(t, i),
                          in_unit(wr_get_at(list, i), s->unit), false);
    if (p.count && !*chart)
        *chart = wr_doc_chart(v->s, &rule->is);
    if (p.count)
        wr_points_draw(&p, v->d, wr_doc_series(*chart, s->name), limit);
    wr_points_done(&p);
}

static struct wr_doc_chart *draw_columns(struct wr_scope *v,
                                         const struct wr_chart_rule *rule)
{
    const json_t *table = wr_get_object(v->r->json, rule->columns);
    struct wr_doc_chart *chart = NULL;
    size_t columns = 0;

    while (rule->series[columns].key)
        columns++;
    for (size_t i = 0; i < columns; i++)
        wr_chart_column(v, rule, table, &rule->series[i],
                        rule->gaps ? wr_view_share(columns * COLUMNS_BESIDE)
                                   : WR_VIEW_SERIES_POINTS,
                        &chart);
    return chart;
}

/* --- rows --- */

static struct wr_list items_of(const struct wr_chart_rule *rule,
                               const struct wr_case *row)
{
    struct wr_list l = {.count = 1};

    if (rule->from == WR_FROM_RUN)
        l = rule->list
                ? *(const struct wr_list *)(const void *)((const char *)
                                                              row->values +
                                                          rule->list)
                : row->list;
    if (rule->wanted && !rule->wanted(row))
        l.count = 0;
    if (rule->most)
        l.count = WR_MIN(l.count, rule->most);
    return l;
}

static const void *values_of(const struct wr_chart_rule *rule,
                             const struct wr_row *r)
{
    return rule->from == WR_FROM_RUN      ? r->run
           : rule->from == WR_FROM_MEDIAN ? r->row->median
                                          : r->row->values;
}

/* What is done with each item; its number is told. */
struct chart_walk {
    struct wr_scope *v;
    const struct wr_chart_rule *rule;
    const struct wr_chart_series *series;
    struct wr_pivot *pivot;
    struct wr_doc_chart *chart;
    struct wr_doc_series *line;
    double from, to; /* of x */
    bool any;
    size_t record; /* of `apart` */
};

static void each_item(struct chart_walk *w,
                      void (*visit)(struct chart_walk *w,
                                    const struct wr_row *r))
{
    for (size_t k = 0; k < w->v->c.count; k++) {
        const struct wr_case *row = &w->v->c.v[k];
        const struct wr_list l = items_of(w->rule, row);

        if (w->rule->apart && row->record != w->record)
            continue;
        for (size_t i = 0; i < l.count; i++)
            visit(w, &(struct wr_row){&w->v->c, k, i, row,
                                      l.v ? wr_list_at(&l, i) : NULL});
    }
}

static double number_of(const struct chart_walk *w, const struct wr_row *r)
{
    if (w->rule->number && !*w->series->key)
        return w->rule->number(r);
    return in_unit(
        wr_vals_number(w->rule->of, values_of(w->rule, r), w->series->key),
        w->series->unit);
}

static void look_for_any(struct chart_walk *w, const struct wr_row *r)
{
    w->any |= number_of(w, r) > 0;
}

/* NaN if they do not have the same. */
static double common_target(const struct chart_walk *w)
{
    const struct wr_cases *c = &w->v->c;
    double target = NAN;

    for (size_t k = 0; k < c->count && w->rule->target; k++) {
        double own = wr_vals_number(w->v->view->rows->of, c->v[k].values,
                                    w->rule->target);

        if (k && own != target)
            return NAN;
        target = own;
    }
    return target > 0 ? in_unit(target, w->rule->series->unit) : NAN;
}

static void add_bar(struct chart_walk *w, const struct wr_row *r)
{
    char label[WR_VIEW_NAME], by[WR_VIEW_NAME] = "";
    const char *name = w->rule->by ? w->rule->by(r, by, sizeof(by)) : "";

    double x = number_of(w, r);

    if (w->rule->is.kind == WR_DOC_STACKED && w->rule->is.most > 0)
        x *= 1 - ROUNDING;
    wr_pivot_add(w->pivot, *name ? name : w->series->name,
                 w->rule->label(r, label, sizeof(label)), NAN, x);
    if (w->rule->ceiling && !w->series[1].key)
        wr_pivot_role(w->pivot, WR_DOC_CEILING);
}

static void add_target(struct chart_walk *w, const struct wr_row *r)
{
    char label[WR_VIEW_NAME];

    wr_pivot_add(w->pivot, "target", w->rule->label(r, label, sizeof(label)),
                 NAN, common_target(w));
    wr_pivot_role(w->pivot, WR_DOC_CEILING);
}

static void draw_bars(struct chart_walk *w)
{
    const struct wr_view_record *r = &w->v->r[w->record];
    bool named = w->rule->apart && w->v->n > 1;
    struct wr_doc_chart_spec is = w->rule->is;
    char title[WR_VIEW_NAME];
    struct wr_pivot p = {0};

    snprintf(title, sizeof(title), "%s%s%s", is.title, named ? ": " : "",
             named ? r->label : "");
    is.title = title;
    w->pivot = &p;
    for (w->series = w->rule->series; w->series->key; w->series++) {
        w->any = !w->rule->if_any;
        if (!w->any)
            each_item(w, look_for_any);
        if (w->any)
            each_item(w, add_bar);
    }
    if (common_target(w) > 0)
        each_item(w, add_target);
    wr_pivot_draw(&p, w->v->d, w->v->s, &is);
}

static void add_point(struct chart_walk *w, const struct wr_row *r)
{
    double x = wr_vals_number(w->rule->of, values_of(w->rule, r), w->rule->x);
    char name[WR_VIEW_NAME] = "";

    if (!r->i) {
        const char *text = w->rule->label(r, name, sizeof(name));

        if (!w->chart)
            w->chart = wr_doc_chart(w->v->s, &w->rule->is);
        w->line = wr_doc_series(w->chart, *text ? text : w->series->name);
    }
    wr_doc_point(w->line, x, number_of(w, r));
    if (w->rule->marked && w->rule->marked(r))
        wr_doc_mark(w->line);
    w->from = fmin(w->from, x);
    w->to = fmax(w->to, x);
}

static struct wr_doc_chart *draw_points(struct chart_walk *w)
{
    double target = common_target(w);
    struct wr_doc_series *line;

    w->from = INFINITY;
    w->to = -INFINITY;
    w->series = w->rule->series;
    each_item(w, add_point);
    if (!w->chart || !(target > 0) || !(w->from <= w->to))
        return w->chart;
    line = wr_doc_series(w->chart, "target");
    wr_doc_series_is(line, WR_DOC_REFERENCE);
    wr_doc_point(line, w->from, target);
    if (w->to > w->from)
        wr_doc_point(line, w->to, target);
    return w->chart;
}

struct wr_doc_chart *wr_chart_draw(struct wr_scope *v,
                                   const struct wr_chart_rule *rule)
{
    struct chart_walk w = {.v = v, .rule = rule};
    size_t items = 0;

    if (rule->columns)
        return draw_columns(v, rule);
    for (size_t k = 0; k < v->c.count; k++)
        items += items_of(rule, &v->c.v[k]).count;
    if (items < rule->least)
        return NULL;
    if (rule->x)
        return draw_points(&w);
    for (; w.record < (rule->apart ? v->n : 1); w.record++)
        draw_bars(&w);
    return NULL;
}

const char *wr_chart_case(const struct wr_row *r, char *buf, size_t cap)
{
    return wr_cases_name(r->c, r->k, "all", buf, cap);
}

const char *wr_chart_record(const struct wr_row *r, char *buf, size_t cap)
{
    return r->c->records[r->row->record].label;
}

const char *wr_chart_records(const struct wr_row *r, char *buf, size_t cap)
{
    return r->c->record_count > 1 ? wr_chart_record(r, buf, cap) : "";
}

const char *wr_chart_run(const struct wr_row *r, char *buf, size_t cap)
{
    const char *label = wr_chart_records(r, buf, cap);

    return *label ? label : "this run";
}

const char *wr_chart_place(const struct wr_row *r, char *buf, size_t cap)
{
    snprintf(buf, cap, "%zu", r->i + 1);
    return buf;
}
