/* doc_chart.c - a chart of a document on a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/doc_chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "record/doc_private.h"

#define CHART_WIDTH  100 /* wider charts are hard to follow */
#define BAR_BYTES    3   /* of a block character */
#define BARS_MAX     24  /* lines of a chart; tables have the rest */
#define NAME_COLUMNS 44  /* columns of a name */
#define NUMBER_MAX   10  /* columns of a number */
#define MARKS_NAMED  8

struct canvas {
    FILE *out;
    size_t width; /* of all */
    bool utf8;
};

/* "1234567", "12.3", "0.00123": four digits are enough beside a table. */
static char *number(double v, char *buf, size_t cap)
{
    if (!isfinite(v))
        snprintf(buf, cap, "-");
    else
        snprintf(buf, cap, fabs(v) >= 1000 && fabs(v) < 1e9 ? "%.0f" : "%.3g",
                 v);
    return buf;
}

/* A name in NAME_COLUMNS columns at most, padded to `width`. */
static void put_name(const struct canvas *cv, const char *s, size_t width)
{
    size_t columns = wr_text_width(s), bytes = strlen(s);

    if (columns > width) {
        bytes = wr_text_fit(s, width - 1);
        fprintf(cv->out, "%.*s%s", (int)bytes, s, cv->utf8 ? "…" : "~");
        return;
    }
    fprintf(cv->out, "%s%*s", s, (int)(width - columns), "");
}

static void put_text(const struct canvas *cv, const char *s)
{
    fputs("  ", cv->out);
    wr_text_print(
        cv->out, s,
        (struct wr_text_wrap){.at = 2, .indent = 2, .width = cv->width});
}

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

static void put_bar(const struct canvas *cv, double part, size_t columns)
{
    char bar[CHART_WIDTH * BAR_BYTES + 1];

    fputs(wr_text_bar(part, 1, (unsigned)columns, cv->utf8, bar), cv->out);
}

static void put_bars(const struct canvas *cv, const struct wr_doc_chart *c)
{
    size_t labels = 0, names = 0, lines = 0, rest;
    double low, high;
    char text[32];

    for (size_t k = 0; k < c->label_count; k++)
        labels = WR_MAX(labels, wr_text_width(c->labels[k]));
    for (size_t i = 0; c->series_count > 1 && i < c->series_count; i++)
        names = WR_MAX(names, wr_text_width(c->series[i]->name));
    labels = WR_MIN(labels, (size_t)NAME_COLUMNS);
    names = WR_MIN(names, (size_t)NAME_COLUMNS);
    rest = 2 + labels + 1 + names + (names > 0) + NUMBER_MAX + 1;
    rest = cv->width > rest + 10 ? cv->width - rest : 10;
    range(c, &low, &high);
    for (size_t k = 0; k < c->label_count; k++)
        for (size_t i = 0; i < c->series_count; i++) {
            double v = value_at(c->series[i], k);

            if (isnan(v) || lines++ >= BARS_MAX)
                continue;
            fputs("  ", cv->out);
            put_name(cv, c->labels[k], labels);
            fputc(' ', cv->out);
            if (names) {
                put_name(cv, c->series[i]->name, names);
                fputc(' ', cv->out);
            }
            put_bar(cv, part_of(v, low, high, c->log_y), rest);
            fprintf(cv->out, " %s\n", number(v, text, sizeof(text)));
        }
    if (lines > BARS_MAX)
        fprintf(cv->out, "  ... and %zu more\n", lines - BARS_MAX);
}

/* What the stretches of series i are made of. */
static const char *pattern(const struct canvas *cv, size_t i)
{
    static const char *const blocks[] = {"█", "▒", "▚", "░", "·"};
    static const char *const plain[] = {"#", "=", "+", "-", "."};

    return (cv->utf8 ? blocks : plain)[i % WR_ARRAY_LEN(blocks)];
}

/* A bar of stretches, each of a character of its own. */
static void put_stack(const struct canvas *cv, const struct wr_doc_chart *c,
                      size_t label, double most, size_t columns)
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
static void put_legend(const struct canvas *cv, const struct wr_doc_chart *c)
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

static void put_stacked(const struct canvas *cv, const struct wr_doc_chart *c)
{
    size_t labels = 0, rest;
    double most = 0;
    char text[32];

    for (size_t k = 0; k < c->label_count; k++) {
        labels = WR_MAX(labels, wr_text_width(c->labels[k]));
        most = fmax(most, sum_at(c, k));
    }
    labels = WR_MIN(labels, (size_t)NAME_COLUMNS);
    rest = 2 + labels + 1 + NUMBER_MAX + 1;
    rest = cv->width > rest + 10 ? cv->width - rest : 10;
    put_legend(cv, c);
    for (size_t k = 0; k < c->label_count && k < BARS_MAX; k++) {
        fputs("  ", cv->out);
        put_name(cv, c->labels[k], labels);
        fputc(' ', cv->out);
        put_stack(cv, c, k, most, rest);
        fprintf(cv->out, " %s\n", number(sum_at(c, k), text, sizeof(text)));
    }
    if (c->label_count > BARS_MAX)
        fprintf(cv->out, "  ... and %zu more\n", c->label_count - BARS_MAX);
}

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
static void put_heights(const struct canvas *cv, const double *top,
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

static void put_marks(const struct canvas *cv, const struct wr_doc_series *s)
{
    size_t named = 0;
    char text[32];

    if (!s->marks)
        return;
    fprintf(cv->out, "    %zu marked, at ", s->marks);
    for (size_t i = 0; i < s->count && named < MARKS_NAMED; i++)
        if (s->marked[i])
            fprintf(cv->out, "%s%s", named++ ? ", " : "",
                    number(s->x[i], text, sizeof(text)));
    fprintf(cv->out, "%s\n", s->marks > named ? ", ..." : "");
}

static void put_line(const struct canvas *cv, const struct wr_doc_chart *c,
                     const struct wr_doc_series *s, const double *ends,
                     size_t names)
{
    double top[CHART_WIDTH] = {0}, high = 0, low = INFINITY;
    size_t rest = 2 + names + 1 + 2 * NUMBER_MAX + 4;
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
    put_name(cv, s->name, names);
    fputc(' ', cv->out);
    put_heights(cv, top, columns, high);
    fprintf(cv->out, " %s to %s\n", number(low, a, sizeof(a)),
            number(high, b, sizeof(b)));
    put_marks(cv, s);
}

static void put_lines(const struct canvas *cv, const struct wr_doc_chart *c)
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
    names = WR_MIN(names, (size_t)NAME_COLUMNS);
    for (size_t i = 0; i < c->series_count; i++)
        put_line(cv, c, c->series[i], ends, names);
    snprintf(line, sizeof(line),
             "%s against %s, %s to %s; each line has its own height", c->y,
             c->x, number(ends[0], a, sizeof(a)),
             number(ends[1], b, sizeof(b)));
    put_text(cv, line);
}

void wr_doc_print_chart(const struct wr_doc_chart *c,
                        const struct wr_doc_text_style *style, FILE *out)
{
    const struct canvas cv = {
        .out = out,
        .width = WR_MIN(style->width, (unsigned)CHART_WIDTH) - 1,
        .utf8 = style->utf8,
    };

    if (c->kind == WR_DOC_BARS || c->kind == WR_DOC_STACKED) {
        if (c->kind == WR_DOC_BARS)
            put_bars(&cv, c);
        else
            put_stacked(&cv, c);
        fprintf(out, "  %s%s%s%s\n", c->y, *c->x ? " by " : "", c->x,
                c->log_y ? ", logarithmic" : "");
    } else {
        put_lines(&cv, c);
    }
    if (*c->note)
        put_text(&cv, c->note);
}
