/* doc.c - what a report shows, before it is text, CSV or a page.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/doc.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/doc_private.h"

/* --- memory and texts --- */

/* A piece of a document's memory. */
struct wr_doc_memory {
    struct wr_doc_memory *next;
    max_align_t bytes[];
};

void *wr_doc_alloc(struct wr_doc *d, size_t size)
{
    struct wr_doc_memory *m = calloc(1, sizeof(*m) + size);

    if (!m) {
        d->failed = true;
        return NULL;
    }
    m->next = d->memory;
    d->memory = m;
    return m->bytes;
}

void wr_doc_free(struct wr_doc *d)
{
    while (d && d->memory) {
        struct wr_doc_memory *m = d->memory;

        d->memory = m->next;
        free(m);
    }
    free(d);
}

bool wr_doc_grow(struct wr_doc *d, void *array, size_t *cap, size_t count,
                 size_t size)
{
    size_t bytes;
    void *old, *grown;

    if (d->failed || count < *cap)
        return !d->failed;
    if (!wr_mul_ok(WR_MAX(2 * *cap, (size_t)8), size, &bytes)) {
        d->failed = true;
        return false;
    }
    grown = wr_doc_alloc(d, bytes);
    if (!grown)
        return false;
    memcpy(&old, array, sizeof(old));
    if (old)
        memcpy(grown, old, *cap * size);
    memcpy(array, &grown, sizeof(grown));
    *cap = bytes / size;
    return true;
}

char *wr_doc_copy(struct wr_doc *d, const char *s)
{
    char *text = wr_text_clean(s ? s : ""), *copy = NULL;

    if (text)
        copy = wr_doc_alloc(d, strlen(text) + 1);
    if (copy)
        memcpy(copy, text, strlen(text));
    d->failed |= !copy;
    free(text);
    return copy;
}

__attribute__((format(printf, 2, 0))) static char *
format_text(struct wr_doc *d, const char *fmt, va_list ap)
{
    char *raw = NULL, *text;

    if (vasprintf(&raw, fmt, ap) < 0) {
        d->failed = true;
        return NULL;
    }
    text = wr_doc_copy(d, raw);
    free(raw);
    return text;
}

bool wr_doc_is_bars(const struct wr_doc_chart *c)
{
    return c->kind == WR_DOC_BARS || c->kind == WR_DOC_STACKED;
}

bool wr_doc_is_empty(const struct wr_doc_chart *c)
{
    for (size_t i = 0; i < c->series_count; i++)
        for (size_t k = 0; k < c->series[i]->count; k++)
            if (isfinite(c->series[i]->y[k]) &&
                (!c->log_y || c->series[i]->y[k] > 0))
                return false;
    return true;
}

double wr_doc_low(const struct wr_doc_series *s, size_t k)
{
    return k < s->range_count ? s->range[2 * k] : NAN;
}

double wr_doc_high(const struct wr_doc_series *s, size_t k)
{
    return k < s->range_count ? s->range[2 * k + 1] : NAN;
}

/* --- sections and tables --- */

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
    f.text = format_text(s->doc, fmt, ap);
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
    n.text = format_text(s->doc, fmt, ap);
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

void *wr_doc_item_new(struct wr_doc_section *s, size_t size)
{
    return s && wr_doc_grow(s->doc, &s->items, &s->item_cap, s->item_count,
                            sizeof(*s->items))
               ? wr_doc_alloc(s->doc, size)
               : NULL;
}

static struct wr_doc_table *add_table(struct wr_doc_section *s,
                                      const char *title)
{
    struct wr_doc_table *t = wr_doc_item_new(s, sizeof(*t));

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
    c->text = format_text(t->doc, fmt, ap);
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

/* --- charts --- */

struct wr_doc_chart *wr_doc_chart(struct wr_doc_section *s,
                                  const struct wr_doc_chart_spec *spec)
{
    struct wr_doc_chart *c = wr_doc_item_new(s, sizeof(*c));

    if (!c)
        return NULL;
    c->doc = s->doc;
    c->kind = spec->kind;
    c->log_x = spec->log_x;
    c->log_y = spec->log_y;
    c->most = isfinite(spec->most) ? spec->most : 0;
    c->title = wr_doc_copy(s->doc, spec->title);
    c->x = wr_doc_copy(s->doc, spec->x);
    c->y = wr_doc_copy(s->doc, spec->y);
    c->note = wr_doc_copy(s->doc, spec->note);
    s->items[s->item_count++] = (struct wr_doc_item){.chart = c};
    return c;
}

void wr_doc_label(struct wr_doc_chart *c, const char *fmt, ...)
{
    va_list ap;

    if (!c || !wr_doc_grow(c->doc, &c->labels, &c->label_cap, c->label_count,
                           sizeof(*c->labels)))
        return;
    va_start(ap, fmt);
    c->labels[c->label_count++] = format_text(c->doc, fmt, ap);
    va_end(ap);
}

struct wr_doc_series *wr_doc_series(struct wr_doc_chart *c, const char *name)
{
    struct wr_doc_series *s;

    if (!c || !wr_doc_grow(c->doc, &c->series, &c->series_cap, c->series_count,
                           sizeof(*c->series)))
        return NULL;
    s = wr_doc_alloc(c->doc, sizeof(*s));
    if (!s)
        return NULL;
    s->doc = c->doc;
    s->name = wr_doc_copy(c->doc, name);
    c->series[c->series_count++] = s;
    return s;
}

void wr_doc_point(struct wr_doc_series *s, double x, double y)
{
    if (!s || !wr_doc_grow(s->doc, &s->x, &s->x_cap, s->count, sizeof(*s->x)) ||
        !wr_doc_grow(s->doc, &s->y, &s->y_cap, s->count, sizeof(*s->y)) ||
        !wr_doc_grow(s->doc, &s->marked, &s->marked_cap, s->count,
                     sizeof(*s->marked)))
        return;
    s->x[s->count] = x;
    s->y[s->count] = y;
    s->marked[s->count++] = false;
}

void wr_doc_value(struct wr_doc_series *s, double y)
{
    if (s)
        wr_doc_point(s, (double)s->count, y);
}

void wr_doc_mark(struct wr_doc_series *s)
{
    if (!s || !s->count || s->marked[s->count - 1])
        return;
    s->marked[s->count - 1] = true;
    s->marks++;
}

void wr_doc_series_is(struct wr_doc_series *s, enum wr_doc_role role)
{
    if (s)
        s->role = role;
}

void wr_doc_value_range(struct wr_doc_series *s, double y, double low,
                        double high)
{
    size_t k = s ? s->count : 0;

    wr_doc_value(s, y);
    if (!s || s->count == k || !isfinite(low) || !isfinite(high) || low == high)
        return;
    /* Values before it that have none get their place now. */
    while (s->range_count <= k) {
        if (!wr_doc_grow(s->doc, &s->range, &s->range_cap,
                         2 * s->range_count + 1, sizeof(*s->range)))
            return;
        s->range[2 * s->range_count] = NAN;
        s->range[2 * s->range_count + 1] = NAN;
        s->range_count++;
    }
    s->range[2 * k] = fmin(low, high);
    s->range[2 * k + 1] = fmax(low, high);
}

void wr_doc_band(struct wr_doc_chart *c, double from, double to,
                 const char *name)
{
    struct wr_doc_band b = {.from = fmin(from, to), .to = fmax(from, to)};
    size_t k;

    if (!c || !isfinite(from) || !isfinite(to) ||
        !wr_doc_grow(c->doc, &c->bands, &c->band_cap, c->band_count, sizeof(b)))
        return;
    b.name = wr_doc_copy(c->doc, name);
    for (k = c->band_count++; k > 0 && c->bands[k - 1].from > b.from; k--)
        c->bands[k] = c->bands[k - 1]; /* every other one is shaded */
    c->bands[k] = b;
}

/* --- the top, and verdicts --- */

void wr_doc_summary(struct wr_doc *d, const char *fmt, ...)
{
    va_list ap;

    if (!d || !wr_doc_grow(d, &d->summary, &d->summary_cap, d->summary_count,
                           sizeof(*d->summary)))
        return;
    va_start(ap, fmt);
    d->summary[d->summary_count++] = format_text(d, fmt, ap);
    va_end(ap);
}

void wr_doc_headline(struct wr_doc *d, const char *label, const char *fmt, ...)
{
    struct wr_doc_headline h;
    va_list ap;

    if (!d || !wr_doc_grow(d, &d->headlines, &d->headline_cap,
                           d->headline_count, sizeof(h)))
        return;
    va_start(ap, fmt);
    h.label = wr_doc_copy(d, label);
    h.text = format_text(d, fmt, ap);
    va_end(ap);
    d->headlines[d->headline_count++] = h;
}

void wr_doc_lead(struct wr_doc_section *s, const char *fmt, ...)
{
    va_list ap;

    if (!s)
        return;
    va_start(ap, fmt);
    s->lead = format_text(s->doc, fmt, ap);
    va_end(ap);
}

void wr_doc_claim(struct wr_doc_section *s, const char *fmt, ...)
{
    va_list ap;

    if (!s)
        return;
    va_start(ap, fmt);
    s->claim = format_text(s->doc, fmt, ap);
    va_end(ap);
}

void wr_doc_verdict(struct wr_doc_section *s, enum wr_doc_tone tone,
                    const char *verdict, const char *fmt, ...)
{
    va_list ap;

    if (!s)
        return;
    va_start(ap, fmt);
    s->tone = tone;
    s->verdict = wr_doc_copy(s->doc, verdict);
    s->why = format_text(s->doc, fmt, ap);
    va_end(ap);
}
