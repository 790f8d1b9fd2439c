/* doc_chart.c - a chart of a document on a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/doc_chart.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "record/doc_base.h"
#include "record/doc_canvas.h"
#include "record/doc_chart_bars.h"

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
            wr_doc_chart_bars(&cv, c);
        else
            wr_doc_chart_stacked(&cv, c);
        fprintf(out, "  %s%s%s%s\n", c->y, *c->x ? " by " : "", c->x,
                c->log_y ? ", logarithmic" : "");
    } else {
        put_lines(&cv, c);
    }
    if (*c->note)
        wr_canvas_text(&cv, c->note);
}
