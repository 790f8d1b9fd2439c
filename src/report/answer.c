/* answer.c - what a command answers: values, as JSON and on a screen.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "report/say.h"

/* A document that is being made of parts. */
struct screen {
    struct wr_doc *d;
    struct wr_doc_section *s; /* NULL: nothing is in it yet */
    char *title;              /* owned: of the section */
};

/* "" if memory is short, which the document remembers. To be freed. */
static char *say_text(const struct screen *sc, const json_t *o,
                      const char *text)
{
    char *s = wr_say_json(o, text);

    if (!s)
        wr_doc_fail(sc->d);
    return s;
}

/* The section that is open now. */
static struct wr_doc_section *section_of(struct screen *sc)
{
    if (!sc->s)
        sc->s = wr_doc_section(sc->d, sc->title ? sc->title : "");
    return sc->s;
}

static void begin_section(struct screen *sc, const json_t *o, const char *title)
{
    free(sc->title);
    sc->title = say_text(sc, o, title);
    sc->s = NULL;
}

static void add_text(struct screen *sc, const struct wr_answer_part *part,
                     const json_t *o, bool first)
{
    char *text = say_text(sc, o, part->say);

    if (text && *text && part->fact)
        wr_doc_fact(section_of(sc), first || part->warns ? part->fact : "",
                    "%s", text);
    else if (text && *text)
        wr_doc_note(section_of(sc), part->warns, "%s", text);
    free(text);
}

static void add_cell(struct wr_doc_table *t, const struct wr_column *c,
                     const char *text)
{
    wr_doc_cell(t, "%s", text);
    if (c->good && !strcmp(text, c->good))
        wr_doc_tone(t, WR_DOC_GOOD);
    if (c->bad && !strcmp(text, c->bad))
        wr_doc_tone(t, WR_DOC_BAD);
}

/* `spare`: left out if all of it is empty. */
static void add_row(struct screen *sc, struct wr_doc_table *t,
                    const struct wr_column *list, unsigned which,
                    const json_t *o, bool spare)
{
    for (const struct wr_column *c = list; spare && wr_column_is(c); c++) {
        char *text = say_text(sc, o, c->say);

        spare = text && !*text;
        free(text);
    }
    for (const struct wr_column *c = list; !spare && wr_column_is(c); c++) {
        char *text = c->only && !(c->only & which) ? NULL
                                                   : say_text(sc, o, c->say);

        if (text)
            add_cell(t, c, text);
        free(text);
    }
}

static void add_table(struct screen *sc, const struct wr_answer_part *part,
                      const json_t *o, const json_t *rows)
{
    unsigned which = part->which ? (unsigned)json_integer_value(
                                       wr_json_at(o, part->which))
                                 : 0;
    struct wr_doc_table *t = wr_doc_table_of(section_of(sc), "", part->table,
                                             which);
    size_t i;
    json_t *row;

    json_array_foreach(rows, i, row)
    {
        add_row(sc, t, part->table, which, row, /* spare= */ false);
        for (size_t k = 0; k < WR_ARRAY_LEN(part->below); k++)
            if (part->below[k])
                add_row(sc, t, part->below[k], which, row, /* spare= */ true);
    }
}

static void add_part(struct screen *sc, const struct wr_answer_part *part,
                     const json_t *o)
{
    json_t *rows = part->each ? wr_json_at(o, part->each) : NULL, *row;
    size_t i;

    if (part->section)
        begin_section(sc, o, part->section);
    else if (part->table && json_array_size(rows))
        add_table(sc, part, o, rows);
    else if (part->say && !part->each)
        add_text(sc, part, o, true);
    else if (part->say)
        json_array_foreach(rows, i, row) add_text(sc, part, row, i == 0);
}

static bool is_part(const struct wr_answer_part *p)
{
    return p->section || p->say || p->table;
}

/* A section, or what stands in front of the first; returns what follows. */
static const struct wr_answer_part *
add_section(struct screen *sc, const struct wr_answer_part *from,
            const json_t *o)
{
    json_t *list = from->section && from->each ? wr_json_at(o, from->each)
                                               : NULL;
    size_t count = list ? json_array_size(list) : 1;
    const struct wr_answer_part *p = from + 1;

    while (is_part(p) && !p->section)
        p++;
    for (size_t i = 0; i < count; i++)
        for (const struct wr_answer_part *at = from; at < p; at++)
            add_part(sc, at, list ? json_array_get(list, i) : o);
    return p;
}

int wr_answer_show(const struct wr_answer *a, const json_t *all,
                   struct wr_doc_text_style style, FILE *out, weir_err *err)
{
    const struct wr_answer_part alone[] = {{.say = a->say}, {.say = NULL}};
    struct screen sc = {.d = wr_doc_new("", "")};
    bool failed;

    for (const struct wr_answer_part *p = a->say ? alone : a->screen;
         all && is_part(p);)
        p = add_section(&sc, p, all);
    failed = !all || wr_doc_failed(sc.d);
    style.list = true;
    if (!failed)
        wr_doc_print_text(sc.d, &style, out);
    free(sc.title);
    wr_doc_free(sc.d);
    return failed ? wr_fail(err, WEIR_ENOMEM, "out of memory") : 0;
}

int wr_answer_print(const struct wr_answer *a, const void *values,
                    struct wr_doc_text_style style, FILE *out, weir_err *err)
{
    json_t *all = wr_vals_json(a->of, values, WR_FOR_RANKS);
    int r = wr_answer_show(a, all, style, out, err);

    json_decref(all);
    return r;
}

json_t *wr_answer_json(const struct wr_answer *a, const void *values)
{
    json_t *all = wr_vals_json(a->of, values, WR_FOR_RECORD), *list;

    if (!a->alone)
        return all;
    list = json_incref(json_object_get(all, a->alone));
    json_decref(all);
    return list;
}

json_t *wr_answer_schema(const struct wr_answer *a)
{
    json_t *all = wr_vals_schema(a->of, WR_FOR_RECORD), *list;

    if (!a->alone)
        return all;
    list = json_incref(
        json_object_get(json_object_get(all, "properties"), a->alone));
    json_decref(all);
    return list;
}
