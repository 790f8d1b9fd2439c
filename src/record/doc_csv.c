/* doc_csv.c - a document as CSV in long form: one line a number.
 * SPDX-License-Identifier: Apache-2.0
 *
 * section,kind,name,series,x,y,marked. Quoted as RFC 4180 says; lines end as
 * they do in text files. A table's cell: series is its column, x its row. */
#include <math.h>
#include <string.h>

#include "record/doc_private.h"

static void put_text(const char *s, FILE *out)
{
    if (!s[strcspn(s, "\",\r\n")] && *s != ' ') {
        fputs(s, out);
        return;
    }
    fputc('"', out);
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
    put_text(l->section->title, out);
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
    fputs(",\n", out);
}

static void put_table(const struct wr_doc_section *s,
                      const struct wr_doc_table *t, FILE *out)
{
    const struct line l = {s, "table", t->title};

    for (size_t i = 0; t->column_count && i < t->cell_count; i++) {
        begin(&l, t->columns[i % t->column_count].heading, out);
        fprintf(out, "%zu,", i / t->column_count + 1);
        if (t->cells[i].is_number)
            put_number(t->cells[i].value, out);
        else
            put_text(t->cells[i].text, out);
        fputs(",\n", out);
    }
}

static void put_chart(const struct wr_doc_section *s,
                      const struct wr_doc_chart *c, FILE *out)
{
    const struct line l = {s, "chart", c->title};
    bool labels = c->kind == WR_DOC_BARS || c->kind == WR_DOC_STACKED;

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
            fputs(v->marked[k] ? ",1\n" : ",\n", out);
        }
    }
}

void wr_doc_print_csv(const struct wr_doc *d, FILE *out)
{
    fputs("section,kind,name,series,x,y,marked\n", out);
    for (size_t i = 0; i < d->section_count; i++) {
        const struct wr_doc_section *s = d->sections[i];

        for (size_t k = 0; k < s->fact_count; k++)
            put_fact(&(struct line){s, "fact", s->facts[k].key},
                     s->facts[k].text, out);
        for (size_t k = 0; k < s->note_count; k++)
            put_fact(
                &(struct line){s, s->notes[k].warning ? "warning" : "note", ""},
                s->notes[k].text, out);
        for (size_t k = 0; k < s->item_count; k++)
            if (s->items[k].table)
                put_table(s, s->items[k].table, out);
            else
                put_chart(s, s->items[k].chart, out);
    }
}
