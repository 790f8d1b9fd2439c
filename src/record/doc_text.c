/* doc_text.c - a document as text for a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "record/doc_base.h"
#include "record/doc_chart.h"
#include "record/doc_text_top.h"

#define ROWS_MAX  200 /* of a table; CSV and the page have all */
#define GAP       2   /* blanks between columns */
#define WIDTH_MIN 40

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define GREEN "\033[32m"
#define RED   "\033[31m"
#define AMBER "\033[33m"
#define END   "\033[0m"

/* Where a document goes to. */
struct sheet {
    FILE *out;
    struct wr_doc_text_style style;
};

static const char *paint(const struct sheet *sh, const char *code)
{
    return sh->style.colour ? code : "";
}

/* Text in at most `width` columns, padded to it on the side that is free. */
static void put_cell(const struct sheet *sh, const char *s, size_t width,
                     bool right)
{
    size_t columns = wr_text_width(s), bytes = strlen(s), pad;
    const char *cut = "";

    if (columns > width) {
        cut = sh->style.utf8 ? "…" : "~";
        bytes = wr_text_fit(s, width - 1);
        columns = width;
    }
    pad = width - columns;
    fprintf(sh->out, "%*s%.*s%s%*s", right ? (int)pad : 0, "", (int)bytes, s,
            cut, right ? 0 : (int)pad, "");
}

/* Columns that a table's column takes. */
static size_t column_width(const struct wr_doc_table *t, size_t k)
{
    size_t width = wr_text_width(t->columns[k].heading);

    for (size_t i = k; i < t->cell_count; i += t->column_count)
        width = WR_MAX(width, wr_text_width(t->cells[i].text));
    return WR_MAX(width, (size_t)1);
}

static const char *cell_text(const struct wr_doc_table *t, size_t row,
                             size_t column)
{
    size_t i = row * t->column_count + column;

    return i < t->cell_count ? t->cells[i].text : "";
}

static void put_row(const struct sheet *sh, const struct wr_doc_table *t,
                    size_t row, const size_t *widths, const bool *shown)
{
    for (size_t k = 0; k < t->column_count; k++) {
        size_t i = row * t->column_count + k;
        const char *color = "";

        if (!shown[k])
            continue;
        if (i < t->cell_count && t->cells[i].tone != WR_DOC_PLAIN)
            color = paint(sh, t->cells[i].tone == WR_DOC_GOOD ? GREEN : RED);
        fprintf(sh->out, "%*s%s", GAP, "", color);
        put_cell(sh, cell_text(t, row, k), widths[k], t->columns[k].right);
        if (*color)
            fputs(END, sh->out);
    }
    fputc('\n', sh->out);
}

static void put_head(const struct sheet *sh, const struct wr_doc_table *t,
                     const size_t *widths, const bool *shown)
{
    fputs(paint(sh, DIM), sh->out);
    for (size_t k = 0; k < t->column_count; k++)
        if (shown[k]) {
            fprintf(sh->out, "%*s", GAP, "");
            put_cell(sh, t->columns[k].heading, widths[k], t->columns[k].right);
        }
    fprintf(sh->out, "%s\n", paint(sh, END));
}

/* Whether the first n columns tell each of the rows from all others. */
static bool tells_apart(const struct wr_doc_table *t, size_t n, size_t rows)
{
    for (size_t a = 0; a < rows; a++)
        for (size_t b = a + 1; b < rows; b++) {
            size_t k = 0;

            while (k < n && !strcmp(cell_text(t, a, k), cell_text(t, b, k)))
                k++;
            if (k == n)
                return false;
        }
    return true;
}

/* How many columns every block begins with: as few as tell the rows apart,
 * when any other fits beside them; else the first alone. */
static size_t count_keys(const struct sheet *sh, const struct wr_doc_table *t,
                         const size_t *widths, size_t rows)
{
    size_t used = 0, widest = 0;

    for (size_t k = 1; k < t->column_count; k++)
        widest = WR_MAX(widest, widths[k]);
    for (size_t n = 1; n < t->column_count; n++) {
        used += GAP + widths[n - 1];
        if (used + GAP + widest > sh->style.width)
            break;
        if (tells_apart(t, n, rows))
            return n;
    }
    return 1;
}

/* The columns of a table, of which a block shows some. */
struct text_block {
    size_t columns, keys;
    size_t *widths; /* owned */
    bool *shown;    /* owned */
};

/* Chooses the columns of the next block: the first `keys` always, and as many
 * from `from` on as fit. Returns where the block after it begins. */
static size_t choose(const struct sheet *sh, const struct text_block *b,
                     size_t from)
{
    size_t first = WR_MAX(from, b->keys), used = 0, k;

    for (k = 0; k < b->columns; k++) {
        b->shown[k] = k < b->keys;
        used += k < b->keys ? GAP + b->widths[k] : 0;
    }
    for (k = first; k < b->columns; k++) {
        used += GAP + b->widths[k];
        if (used > sh->style.width && k > first)
            break;
        b->shown[k] = true;
    }
    return k;
}

static void put_table(const struct sheet *sh, const struct wr_doc_table *t)
{
    struct text_block b = {
        .columns = t->column_count,
        .widths = calloc(t->column_count + 1, sizeof(*b.widths)),
        .shown = calloc(t->column_count + 1, sizeof(*b.shown)),
    };
    size_t rows, next = 0;

    if (!b.widths || !b.shown || !t->column_count)
        goto out;
    rows = (t->cell_count + t->column_count - 1) / t->column_count;
    for (size_t k = 0; k < t->column_count; k++)
        b.widths[k] = WR_MIN(column_width(t, k),
                             (size_t)sh->style.width * 3 / 5);
    b.keys = count_keys(sh, t, b.widths, WR_MIN(rows, (size_t)ROWS_MAX));
    fprintf(sh->out, "\n%s%s%s\n", paint(sh, BOLD), t->title, paint(sh, END));
    do {
        if (next)
            fputc('\n', sh->out);
        next = choose(sh, &b, next);
        put_head(sh, t, b.widths, b.shown);
        for (size_t row = 0; row < rows && row < ROWS_MAX; row++)
            put_row(sh, t, row, b.widths, b.shown);
    } while (next < t->column_count);
    if (rows > ROWS_MAX)
        fprintf(sh->out, "  ... and %zu rows more; CSV and HTML have all\n",
                rows - ROWS_MAX);
out:
    free(b.widths);
    free(b.shown);
}

static void put_facts(const struct sheet *sh, const struct wr_doc_section *s)
{
    size_t width = 0;

    for (size_t i = 0; i < s->fact_count; i++)
        width = WR_MAX(width, wr_text_width(s->facts[i].key));
    width = WR_MIN(width, (size_t)sh->style.width / 3);
    for (size_t i = 0; i < s->fact_count; i++) {
        fprintf(sh->out, "  %s", paint(sh, DIM));
        put_cell(sh, s->facts[i].key, width, false);
        fprintf(sh->out, "%s  ", paint(sh, END));
        wr_text_print(sh->out, s->facts[i].text,
                      (struct wr_text_wrap){.at = width + 4,
                                            .indent = width + 4,
                                            .width = sh->style.width});
    }
}

static void put_notes(const struct sheet *sh, const struct wr_doc_section *s)
{
    if (s->note_count && s->fact_count)
        fputc('\n', sh->out);
    for (size_t i = 0; i < s->note_count; i++) {
        bool warning = s->notes[i].warning;

        fprintf(sh->out, "  %s%s ", warning ? paint(sh, AMBER) : "",
                warning ? "!" : "-");
        wr_text_print(sh->out, s->notes[i].text,
                      (struct wr_text_wrap){
                          .at = 4, .indent = 4, .width = sh->style.width});
        if (warning)
            fputs(paint(sh, END), sh->out);
    }
}

static void put_section(const struct sheet *sh, const struct wr_doc_section *s)
{
    size_t line = WR_MIN(wr_text_width(s->title), sh->style.width);

    fprintf(sh->out, "\n%s%s%s\n", paint(sh, BOLD), s->title, paint(sh, END));
    for (size_t k = 0; k < line; k++)
        fputc('=', sh->out);
    fputc('\n', sh->out);
    wr_doc_text_claim(s, &sh->style, sh->out);
    put_facts(sh, s);
    put_notes(sh, s);
    for (size_t k = 0; k < s->item_count; k++) {
        const struct wr_doc_chart *c = s->items[k].chart;

        if (s->items[k].table)
            put_table(sh, s->items[k].table);
        if (!c || wr_doc_is_empty(c))
            continue;
        fprintf(sh->out, "\n%s%s%s\n", paint(sh, BOLD), c->title,
                paint(sh, END));
        wr_doc_print_chart(c, &sh->style, sh->out);
    }
    wr_doc_text_verdict(s, &sh->style, sh->out);
}

void wr_doc_print_text(const struct wr_doc *d,
                       const struct wr_doc_text_style *style, FILE *out)
{
    struct sheet sh = {.out = out, .style = *style};

    sh.style.width = WR_MAX(style->width, WIDTH_MIN);
    fprintf(out, "%s%s%s\n%s\n", paint(&sh, BOLD), d->title, paint(&sh, END),
            d->subtitle);
    wr_doc_text_top(d, &sh.style, out);
    for (size_t i = 0; i < d->section_count; i++)
        put_section(&sh, d->sections[i]);
}
