/* text_chart.c - a chart of a document on a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/text_chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/doc_private.h"

char *wr_canvas_number(double v, char *buf, size_t cap)
{
    if (!isfinite(v))
        snprintf(buf, cap, "-");
    else
        snprintf(buf, cap, fabs(v) >= 1000 && fabs(v) < 1e9 ? "%.0f" : "%.3g",
                 v);
    return buf;
}

void wr_canvas_name(const struct wr_doc_canvas *cv, const char *s, size_t width)
{
    size_t columns = wr_text_width(s), bytes = strlen(s);

    if (columns > width) {
        bytes = wr_text_fit(s, width - 1);
        fprintf(cv->out, "%.*s%s", (int)bytes, s, cv->utf8 ? "…" : "~");
        return;
    }
    fprintf(cv->out, "%s%*s", s, (int)(width - columns), "");
}

void wr_canvas_text(const struct wr_doc_canvas *cv, const char *s)
{
    fputs("  ", cv->out);
    wr_text_print(
        cv->out, s,
        (struct wr_text_wrap){.at = 2, .indent = 2, .width = cv->width});
}

#define BAR_BYTES 3  /* of a block character */
#define BARS_MAX  24 /* lines of a chart; tables have the rest */

static double value_at(const struct wr_doc_series *s, size_t k)
{
    return k < s->count ? s->y[k] : NAN;
}

/* The lowest above 0 and the highest. */
static void range(const struct wr_doc_chart *c, double *ret_low,
                  double *ret_high)
{
    *ret_low = INFINITY;
    *ret_high = 0;
    for (size_t i = 0; i < c->series_count; i++)
        for (size_t k = 0; k < c->series[i]->count; k++) {
            double v = c->series[i]->y[k];

            if (!isfinite(v))
                continue;
            *ret_high = fmax(*ret_high, v);
            if (v > 0)
                *ret_low = fmin(*ret_low, v);
        }
}

/* Part of the longest bar. A logarithmic one starts a tenth below the lowest
 * value. */
static double part_of(double v, double low, double high, bool is_log)
{
    if (!(v > 0) || !(high > 0))
        return 0;
    return is_log ? log(10 * v / low) / log(10 * high / low) : v / high;
}

/* A row of one character; at least one where there is anything. */
static void put_row(const struct wr_doc_canvas *cv, const char *of, double part,
                    size_t columns)
{
    size_t n = (size_t)(part * (double)columns + 0.5);

    for (size_t i = 0; i < WR_MAX(n, (size_t)(part > 0)); i++)
        fputs(of, cv->out);
}

/* A dot at its place: on a logarithmic axis, and for what is a limit. */
static void put_dot(const struct wr_doc_canvas *cv, double part, size_t columns)
{
    size_t at = (size_t)(part * (double)columns + 0.5);

    fprintf(cv->out, "%*s%s", at ? (int)at - 1 : 0, "", cv->utf8 ? "●" : "o");
}

static void put_bar(const struct wr_doc_canvas *cv, enum wr_doc_role role,
                    double part, size_t columns)
{
    char bar[WR_CANVAS_WIDTH * BAR_BYTES + 1];

    if (role == WR_DOC_CEILING)
        put_row(cv, cv->utf8 ? "·" : ".", part, columns);
    else if (role == WR_DOC_REFERENCE)
        put_row(cv, cv->utf8 ? "▒" : "=", part, columns);
    else
        fputs(wr_text_bar(part, 1, (unsigned)columns, cv->utf8, bar), cv->out);
}

/* "12.3", "12.3 (11 to 14)" with a whisker. */
static void put_value(const struct wr_doc_canvas *cv,
                      const struct wr_doc_series *s, size_t k)
{
    char text[32], low[32], high[32];

    fprintf(cv->out, " %s", wr_canvas_number(s->y[k], text, sizeof(text)));
    if (!isnan(wr_doc_low(s, k)))
        fprintf(cv->out, " (%s to %s)",
                wr_canvas_number(wr_doc_low(s, k), low, sizeof(low)),
                wr_canvas_number(wr_doc_high(s, k), high, sizeof(high)));
    fputc('\n', cv->out);
}

/* Columns that all lines of a chart share. */
struct layout {
    size_t labels, names, bars;
    double low, high; /* of the values */
};

static struct layout lay_out(const struct wr_doc_canvas *cv,
                             const struct wr_doc_chart *c)
{
    struct layout l = {0};
    size_t rest = 2 + 1 + WR_CANVAS_NUMBER + 1;

    for (size_t k = 0; k < c->label_count; k++)
        l.labels = WR_MAX(l.labels, wr_text_width(c->labels[k]));
    for (size_t i = 0; i < c->series_count; i++) {
        if (c->series_count > 1)
            l.names = WR_MAX(l.names, wr_text_width(c->series[i]->name));
        if (c->series[i]->range_count)
            rest = 2 + 1 + 3 * WR_CANVAS_NUMBER;
    }
    l.labels = WR_MIN(l.labels, (size_t)WR_CANVAS_NAME);
    l.names = WR_MIN(l.names, (size_t)WR_CANVAS_NAME);
    rest += l.labels + l.names + (l.names > 0);
    l.bars = cv->width > rest + 10 ? cv->width - rest : 10;
    range(c, &l.low, &l.high);
    return l;
}

static void put_bar_line(const struct wr_doc_canvas *cv,
                         const struct wr_doc_chart *c, const struct layout *l,
                         size_t series, size_t label)
{
    const struct wr_doc_series *s = c->series[series];
    double part = part_of(s->y[label], l->low, l->high, c->log_y);

    fputs("  ", cv->out);
    wr_canvas_name(cv, c->labels[label], l->labels);
    fputc(' ', cv->out);
    if (l->names) {
        wr_canvas_name(cv, s->name, l->names);
        fputc(' ', cv->out);
    }
    if (c->log_y)
        put_dot(cv, part, l->bars);
    else
        put_bar(cv, s->role, part, l->bars);
    put_value(cv, s, label);
}

/* Bars of WR_DOC_BARS: each is drawn as its series is (measured, reference,
 * ceiling), on a logarithmic axis as a dot. */
static void doc_chart_bars(const struct wr_doc_canvas *cv,
                           const struct wr_doc_chart *c)
{
    const struct layout l = lay_out(cv, c);
    size_t lines = 0;

    for (size_t k = 0; k < c->label_count; k++)
        for (size_t i = 0; i < c->series_count; i++)
            if (!isnan(value_at(c->series[i], k)) && lines++ < BARS_MAX)
                put_bar_line(cv, c, &l, i, k);
    if (lines > BARS_MAX)
        fprintf(cv->out, "  ... and %zu more\n", lines - BARS_MAX);
}

/* What the stretches of series i are made of. */
static const char *pattern(const struct wr_doc_canvas *cv, size_t i)
{
    static const char *const blocks[] = {"█", "▒", "▚", "░", "·"};
    static const char *const plain[] = {"#", "=", "+", "-", "."};

    return (cv->utf8 ? blocks : plain)[i % WR_ARRAY_LEN(blocks)];
}

/* A bar of stretches, each of a character of its own. */
static void put_stack(const struct wr_doc_canvas *cv,
                      const struct wr_doc_chart *c, size_t label, double most,
                      size_t columns)
{
    double sum = 0;
    size_t drawn = 0;

    for (size_t i = 0; i < c->series_count; i++) {
        double v = value_at(c->series[i], label);
        size_t end;

        if (!(v > 0) || !(most > 0))
            continue;
        sum += v;
        end = (size_t)(fmin(sum / most, 1) * (double)columns + 0.5);
        for (; drawn < end; drawn++)
            fputs(pattern(cv, i), cv->out);
    }
}

static double sum_at(const struct wr_doc_chart *c, size_t label)
{
    double sum = 0;

    for (size_t i = 0; i < c->series_count; i++)
        sum += fmax(0, value_at(c->series[i], label));
    return sum;
}

/* What the stretches mean, in as many lines as it takes. */
static void put_legend(const struct wr_doc_canvas *cv,
                       const struct wr_doc_chart *c)
{
    size_t at = 0;

    for (size_t i = 0; i < c->series_count; i++) {
        size_t columns = wr_text_width(c->series[i]->name) + 2;

        if (i && at + 3 + columns > cv->width) {
            fputc('\n', cv->out);
            at = 0;
        }
        fprintf(cv->out, "%s%s %s", at ? "   " : "  ", pattern(cv, i),
                c->series[i]->name);
        at += (at ? 3 : 2) + columns;
    }
    fputc('\n', cv->out);
}

/* Bars of WR_DOC_STACKED and what their stretches mean. */
static void doc_chart_stacked(const struct wr_doc_canvas *cv,
                              const struct wr_doc_chart *c)
{
    size_t labels = 0, rest;
    double most = 0;
    char text[32];

    for (size_t k = 0; k < c->label_count; k++) {
        labels = WR_MAX(labels, wr_text_width(c->labels[k]));
        most = fmax(most, sum_at(c, k));
    }
    labels = WR_MIN(labels, (size_t)WR_CANVAS_NAME);
    rest = 2 + labels + 1 + WR_CANVAS_NUMBER + 1;
    rest = cv->width > rest + 10 ? cv->width - rest : 10;
    put_legend(cv, c);
    for (size_t k = 0; k < c->label_count && k < BARS_MAX; k++) {
        fputs("  ", cv->out);
        wr_canvas_name(cv, c->labels[k], labels);
        fputc(' ', cv->out);
        put_stack(cv, c, k, most, rest);
        fprintf(cv->out, " %s\n",
                wr_canvas_number(sum_at(c, k), text, sizeof(text)));
    }
    if (c->label_count > BARS_MAX)
        fprintf(cv->out, "  ... and %zu more\n", c->label_count - BARS_MAX);
}

#define MARKS_NAMED 8
#define BANDS_NAMED 4

/* Where x lies among `columns`. */
static size_t column_of(const struct wr_doc_chart *c, double x,
                        const double *ends, size_t columns)
{
    double a = ends[0], b = ends[1];

    if (c->log_x && a > 0) {
        x = log(x);
        a = log(a);
        b = log(b);
    }
    if (!(b > a) || !(x >= a) || !isfinite(b - a))
        return 0;
    return WR_MIN((size_t)((x - a) / (b - a) * (double)columns), columns - 1);
}

/* The highest of each column as one character. */
static void put_heights(const struct wr_doc_canvas *cv, const double *top,
                        size_t columns, double high)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄",
                                         "▅", "▆", "▇", "█"};
    static const char plain[] = " .:-=+*%#";

    for (size_t i = 0; i < columns; i++) {
        double part = high > 0 && top[i] > 0 ? top[i] / high : 0;
        size_t step = part > 0 ? 1 + (size_t)(part * 7.0 + 0.5) : 0;

        step = WR_MIN(step, (size_t)8);
        if (cv->utf8)
            fputs(blocks[step], cv->out);
        else
            fputc(plain[step], cv->out);
    }
}

static void put_marks(const struct wr_doc_canvas *cv,
                      const struct wr_doc_series *s)
{
    size_t named = 0;
    char text[32];

    if (!s->marks)
        return;
    fprintf(cv->out, "    %zu marked, at ", s->marks);
    for (size_t i = 0; i < s->count && named < MARKS_NAMED; i++)
        if (s->marked[i])
            fprintf(cv->out, "%s%s", named++ ? ", " : "",
                    wr_canvas_number(s->x[i], text, sizeof(text)));
    fprintf(cv->out, "%s\n", s->marks > named ? ", ..." : "");
}

static void put_line(const struct wr_doc_canvas *cv,
                     const struct wr_doc_chart *c,
                     const struct wr_doc_series *s, const double *ends,
                     size_t names)
{
    double top[WR_CANVAS_WIDTH] = {0}, high = 0, low = INFINITY;
    size_t rest = 2 + names + 1 + 2 * WR_CANVAS_NUMBER + 4;
    size_t columns = cv->width > rest + 10 ? cv->width - rest : 10;
    char a[32], b[32];

    for (size_t i = 0; i < s->count; i++) {
        size_t at = column_of(c, s->x[i], ends, columns);

        if (!isfinite(s->y[i]))
            continue;
        top[at] = fmax(top[at], s->y[i]);
        high = fmax(high, s->y[i]);
        low = fmin(low, s->y[i]);
    }
    fputs("  ", cv->out);
    wr_canvas_name(cv, s->name, names);
    fputc(' ', cv->out);
    put_heights(cv, top, columns, high);
    fprintf(cv->out, " %s to %s\n", wr_canvas_number(low, a, sizeof(a)),
            wr_canvas_number(high, b, sizeof(b)));
    put_marks(cv, s);
}

/* "run 1 from 0 to 3.1, run 2 from 3.1 to 6". */
static void put_bands(const struct wr_doc_canvas *cv,
                      const struct wr_doc_chart *c)
{
    char a[32], b[32], line[BANDS_NAMED * 160 + 8] = "";

    for (size_t i = 0; i < c->band_count && i < BANDS_NAMED; i++) {
        size_t used = strlen(line);

        snprintf(line + used, sizeof(line) - used, "%s%.80s from %s to %s",
                 i ? ", " : "", c->bands[i].name,
                 wr_canvas_number(c->bands[i].from, a, sizeof(a)),
                 wr_canvas_number(c->bands[i].to, b, sizeof(b)));
    }
    if (c->band_count > BANDS_NAMED)
        strcat(line, ", ...");
    if (c->band_count)
        wr_canvas_text(cv, line);
}

static void put_lines(const struct wr_doc_canvas *cv,
                      const struct wr_doc_chart *c)
{
    double ends[2] = {INFINITY, -INFINITY};
    char a[32], b[32], line[512];
    size_t names = 0;

    for (size_t i = 0; i < c->series_count; i++) {
        const struct wr_doc_series *s = c->series[i];

        names = WR_MAX(names, wr_text_width(s->name));
        for (size_t k = 0; k < s->count; k++) {
            ends[0] = fmin(ends[0], s->x[k]);
            ends[1] = fmax(ends[1], s->x[k]);
        }
    }
    names = WR_MIN(names, (size_t)WR_CANVAS_NAME);
    for (size_t i = 0; i < c->series_count; i++)
        put_line(cv, c, c->series[i], ends, names);
    snprintf(line, sizeof(line),
             "%s against %s, %s to %s; each line has its own height", c->y,
             c->x, wr_canvas_number(ends[0], a, sizeof(a)),
             wr_canvas_number(ends[1], b, sizeof(b)));
    wr_canvas_text(cv, line);
    if (c->kind == WR_DOC_AREA) /* of several beside it, once is enough */
        put_bands(cv, c);
}

void wr_doc_print_chart(const struct wr_doc_chart *c,
                        const struct wr_doc_text_style *style, FILE *out)
{
    const struct wr_doc_canvas cv = {
        .out = out,
        .width = WR_MIN(style->width, (unsigned)WR_CANVAS_WIDTH) - 1,
        .utf8 = style->utf8,
    };

    if (wr_doc_is_bars(c)) {
        if (c->kind == WR_DOC_BARS)
            doc_chart_bars(&cv, c);
        else
            doc_chart_stacked(&cv, c);
        fprintf(out, "  %s%s%s%s\n", c->y, *c->x ? " by " : "", c->x,
                c->log_y ? ", logarithmic" : "");
    } else {
        put_lines(&cv, c);
    }
    if (*c->note)
        wr_canvas_text(&cv, c->note);
}
