/* json.c - a document as JSON, for programs.
 * SPDX-License-Identifier: Apache-2.0
 *
 * As it is shown: sections with facts, notes, tables and charts, in order.
 * Numbers are numbers; what is none (NaN) is null. */
#include <jansson.h>
#include <math.h>

#include "base/error.h"
#include "report/doc_private.h"
#include "report/doc_lanes.h"
#include "result/record.h"

static json_t *number_json(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *cell_json(const struct wr_doc_table *t, size_t i)
{
    if (i >= t->cell_count)
        return json_null();
    return t->cells[i].is_number ? number_json(t->cells[i].value)
                                 : json_string(t->cells[i].text);
}

static json_t *table_json(const struct wr_doc_table *t)
{
    json_t *columns = json_array(), *rows = json_array();

    for (size_t i = 0; i < t->column_count; i++)
        json_array_append_new(columns, json_string(t->columns[i].heading));
    for (size_t i = 0; t->column_count && i < t->cell_count;
         i += t->column_count) {
        json_t *row = json_array();

        for (size_t k = 0; k < t->column_count; k++)
            json_array_append_new(row, cell_json(t, i + k));
        json_array_append_new(rows, row);
    }
    return json_pack("{s:s, s:o, s:o}", "title", t->title, "columns", columns,
                     "rows", rows);
}

/* Low and high of each value; NULL where none has a whisker. */
static json_t *range_json(const struct wr_doc_series *v,
                          double (*end)(const struct wr_doc_series *, size_t))
{
    json_t *list = v->range_count ? json_array() : NULL;

    for (size_t k = 0; list && k < v->count; k++)
        json_array_append_new(list, number_json(end(v, k)));
    return list;
}

/* Values under labels, or points; the indexes of those that are marked. */
static json_t *series_json(const struct wr_doc_series *v, bool labels)
{
    static const char *const roles[] = {[WR_DOC_MEASURED] = "measured",
                                        [WR_DOC_REFERENCE] = "reference",
                                        [WR_DOC_CEILING] = "ceiling"};
    json_t *x = json_array(), *y = json_array(), *marked = json_array();

    for (size_t k = 0; k < v->count; k++) {
        json_array_append_new(x, number_json(v->x[k]));
        json_array_append_new(y, number_json(v->y[k]));
        if (v->marked[k])
            json_array_append_new(marked, json_integer((json_int_t)k));
    }
    if (labels) {
        json_decref(x);
        x = NULL;
    }
    return json_pack("{s:s, s:s, s:o*, s:o, s:o*, s:o*, s:o}", "name", v->name,
                     "role", roles[v->role], "x", x, "y", y, "low",
                     range_json(v, wr_doc_low), "high",
                     range_json(v, wr_doc_high), "marked", marked);
}

static json_t *bands_json(const struct wr_doc_chart *c)
{
    json_t *list = c->band_count ? json_array() : NULL;

    for (size_t i = 0; i < c->band_count; i++)
        json_array_append_new(
            list, json_pack("{s:f, s:f, s:s}", "from", c->bands[i].from, "to",
                            c->bands[i].to, "name", c->bands[i].name));
    return list;
}

static json_t *chart_json(const struct wr_doc_chart *c)
{
    bool labelled = wr_doc_is_bars(c);
    json_t *labels = labelled ? json_array() : NULL, *series = json_array();

    for (size_t k = 0; k < c->label_count && labelled; k++)
        json_array_append_new(labels, json_string(c->labels[k]));
    for (size_t k = 0; k < c->series_count; k++)
        json_array_append_new(series, series_json(c->series[k], labelled));
    return json_pack("{s:s, s:s, s:s, s:o*, s:o, s:o*}", "title", c->title, "x",
                     c->x, "y", c->y, "labels", labels, "series", series,
                     "bands", bands_json(c));
}

static json_t *lanes_json(const struct wr_doc_lanes *l)
{
    json_t *names = json_array(), *spans = json_array();

    for (size_t k = 0; k < l->lane_count; k++)
        json_array_append_new(names, json_string(l->names[k]));
    for (size_t k = 0; k < l->span_count; k++) {
        const struct wr_doc_span *e = &l->spans[k];

        json_array_append_new(spans,
                              json_pack("{s:s, s:f, s:f, s:s, s:o}", "lane",
                                        l->names[e->lane], "from", e->from,
                                        "to", e->to, "what", l->looks[e->look],
                                        "number", number_json(e->number)));
    }
    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "title", l->title, "x", l->x,
                     "thing", l->thing, "lanes", names, "spans", spans);
}

static json_t *verdict_json(const struct wr_doc_section *s)
{
    static const char *const tones[] = {
        [WR_DOC_PLAIN] = "open", [WR_DOC_GOOD] = "good", [WR_DOC_BAD] = "bad"};

    return !s->verdict ? NULL
                       : json_pack("{s:s, s:s, s:s}", "text", s->verdict,
                                   "tone", tones[s->tone], "why", s->why);
}

static json_t *section_json(const struct wr_doc_section *s)
{
    json_t *facts = json_array(), *notes = json_array();
    json_t *tables = json_array(), *charts = json_array(), *lanes = NULL;

    for (size_t k = 0; k < s->fact_count; k++)
        json_array_append_new(facts,
                              json_pack("{s:s, s:s}", "key", s->facts[k].key,
                                        "text", s->facts[k].text));
    for (size_t k = 0; k < s->note_count; k++)
        json_array_append_new(notes,
                              json_pack("{s:s, s:b}", "text", s->notes[k].text,
                                        "warning", s->notes[k].warning));
    for (size_t k = 0; k < s->item_count; k++)
        if (s->items[k].table)
            json_array_append_new(tables, table_json(s->items[k].table));
        else if (s->items[k].lanes)
            json_array_append_new(lanes = lanes ? lanes : json_array(),
                                  lanes_json(s->items[k].lanes));
        else if (!wr_doc_is_empty(s->items[k].chart))
            json_array_append_new(charts, chart_json(s->items[k].chart));
    return json_pack("{s:s, s:o*, s:o*, s:o*, s:o, s:o, s:o, s:o, s:o*}",
                     "title", s->title, "lead",
                     s->lead ? json_string(s->lead) : NULL, "claim",
                     s->claim ? json_string(s->claim) : NULL, "verdict",
                     verdict_json(s), "facts", facts, "notes", notes, "tables",
                     tables, "charts", charts, "lanes", lanes);
}

int wr_doc_print_json(const struct wr_doc *d, FILE *out, weir_err *err)
{
    json_t *sections = json_array(), *summary = json_array();
    json_t *headlines = json_array(), *root;
    int r;

    for (size_t i = 0; i < d->summary_count; i++)
        json_array_append_new(summary, json_string(d->summary[i]));
    for (size_t i = 0; i < d->headline_count; i++)
        json_array_append_new(
            headlines, json_pack("{s:s, s:s}", "label", d->headlines[i].label,
                                 "text", d->headlines[i].text));
    for (size_t i = 0; i < d->section_count; i++)
        json_array_append_new(sections, section_json(d->sections[i]));
    root = json_pack("{s:s, s:s, s:o, s:o, s:o}", "title", d->title, "subtitle",
                     d->subtitle, "summary", summary, "headlines", headlines,
                     "sections", sections);
    r = root
            ? wr_record_dump(root, JSON_INDENT(1) | JSON_REAL_PRECISION(9), out)
            : -1;
    json_decref(root);
    fputc('\n', out);
    return r < 0 ? wr_fail(err, WEIR_EIO, "cannot print the report as JSON")
                 : 0;
}
