/* doc.c - what a report shows, before it is text, CSV or a page.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/doc.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "record/doc_base.h"

#define DECIMALS_MAX 9

struct wr_doc *wr_doc_new(const char *title, const char *subtitle)
{
    struct wr_doc *d = calloc(1, sizeof(*d));

    if (!d)
        return NULL;
    d->title = wr_doc_copy(d, title);
    d->subtitle = wr_doc_copy(d, subtitle);
    return d;
}

bool wr_doc_failed(const struct wr_doc *d)
{
    return !d || d->failed;
}

void wr_doc_fail(struct wr_doc *d)
{
    if (d)
        d->failed = true;
}

struct wr_doc_section *wr_doc_section(struct wr_doc *d, const char *title)
{
    struct wr_doc_section *s;

    if (!d || !wr_doc_grow(d, &d->sections, &d->section_cap, d->section_count,
                           sizeof(*d->sections)))
        return NULL;
    s = wr_doc_alloc(d, sizeof(*s));
    if (!s)
        return NULL;
    s->doc = d;
    s->title = wr_doc_copy(d, title);
    d->sections[d->section_count++] = s;
    return s;
}

void wr_doc_fact(struct wr_doc_section *s, const char *key, const char *fmt,
                 ...)
{
    struct wr_doc_fact f;
    va_list ap;

    if (!s ||
        !wr_doc_grow(s->doc, &s->facts, &s->fact_cap, s->fact_count, sizeof(f)))
        return;
    va_start(ap, fmt);
    f.key = wr_doc_copy(s->doc, key);
    f.text = wr_doc_format(s->doc, fmt, ap);
    va_end(ap);
    s->facts[s->fact_count++] = f;
}

void wr_doc_note(struct wr_doc_section *s, bool warning, const char *fmt, ...)
{
    struct wr_doc_note n = {.warning = warning};
    va_list ap;

    if (!s ||
        !wr_doc_grow(s->doc, &s->notes, &s->note_cap, s->note_count, sizeof(n)))
        return;
    va_start(ap, fmt);
    n.text = wr_doc_format(s->doc, fmt, ap);
    va_end(ap);
    s->notes[s->note_count++] = n;
}

static void add_column(struct wr_doc_table *t, char side, const char *name)
{
    if (!wr_doc_grow(t->doc, &t->columns, &t->column_cap, t->column_count,
                     sizeof(*t->columns)))
        return;
    t->columns[t->column_count++] = (struct wr_doc_column){
        .heading = wr_doc_copy(t->doc, name),
        .right = side == '>' || side == '+' || side == '-',
        .spare = side == '+' ? 2 : side == '-'};
}

static struct wr_doc_table *add_table(struct wr_doc_section *s,
                                      const char *title)
{
    struct wr_doc_table *t;

    if (!s || !wr_doc_grow(s->doc, &s->items, &s->item_cap, s->item_count,
                           sizeof(*s->items)))
        return NULL;
    t = wr_doc_alloc(s->doc, sizeof(*t));
    if (!t)
        return NULL;
    t->doc = s->doc;
    t->title = wr_doc_copy(s->doc, title);
    s->items[s->item_count++] = (struct wr_doc_item){.table = t};
    return t;
}

struct wr_doc_table *wr_doc_table(struct wr_doc_section *s, const char *title,
                                  const char *columns)
{
    struct wr_doc_table *t = add_table(s, title);
    char *all = strdup(columns), *at = all, *name;

    if (!all)
        wr_doc_fail(t ? t->doc : NULL);
    while (t && all && (name = strsep(&at, "|")))
        add_column(t, *name, name + (*name == '>' || *name == '<'));
    free(all);
    return t;
}

struct wr_doc_table *wr_doc_table_of(struct wr_doc_section *s,
                                     const char *title,
                                     const struct wr_column *list,
                                     unsigned which)
{
    struct wr_doc_table *t = add_table(s, title);

    for (const struct wr_column *c = list; t && wr_column_is(c); c++)
        if (wr_column_is_shown(list, c, which))
            add_column(t, c->side, wr_column_head(c));
    return t;
}

void wr_doc_fold(struct wr_doc_table *t)
{
    if (t)
        t->folded = true;
}

static struct wr_doc_cell *add_cell(struct wr_doc_table *t)
{
    if (!t || !wr_doc_grow(t->doc, &t->cells, &t->cell_cap, t->cell_count,
                           sizeof(*t->cells)))
        return NULL;
    return &t->cells[t->cell_count++];
}

static void format_cell(struct wr_doc_table *t, struct wr_doc_cell like,
                        const char *fmt, va_list ap)
{
    struct wr_doc_cell *c = add_cell(t);

    if (!c)
        return;
    *c = like;
    c->text = wr_doc_format(t->doc, fmt, ap);
}

void wr_doc_cell(struct wr_doc_table *t, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    format_cell(t, (struct wr_doc_cell){.value = NAN}, fmt, ap);
    va_end(ap);
}

/* Puts a ',' after every third digit of the whole part, from behind. */
static void group_digits(const char *plain, char *to)
{
    size_t lead = *plain == '-', digits = strspn(plain + lead, "0123456789");

    for (size_t i = 0; plain[i]; i++) {
        if (i > lead && i < lead + digits && (lead + digits - i) % 3 == 0)
            *to++ = ',';
        *to++ = plain[i];
    }
    *to = '\0';
}

/* "12,345.6", or "-" for what is no number. */
static void number_text(double value, unsigned decimals, char *to, size_t cap)
{
    char plain[64];

    if (!isfinite(value)) {
        snprintf(to, cap, "-");
        return;
    }
    if (fabs(value) < 1e15)
        snprintf(plain, sizeof(plain), "%.*f",
                 (int)WR_MIN(decimals, DECIMALS_MAX), value);
    else /* nothing that was measured; keep it short */
        snprintf(plain, sizeof(plain), "%.6g", value);
    group_digits(plain, to);
}

void wr_doc_number(struct wr_doc_table *t, double value, unsigned decimals)
{
    char text[96];

    number_text(value, decimals, text, sizeof(text));
    wr_doc_shown(t, value, "%s", text);
}

void wr_doc_percent(struct wr_doc_table *t, double value, unsigned decimals)
{
    char text[96];

    number_text(value, decimals, text, sizeof(text));
    wr_doc_shown(t, value, "%s%s", text, isfinite(value) ? "%" : "");
}

void wr_doc_shown(struct wr_doc_table *t, double value, const char *fmt, ...)
{
    const struct wr_doc_cell like = {.value = value, .is_number = true};
    va_list ap;

    va_start(ap, fmt);
    format_cell(t, like, fmt, ap);
    va_end(ap);
}

void wr_doc_tone(struct wr_doc_table *t, enum wr_doc_tone tone)
{
    if (t && t->cell_count)
        t->cells[t->cell_count - 1].tone = tone;
}
