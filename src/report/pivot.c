/* pivot.c - values by series and label, drawn as bars or lines.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/pivot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/view.h"

#define NONE SIZE_MAX

struct axis_names {
    struct wr_pivot_name **list;
    size_t *count, *cap, max;
};

/* Number of the name in the list, which it may be added to. */
static size_t name_of(struct wr_pivot *p, struct axis_names to,
                      const char *text, double at)
{
    struct wr_pivot_name name = {.at = at};

    for (size_t i = *to.count; i > 0; i--) /* mostly it is the last one */
        if (!strcmp((*to.list)[i - 1].text, text))
            return i - 1;
    if (*to.count == to.max) {
        p->cut = true;
        return NONE;
    }
    name.text = strdup(text);
    if (!name.text || !wr_grow(to.list, to.cap, *to.count + 1, sizeof(name))) {
        free(name.text);
        p->failed = true;
        return NONE;
    }
    (*to.list)[*to.count] = name;
    return (*to.count)++;
}

void wr_pivot_add(struct wr_pivot *p, const char *series, const char *label,
                  double at, double value)
{
    struct wr_pivot_entry e = {.value = value, .low = NAN, .high = NAN};

    e.series = name_of(p,
                       (struct axis_names){&p->series, &p->series_count,
                                           &p->series_cap, WR_PIVOT_SERIES_MAX},
                       series, 0);
    e.label = name_of(p,
                      (struct axis_names){&p->labels, &p->label_count,
                                          &p->label_cap, WR_PIVOT_LABELS_MAX},
                      label, at);
    if (e.series == NONE || e.label == NONE)
        return;
    if (p->failed || !wr_grow(&p->v, &p->cap, p->count + 1, sizeof(e))) {
        p->failed = true;
        return;
    }
    p->v[p->count++] = e;
}

void wr_pivot_mark(struct wr_pivot *p)
{
    if (p->count)
        p->v[p->count - 1].marked = true;
}

void wr_pivot_role(struct wr_pivot *p, enum wr_doc_role role)
{
    if (p->count)
        p->series[p->v[p->count - 1].series].role = role;
}

void wr_pivot_range(struct wr_pivot *p, double low, double high)
{
    if (!p->count)
        return;
    p->v[p->count - 1].low = low;
    p->v[p->count - 1].high = high;
}

/* The order of labels: by their place, those without one behind as they
 * came. */
static void order_labels(const struct wr_pivot *p, size_t *order)
{
    for (size_t i = 0; i < p->label_count; i++) {
        double at = p->labels[i].at;
        size_t k = i;

        for (; k > 0 && !isnan(at) && !(p->labels[order[k - 1]].at <= at); k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

/* The entry of each series and label; NULL where there is none. */
static const struct wr_pivot_entry **make_matrix(const struct wr_pivot *p)
{
    const struct wr_pivot_entry **m = calloc(p->series_count * p->label_count,
                                             sizeof(const void *));

    for (size_t i = 0; m && i < p->count; i++) {
        size_t at = p->v[i].series * p->label_count + p->v[i].label;

        if (!m[at])
            m[at] = &p->v[i];
    }
    return m;
}

/* What is drawn: which labels, in which order. */
struct pivot_plan {
    const struct wr_pivot *p;
    const struct wr_pivot_entry **matrix;
    size_t *order;
    bool lines; /* points have an x of their own */
};

static void draw_series(const struct pivot_plan *plan,
                        struct wr_doc_chart *chart, size_t series)
{
    const struct wr_pivot *p = plan->p;
    struct wr_doc_series *to = wr_doc_series(chart, p->series[series].text);

    if (p->series[series].role)
        wr_doc_series_is(to, p->series[series].role);
    for (size_t k = 0; k < p->label_count; k++) {
        const struct wr_pivot_entry *e =
            plan->matrix[series * p->label_count + plan->order[k]];
        double at = p->labels[plan->order[k]].at;

        if (!plan->lines)
            wr_doc_value_range(to, e ? e->value : NAN, e ? e->low : NAN,
                               e ? e->high : NAN);
        else if (e && !isnan(at) && !isnan(e->value))
            wr_doc_point(to, at, e->value);
        else
            continue;
        if (e && e->marked)
            wr_doc_mark(to);
    }
}

static void draw_all(const struct pivot_plan *plan, struct wr_doc_section *s,
                     const struct wr_doc_chart_spec *spec)
{
    const struct wr_pivot *p = plan->p;
    /* The parts of a stack stay together. */
    size_t step = spec->kind == WR_DOC_STACKED ? WR_PIVOT_SERIES_MAX
                                               : WR_PIVOT_CHART_MAX;
    size_t charts = (p->series_count + step - 1) / step;
    char title[WR_VIEW_NAME], note[2 * WR_VIEW_NAME];
    struct wr_doc_chart_spec own = *spec;
    struct wr_doc_chart *chart = NULL;

    snprintf(note, sizeof(note), "%s%s%s", spec->note ? spec->note : "",
             p->cut && spec->note && *spec->note ? " " : "",
             p->cut ? "Not all are drawn; the tables have the others." : "");
    own.note = note;
    own.title = title;
    for (size_t i = 0; i < p->series_count; i++) {
        if (i % step == 0) {
            snprintf(title, sizeof(title), "%s", spec->title);
            if (charts > 1)
                snprintf(title, sizeof(title), "%s (%zu of %zu)", spec->title,
                         i / step + 1, charts);
            chart = wr_doc_chart(s, &own);
            for (size_t k = 0; !plan->lines && k < p->label_count; k++)
                wr_doc_label(chart, "%s", p->labels[plan->order[k]].text);
        }
        draw_series(plan, chart, i);
    }
}

static bool has_number(const struct wr_pivot *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (isfinite(p->v[i].value))
            return true;
    return false;
}

static void done(struct wr_pivot *p)
{
    for (size_t i = 0; i < p->series_count; i++)
        free(p->series[i].text);
    for (size_t i = 0; i < p->label_count; i++)
        free(p->labels[i].text);
    free(p->series);
    free(p->labels);
    free(p->v);
    *p = (struct wr_pivot){0};
}

void wr_pivot_draw(struct wr_pivot *p, struct wr_doc *d,
                   struct wr_doc_section *s,
                   const struct wr_doc_chart_spec *spec)
{
    struct pivot_plan plan = {.p = p,
                              .lines = spec->kind != WR_DOC_BARS &&
                                       spec->kind != WR_DOC_STACKED};

    if (p->failed)
        wr_doc_fail(d);
    if (!p->failed && has_number(p)) {
        plan.matrix = make_matrix(p);
        plan.order = calloc(p->label_count, sizeof(*plan.order));
        if (plan.matrix && plan.order) {
            order_labels(p, plan.order);
            draw_all(&plan, s, spec);
        } else {
            wr_doc_fail(d);
        }
        free(plan.matrix);
        free(plan.order);
    }
    done(p);
}
