/* text_lanes.c - lanes over time on a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/text_lanes.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/text_chart.h"
#include "report/doc_lanes.h"

#define COLUMNS_MAX 240
#define NAME_MAX    20 /* columns of a lane's name */
#define ROWS_SHOWN  40 /* lines; the page and CSV have all */
#define TICK_MIN    10 /* columns from tick to tick */
#define END         "\033[0m"

/* What a look is made of. */
static const struct {
    const char *block, *plain, *colour;
} looks[WR_DOC_LOOKS] = {
    [WR_DOC_LOOK_DOTTED] = {"░", "-", "\033[34m"},
    [WR_DOC_LOOK_STRIPED] = {"▒", "=", "\033[33m"},
    [WR_DOC_LOOK_SOLID] = {"█", "#", "\033[32m"},
    [WR_DOC_LOOK_THIN] = {"─", ".", "\033[2m"},
    [WR_DOC_LOOK_HATCHED] = {"╱", "/", "\033[31m"},
    [WR_DOC_LOOK_CROSSED] = {"╳", "X", "\033[35m"},
};

/* Where lanes are drawn. */
struct lane_sheet {
    struct wr_doc_canvas cv;
    bool colour;
    const struct wr_doc_lanes *l;
    size_t names, columns;
    double from, to; /* the ends of the axis */
};

static double column_of(const struct lane_sheet *sh, double x)
{
    return (x - sh->from) / (sh->to - sh->from) * (double)sh->columns;
}

static void put_block(const struct lane_sheet *sh, enum wr_doc_look look)
{
    fputs(sh->cv.utf8 ? looks[look].block : looks[look].plain, sh->cv.out);
}

/* A number in the middle of a span that has room for it and for its look. */
static size_t label_of(const struct wr_doc_lane_cell *cell, size_t length,
                       char *text, size_t cap)
{
    *text = '\0';
    if (isfinite(cell->number) && fabs(cell->number) < 1e9)
        snprintf(text, cap, "%.0f", cell->number);
    if (strlen(text) + 2 > length)
        *text = '\0';
    return (length - strlen(text)) / 2;
}

/* Cells of one span; `edge`: the span before it looks the same, and must be
 * told from it. */
static void put_run(const struct lane_sheet *sh,
                    const struct wr_doc_lane_cell *cell, size_t length,
                    bool edge)
{
    char text[32];
    size_t at = label_of(cell, length, text, sizeof(text));
    const char *paint = sh->colour ? looks[cell->look].colour : "";
    size_t digits = strlen(text);

    fputs(paint, sh->cv.out);
    for (size_t i = 0; i < length; i++) {
        if (i == at && digits) {
            fprintf(sh->cv.out, "%s%s%s%s", sh->colour ? END "\033[1m" : "",
                    text, sh->colour ? END : "", paint);
            i += digits - 1;
        } else if (i == 0 && edge && length > 1) {
            fputs(sh->cv.utf8 ? "│" : "|", sh->cv.out);
        } else {
            put_block(sh, cell->look);
        }
    }
    fputs(*paint ? END : "", sh->cv.out);
}

/* Blanks are owed until something follows them: no line ends with any. */
static void put_cells(const struct lane_sheet *sh,
                      const struct wr_doc_lane_cell *c)
{
    size_t owed = 0, length;

    for (size_t i = 0; i < sh->columns; i += length) {
        for (length = 1; i + length < sh->columns &&
                         wr_doc_lane_cells_same(&c[i], &c[i + length]);)
            length++;
        if (!c[i].any) {
            owed += length;
            continue;
        }
        fprintf(sh->cv.out, "%*s", (int)owed, "");
        owed = 0;
        put_run(sh, &c[i], length,
                i > 0 && c[i - 1].any && c[i - 1].look == c[i].look);
    }
    fputc('\n', sh->cv.out);
}

static void put_row(const struct lane_sheet *sh, const struct wr_doc_rows *r,
                    size_t lane, size_t row)
{
    struct wr_doc_lane_cell cells[COLUMNS_MAX];

    if (!wr_doc_lanes_cells(sh->l, r, r->first[lane] + row, cells, sh->columns))
        return;
    fputs("  ", sh->cv.out);
    wr_canvas_name(&sh->cv, row ? "" : sh->l->names[lane], sh->names);
    fputs(sh->cv.utf8 ? " │" : " |", sh->cv.out);
    put_cells(sh, cells);
}

/* 1, 2 or 5 of a power of ten, so that labels have room. */
static double tick_step(const struct lane_sheet *sh)
{
    double least = (sh->to - sh->from) * TICK_MIN / (double)sh->columns;
    double step = pow(10, floor(log10(least)));

    return step * (step >= least       ? 1
                   : 2 * step >= least ? 2
                   : 5 * step >= least ? 5
                                       : 10);
}

static void put_axis(const struct lane_sheet *sh)
{
    double step = tick_step(sh), first = ceil(sh->from / step) * step;
    char line[COLUMNS_MAX * 2] = "", text[32];
    bool tick[COLUMNS_MAX] = {false};
    size_t used = 0;

    for (double x = first; step > 0 && x <= sh->to; x += step) {
        size_t at = (size_t)fmax(0, column_of(sh, x));

        wr_canvas_number(fabs(x) < step / 2 ? 0 : x, text, sizeof(text));
        if (at >= sh->columns || at < used + (used > 0) || x + step == x)
            break;
        tick[at] = true;
        used += (size_t)snprintf(line + used, sizeof(line) - used, "%*s%s",
                                 (int)(at - used), "", text);
    }
    fprintf(sh->cv.out, "  %*s%s", (int)sh->names, "",
            sh->cv.utf8 ? " └" : " +");
    for (size_t i = 0; i < sh->columns; i++)
        fputs(sh->cv.utf8 ? (tick[i] ? "┬" : "─")
              : tick[i]   ? "+"
                          : "-",
              sh->cv.out);
    fprintf(sh->cv.out, "\n  %*s  %s\n", (int)sh->names, "", line);
}

/* What the looks mean, in as many lines as it takes. */
static void put_legend(const struct lane_sheet *sh)
{
    size_t at = 0;

    for (enum wr_doc_look k = 0; k < WR_DOC_LOOKS; k++) {
        size_t columns = wr_text_width(sh->l->looks[k]) + 3;

        if (!wr_doc_lanes_has(sh->l, k))
            continue;
        if (at && at + 3 + columns > sh->cv.width) {
            fputc('\n', sh->cv.out);
            at = 0;
        }
        fprintf(sh->cv.out, "%*s%s", at ? 3 : 2, "",
                sh->colour ? looks[k].colour : "");
        put_block(sh, k);
        put_block(sh, k);
        fprintf(sh->cv.out, "%s %s", sh->colour ? END : "", sh->l->looks[k]);
        at += (at ? 3 : 2) + columns;
    }
    fputc('\n', sh->cv.out);
}

static void put_lanes(const struct lane_sheet *sh, const struct wr_doc_rows *r)
{
    size_t lane = 0, shown = 0;

    for (; lane < sh->l->lane_count && shown < ROWS_SHOWN; lane++)
        for (size_t row = 0; row < r->counts[lane]; row++, shown++)
            put_row(sh, r, lane, row);
    if (lane < sh->l->lane_count)
        fprintf(sh->cv.out, "  ... and %zu more\n", sh->l->lane_count - lane);
}

void wr_doc_print_lanes(const struct wr_doc_lanes *l,
                        const struct wr_doc_text_style *style, FILE *out)
{
    struct lane_sheet sh = {
        .cv = {.out = out, .width = style->width - 1, .utf8 = style->utf8},
        .colour = style->colour,
        .l = l};
    struct wr_doc_rows r;
    char text[200];
    size_t rest;

    for (size_t i = 0; i < l->lane_count; i++)
        sh.names = WR_MAX(sh.names, wr_text_width(l->names[i]));
    sh.names = WR_MIN(sh.names, WR_MIN(sh.cv.width / 3, (size_t)NAME_MAX));
    rest = 2 + sh.names + 2;
    sh.columns = sh.cv.width > rest + 10 ? sh.cv.width - rest : 10;
    sh.columns = WR_MIN(sh.columns, (size_t)COLUMNS_MAX);
    wr_doc_lanes_ends(l, &sh.from, &sh.to);
    if (!(sh.to > sh.from) || !isfinite(sh.to - sh.from) ||
        !wr_doc_rows_init(&r, l))
        return;
    put_lanes(&sh, &r);
    wr_doc_rows_done(&r);
    put_axis(&sh);
    put_legend(&sh);
    snprintf(text, sizeof(text), "%.80s%s%.80s", l->x,
             *l->thing ? ", with the number of the " : "", l->thing);
    wr_canvas_text(&sh.cv, text);
    if (*l->note)
        wr_canvas_text(&sh.cv, l->note);
}
