/* doc_numbers.c - the numbers of a chart as a table, and how many fit.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/doc_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/doc_private.h"
#include "result/stats.h"

#define ROWS_MAX    48 /* points on x that are listed one by one */
#define SIGNIFICANT 4
#define DIGITS_MAX  7 /* of the largest number of a column */

/* The finite ones of `from` into `to`, sorted; returns how many. */
static size_t sort_finite(const double *from, size_t count, double *to)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if (isfinite(from[i]))
            to[n++] = from[i];
    return wr_stats_sort(to, n);
}

/* Decimals with which a column shows its smallest number well, without making
 * its largest too long. */
static unsigned decimals_of(const double *v, size_t count)
{
    double least = INFINITY, most = 0;
    bool whole = true;
    int want, room;

    for (size_t i = 0; i < count; i++) {
        double size = fabs(v[i]);

        if (!isfinite(size) || size == 0)
            continue;
        least = fmin(least, size);
        most = fmax(most, size);
        whole = whole && size == rint(size);
    }
    if (whole || most >= 1e15)
        return 0;
    want = SIGNIFICANT - 1 - (int)floor(log10(least));
    room = DIGITS_MAX - 1 - (int)floor(log10(most));
    want = WR_MIN(want, room);
    return want > 0 ? (unsigned)want : 0;
}

/* Headings as wr_doc_table takes them, made of texts with anything inside. */
struct headings {
    char *text; /* owned */
    size_t length, cap;
    bool failed;
};

static void add_heading(struct headings *h, char side, const char *name)
{
    size_t need = h->length + 2 * strlen(name) + 3;

    if (h->failed || !wr_grow(&h->text, &h->cap, need, 1)) {
        h->failed = true;
        return;
    }
    if (h->length)
        h->text[h->length++] = '|';
    h->text[h->length++] = side;
    for (; *name; name++) {
        if (*name == '|') { /* would begin a column: a broken bar instead */
            memcpy(h->text + h->length, "\xc2\xa6", 2);
            h->length += 2;
        } else {
            h->text[h->length++] = *name;
        }
    }
    h->text[h->length] = '\0';
}

static struct wr_doc_table *make_table(struct wr_doc_section *s,
                                       const struct wr_doc_chart *c,
                                       struct headings *h)
{
    struct wr_doc_table *t = NULL;

    if (h->failed)
        s->doc->failed = true;
    else
        t = wr_doc_table(s, c->title, h->text);
    free(h->text);
    return t;
}

static const char *or_else(const char *s, const char *otherwise)
{
    return *s ? s : otherwise;
}

/* --- all numbers --- */

static void add_series_headings(struct headings *h,
                                const struct wr_doc_chart *c)
{
    for (size_t i = 0; i < c->series_count; i++)
        add_heading(h, '>', or_else(c->series[i]->name, or_else(c->y, "y")));
}

/* Headings of values under labels; the ends of whiskers behind each. */
static void add_value_headings(struct headings *h, const struct wr_doc_chart *c)
{
    for (size_t i = 0; i < c->series_count; i++) {
        add_heading(h, '>', or_else(c->series[i]->name, or_else(c->y, "y")));
        if (!c->series[i]->range_count)
            continue;
        add_heading(h, '>', "from");
        add_heading(h, '>', "to");
    }
}

static void label_table(struct wr_doc_section *s, const struct wr_doc_chart *c)
{
    struct headings h = {0};
    struct wr_doc_table *t;

    add_heading(&h, '<', c->x);
    add_value_headings(&h, c);
    t = make_table(s, c, &h);
    for (size_t row = 0; row < c->label_count; row++) {
        wr_doc_cell(t, "%s", c->labels[row]);
        for (size_t i = 0; i < c->series_count; i++) {
            const struct wr_doc_series *e = c->series[i];

            unsigned decimals = decimals_of(e->y, e->count);

            wr_doc_number(t, row < e->count ? e->y[row] : NAN, decimals);
            if (!e->range_count)
                continue;
            wr_doc_number(t, wr_doc_low(e, row), decimals);
            wr_doc_number(t, wr_doc_high(e, row), decimals);
        }
    }
}

/* All x of the chart in ascending order, each once, into `to` (ROWS_MAX);
 * returns how many, 0 when they are too many or a series goes back. */
static size_t merge_x(const struct wr_doc_chart *c, double *to)
{
    double all[2 * ROWS_MAX];
    size_t n = 0;

    for (size_t i = 0; i < c->series_count; i++) {
        const struct wr_doc_series *e = c->series[i];
        size_t count = n, kept = 0;

        if (e->count > ROWS_MAX)
            return 0;
        memcpy(all, to, n * sizeof(*to));
        for (size_t k = 0; k < e->count; k++) {
            if (k && !(e->x[k] > e->x[k - 1]))
                return 0;
            all[count++] = e->x[k];
        }
        count = sort_finite(all, count, all);
        for (size_t k = 0; k < count; k++) {
            if (kept && all[k] == to[kept - 1])
                continue;
            if (kept == ROWS_MAX)
                return 0;
            to[kept++] = all[k];
        }
        n = kept;
    }
    return n;
}

static double y_at(const struct wr_doc_series *s, double x)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->x[i] == x)
            return s->y[i];
    return NAN;
}

static void x_table(struct wr_doc_section *s, const struct wr_doc_chart *c,
                    const double *x, size_t rows)
{
    struct headings h = {0};
    struct wr_doc_table *t;

    add_heading(&h, '>', or_else(c->x, "x"));
    add_series_headings(&h, c);
    t = make_table(s, c, &h);
    for (size_t row = 0; row < rows; row++) {
        wr_doc_number(t, x[row], decimals_of(x, rows));
        for (size_t i = 0; i < c->series_count; i++) {
            const struct wr_doc_series *e = c->series[i];

            wr_doc_number(t, y_at(e, x[row]), decimals_of(e->y, e->count));
        }
    }
}

/* --- a summary --- */

static void summary_row(struct wr_doc_table *t, const struct wr_doc_series *s,
                        const double *sorted, size_t n)
{
    static const double quantiles[] = {0, 0.5, 0.99, 1};
    double v[WR_ARRAY_LEN(quantiles)];

    for (size_t i = 0; i < WR_ARRAY_LEN(v); i++)
        v[i] = wr_stats_quantile(sorted, n, quantiles[i]);
    wr_doc_cell(t, "%s", s->name);
    wr_doc_number(t, (double)s->count, 0);
    for (size_t i = 0; i < WR_ARRAY_LEN(v); i++)
        wr_doc_number(t, v[i], decimals_of(v + 1, 2));
}

static void summary_table(struct wr_doc_section *s,
                          const struct wr_doc_chart *c)
{
    struct headings h = {0};
    struct wr_doc_table *t;
    size_t marks = 0;
    double *sorted;

    for (size_t i = 0; i < c->series_count; i++)
        marks += c->series[i]->marks;
    add_heading(&h, '<', or_else(c->y, "series"));
    for (size_t i = 0; i < 5; i++)
        add_heading(&h, '>',
                    (const char *[]){"n", "min", "median", "p99", "max"}[i]);
    if (marks)
        add_heading(&h, '>', "marked");
    t = make_table(s, c, &h);
    for (size_t i = 0; i < c->series_count; i++) {
        const struct wr_doc_series *e = c->series[i];

        sorted = malloc((e->count + 1) * sizeof(*sorted));
        if (!sorted) {
            s->doc->failed = true;
            return;
        }
        summary_row(t, e, sorted, sort_finite(e->y, e->count, sorted));
        if (marks)
            wr_doc_number(t, (double)e->marks, 0);
        free(sorted);
    }
}

void wr_doc_numbers_table(struct wr_doc_section *s,
                          const struct wr_doc_chart *c)
{
    double x[ROWS_MAX];
    size_t rows;

    if (wr_doc_is_bars(c)) {
        label_table(s, c);
        return;
    }
    rows = merge_x(c, x);
    if (rows)
        x_table(s, c, x, rows);
    else
        summary_table(s, c);
}

/* --- what is drawn --- */

static size_t points_with(const struct wr_doc *d, size_t cap)
{
    size_t sum = 0;

    for (size_t i = 0; i < d->section_count; i++)
        for (size_t k = 0; k < d->sections[i]->item_count; k++) {
            const struct wr_doc_chart *c = d->sections[i]->items[k].chart;

            for (size_t j = 0; c && j < c->series_count; j++)
                sum += WR_MIN(c->series[j]->count, cap);
        }
    return sum;
}

size_t wr_doc_numbers_cap(const struct wr_doc *d, size_t budget)
{
    size_t fits = 0, over = budget + 1;

    while (over - fits > 1) {
        size_t middle = fits + (over - fits) / 2;

        if (points_with(d, middle) <= budget)
            fits = middle;
        else
            over = middle;
    }
    return fits;
}
