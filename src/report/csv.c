/* csv.c - a document as CSV in long form: one line a number.
 * SPDX-License-Identifier: Apache-2.0
 *
 * section,kind,name,series,x,y,marked,low,high. Quoted as RFC 4180 says; lines end as
 * they do in text files; what a spreadsheet would run as a formula has a ' in front.
 * A table's cell: series is its column, x its row. Lanes
 * over time are a table of their spans. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/doc_private.h"
#include "report/doc_lanes.h"

static void put_text(const char *s, FILE *out)
{
    bool is_formula = wr_text_is_formula(s);

    if (!is_formula && !s[strcspn(s, "\",\r\n")] && *s != ' ') {
        fputs(s, out);
        return;
    }
    fputs(is_formula ? "\"'" : "\"", out);
    for (; *s; s++) {
        if (*s == '"')
            fputc('"', out);
        fputc(*s, out);
    }
    fputc('"', out);
}

static void put_number(double v, FILE *out)
{
    if (isfinite(v))
        fprintf(out, "%.9g", v);
}

/* The columns that all lines of one table, chart or fact have. */
struct line {
    const struct wr_doc_section *section;
    const char *kind, *name;
};

static void begin(const struct line *l, const char *series, FILE *out)
{
    put_text(l->section ? l->section->title : "", out);
    fprintf(out, ",%s,", l->kind);
    put_text(l->name, out);
    fputc(',', out);
    put_text(series, out);
    fputc(',', out);
}

static void put_fact(const struct line *l, const char *text, FILE *out)
{
    begin(l, "", out);
    fputc(',', out);
    put_text(text, out);
    fputs(",,,\n", out);
}

/* What stands on top of the document belongs to no section. */
static void put_top(const struct wr_doc *d, FILE *out)
{
    for (size_t i = 0; i < d->summary_count; i++)
        put_fact(&(struct line){.kind = "summary", .name = ""}, d->summary[i],
                 out);
    for (size_t i = 0; i < d->headline_count; i++)
        put_fact(
            &(struct line){.kind = "headline", .name = d->headlines[i].label},
            d->headlines[i].text, out);
}

static void put_table(const struct wr_doc_section *s, const char *kind,
                      const struct wr_doc_table *t, FILE *out)
{
    const struct line l = {s, kind, t->title};

    for (size_t i = 0; t->column_count && i < t->cell_count; i++) {
        begin(&l, t->columns[i % t->column_count].heading, out);
        fprintf(out, "%zu,", i / t->column_count + 1);
        if (t->cells[i].is_number)
            put_number(t->cells[i].value, out);
        else
            put_text(t->cells[i].text, out);
        fputs(",,,\n", out);
    }
}

static void put_lanes(const struct wr_doc_section *s,
                      const struct wr_doc_lanes *l, FILE *out)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_section *rows = wr_doc_section(d, "");

    if (rows)
        wr_doc_lanes_table(rows, l);
    if (!wr_doc_failed(d))
        put_table(s, "lanes", rows->items[0].table, out);
    wr_doc_free(d);
}

/* x is where it begins, y where it ends. */
static void put_bands(const struct wr_doc_section *s,
                      const struct wr_doc_chart *c, FILE *out)
{
    for (size_t i = 0; i < c->band_count; i++) {
        begin(&(struct line){s, "band", c->title}, c->bands[i].name, out);
        put_number(c->bands[i].from, out);
        fputc(',', out);
        put_number(c->bands[i].to, out);
        fputs(",,,\n", out);
    }
}

static void put_chart(const struct wr_doc_section *s,
                      const struct wr_doc_chart *c, FILE *out)
{
    const struct line l = {s, "chart", c->title};
    bool labels = wr_doc_is_bars(c);

    for (size_t i = 0; i < c->series_count; i++) {
        const struct wr_doc_series *v = c->series[i];

        for (size_t k = 0; k < v->count; k++) {
            begin(&l, v->name, out);
            if (!labels)
                put_number(v->x[k], out);
            else if (k < c->label_count)
                put_text(c->labels[k], out);
            fputc(',', out);
            put_number(v->y[k], out);
            fputs(v->marked[k] ? ",1," : ",,", out);
            put_number(wr_doc_low(v, k), out);
            fputc(',', out);
            put_number(wr_doc_high(v, k), out);
            fputc('\n', out);
        }
    }
    put_bands(s, c, out);
}

static void put_item(const struct wr_doc_section *s,
                     const struct wr_doc_item *item, FILE *out)
{
    if (item->table)
        put_table(s, "table", item->table, out);
    if (item->chart)
        put_chart(s, item->chart, out);
    if (item->lanes)
        put_lanes(s, item->lanes, out);
}

void wr_doc_print_csv(const struct wr_doc *d, FILE *out)
{
    fputs("section,kind,name,series,x,y,marked,low,high\n", out);
    put_top(d, out);
    for (size_t i = 0; i < d->section_count; i++) {
        const struct wr_doc_section *s = d->sections[i];

        if (s->lead)
            put_fact(&(struct line){s, "lead", ""}, s->lead, out);
        if (s->claim)
            put_fact(&(struct line){s, "claim", ""}, s->claim, out);
        if (s->verdict)
            put_fact(&(struct line){s, "verdict", s->verdict}, s->why, out);
        for (size_t k = 0; k < s->fact_count; k++)
            put_fact(&(struct line){s, "fact", s->facts[k].key},
                     s->facts[k].text, out);
        for (size_t k = 0; k < s->note_count; k++)
            put_fact(
                &(struct line){s, s->notes[k].warning ? "warning" : "note", ""},
                s->notes[k].text, out);
        for (size_t k = 0; k < s->item_count; k++)
            put_item(s, &s->items[k], out);
    }
}
