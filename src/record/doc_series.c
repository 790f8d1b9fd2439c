/* doc_series.c - charts of a document: labels, series, points, bands.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/doc_base.h"

#include <math.h>
#include <stdarg.h>

struct wr_doc_chart *wr_doc_chart(struct wr_doc_section *s,
                                  const struct wr_doc_chart_spec *spec)
{
    struct wr_doc_chart *c;

    if (!s || !wr_doc_grow(s->doc, &s->items, &s->item_cap, s->item_count,
                           sizeof(*s->items)))
        return NULL;
    c = wr_doc_alloc(s->doc, sizeof(*c));
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
    c->labels[c->label_count++] = wr_doc_format(c->doc, fmt, ap);
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
