/* doc_lanes.c - lanes over time of a document: who does what, and when.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/doc_lanes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/doc_private.h"

#define SLACK 1e-4 /* of the axis: less is no overlap */

struct wr_doc_lanes *wr_doc_lanes(struct wr_doc_section *s,
                                  const struct wr_doc_lanes_spec *spec)
{
    struct wr_doc_lanes *l = wr_doc_item_new(s, sizeof(*l));

    if (!l)
        return NULL;
    l->doc = s->doc;
    l->title = wr_doc_copy(s->doc, spec->title);
    l->x = wr_doc_copy(s->doc, spec->x);
    l->thing = wr_doc_copy(s->doc, spec->thing);
    l->note = wr_doc_copy(s->doc, spec->note);
    l->most = isfinite(spec->most) ? spec->most : 0;
    for (size_t i = 0; i < WR_DOC_LOOKS; i++)
        l->looks[i] = wr_doc_copy(s->doc, "");
    s->items[s->item_count++] = (struct wr_doc_item){.lanes = l};
    return l;
}

void wr_doc_lane(struct wr_doc_lanes *l, const char *name)
{
    if (!l || !wr_doc_grow(l->doc, &l->names, &l->lane_cap, l->lane_count,
                           sizeof(*l->names)))
        return;
    l->names[l->lane_count++] = wr_doc_copy(l->doc, name);
}

void wr_doc_lanes_look(struct wr_doc_lanes *l, enum wr_doc_look look,
                       const char *name)
{
    if (l)
        l->looks[look] = wr_doc_copy(l->doc, name);
}

void wr_doc_span(struct wr_doc_lanes *l, const struct wr_doc_span *span)
{
    if (!l || span->lane >= l->lane_count || !isfinite(span->from) ||
        !isfinite(span->to) || !(span->to >= span->from) ||
        !wr_doc_grow(l->doc, &l->spans, &l->span_cap, l->span_count,
                     sizeof(*l->spans)))
        return;
    l->spans[l->span_count++] = *span;
}

bool wr_doc_lanes_are_empty(const struct wr_doc_lanes *l)
{
    double from, to;

    wr_doc_lanes_ends(l, &from, &to);
    return !(to > from);
}

void wr_doc_lanes_ends(const struct wr_doc_lanes *l, double *ret_from,
                       double *ret_to)
{
    double from = INFINITY, to = -INFINITY;

    for (size_t i = 0; i < l->span_count; i++) {
        from = fmin(from, l->spans[i].from);
        to = fmax(to, l->spans[i].to);
    }
    *ret_from = from > 0 && from < to / 4 ? 0 : from;
    *ret_to = to > -INFINITY ? fmax(to, l->most) : to;
}

bool wr_doc_lanes_has(const struct wr_doc_lanes *l, enum wr_doc_look look)
{
    for (size_t i = 0; i < l->span_count; i++)
        if (l->spans[i].look == look)
            return true;
    return false;
}

bool wr_doc_rows_init(struct wr_doc_rows *r, const struct wr_doc_lanes *l)
{
    double *ends = calloc(l->lane_count * WR_DOC_ROWS_MAX + 1, sizeof(*ends));
    double from, to, slack;

    *r = (struct wr_doc_rows){
        .counts = calloc(l->lane_count + 1, sizeof(*r->counts)),
        .first = calloc(l->lane_count + 1, sizeof(*r->first)),
        .row = calloc(l->span_count + 1, sizeof(*r->row))};
    if (!ends || !r->counts || !r->first || !r->row) {
        free(ends);
        wr_doc_rows_done(r);
        return false;
    }
    wr_doc_lanes_ends(l, &from, &to);
    slack = l->span_count ? SLACK * (to - from) : 0;
    for (size_t i = 0; i < l->span_count; i++) {
        const struct wr_doc_span *s = &l->spans[i];
        double *free_at = ends + s->lane * WR_DOC_ROWS_MAX;
        size_t row = 0, n = r->counts[s->lane];

        /* What ends when the next one begins leaves room for it, even if the
         * numbers were rounded. */
        while (row < n && free_at[row] > s->from + slack)
            row++;
        row = WR_MIN(row, (size_t)WR_DOC_ROWS_MAX - 1);
        r->counts[s->lane] = WR_MAX(n, row + 1);
        free_at[row] = fmax(free_at[row], s->to);
        r->row[i] = row;
    }
    for (size_t i = 0; i < l->lane_count; i++) {
        r->counts[i] = WR_MAX(r->counts[i], (size_t)1);
        r->first[i] = r->total;
        r->total += r->counts[i];
    }
    for (size_t i = 0; i < l->span_count; i++)
        r->row[i] += r->first[l->spans[i].lane];
    free(ends);
    return true;
}

void wr_doc_rows_done(struct wr_doc_rows *r)
{
    free(r->counts);
    free(r->first);
    free(r->row);
    *r = (struct wr_doc_rows){0};
}

/* Parts of a cell that looks have of it, and the largest span of each. */
struct lane_share {
    double cover[WR_DOC_LOOKS], most[WR_DOC_LOOKS], number[WR_DOC_LOOKS];
    bool middle; /* the middle of a span is here: it must show */
};

static void add_share(struct lane_share *v, size_t columns,
                      const struct wr_doc_span *s, double from, double to)
{
    size_t middle = WR_MIN((size_t)((from + to) / 2), columns - 1);

    v[middle].middle = true;
    for (size_t i = (size_t)from; i < columns && (double)i <= to; i++) {
        double part = fmin(to, (double)i + 1) - fmax(from, (double)i);

        v[i].cover[s->look] += part;
        if (part < v[i].most[s->look])
            continue;
        v[i].most[s->look] = part;
        v[i].number[s->look] = s->number;
    }
}

static void choose(const struct lane_share *v, struct wr_doc_lane_cell *ret)
{
    double sum = 0, most = -1;

    *ret = (struct wr_doc_lane_cell){.number = NAN};
    for (enum wr_doc_look k = 0; k < WR_DOC_LOOKS; k++) {
        sum += v->cover[k];
        if (!(v->cover[k] > most) || !(v->cover[k] > 0 || v->middle))
            continue;
        most = v->cover[k];
        ret->look = k;
        ret->number = v->number[k];
    }
    ret->any = sum >= 0.5 || (v->middle && sum > 0);
}

bool wr_doc_lanes_cells(const struct wr_doc_lanes *l,
                        const struct wr_doc_rows *r, size_t row,
                        struct wr_doc_lane_cell *ret, size_t columns)
{
    struct lane_share *v = calloc(columns + 1, sizeof(*v));
    double from, to, scale;

    if (!v)
        return false;
    wr_doc_lanes_ends(l, &from, &to);
    scale = (double)columns / (to - from);
    for (size_t k = 0; k < l->span_count; k++)
        if (r->row[k] == row)
            add_share(v, columns, &l->spans[k],
                      (l->spans[k].from - from) * scale,
                      (l->spans[k].to - from) * scale);
    for (size_t i = 0; i < columns; i++)
        choose(&v[i], &ret[i]);
    free(v);
    return true;
}

bool wr_doc_lane_cells_same(const struct wr_doc_lane_cell *a,
                            const struct wr_doc_lane_cell *b)
{
    return a->any == b->any &&
           (!a->any ||
            (a->look == b->look && (a->number == b->number ||
                                    (isnan(a->number) && isnan(b->number)))));
}

void wr_doc_lanes_table(struct wr_doc_section *s, const struct wr_doc_lanes *l)
{
    char head[400];
    struct wr_doc_table *t;

    /* '|' in a name would begin a column: names come from this house. */
    snprintf(head, sizeof(head), "<lane|>from|>to|<what|>%.60s",
             *l->thing && !strchr(l->thing, '|') ? l->thing : "number");
    t = wr_doc_table(s, l->title, head);
    for (size_t i = 0; i < l->span_count; i++) {
        const struct wr_doc_span *e = &l->spans[i];

        wr_doc_cell(t, "%s", l->names[e->lane]);
        wr_doc_number(t, e->from, 3);
        wr_doc_number(t, e->to, 3);
        wr_doc_cell(t, "%s", l->looks[e->look]);
        wr_doc_number(t, e->number, 0);
    }
}
