/* text.c - a document as text for a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "report/doc.h"
#include "report/doc_private.h"
#include "report/text_chart.h"
#include "report/doc_lanes.h"
#include "report/text_lanes.h"
#include "report/doc_numbers.h"

#define BOLD  "\033[1m"
#define GREEN "\033[32m"
#define RED   "\033[31m"
#define END   "\033[0m"

static size_t doc_text_width(const struct wr_doc_text_style *style)
{
    return style->whole ? SIZE_MAX : style->width;
}

static void put_wrapped(const char *text, size_t at, size_t width, FILE *out)
{
    const struct wr_text_wrap wrap = {.at = at, .indent = at, .width = width};

    wr_text_print(out, text, wrap);
}

/* Text in `width` columns, in bold or in the colour of its tone. */
static void put_painted(const char *text, size_t width, const char *code,
                        const struct wr_doc_text_style *style, FILE *out)
{
    size_t columns = wr_text_width(text);

    fprintf(out, "%s%s%s%*s", style->colour ? code : "", text,
            style->colour && *code ? END : "",
            width > columns ? (int)(width - columns) : 0, "");
}

static const char *code_of(enum wr_doc_tone tone)
{
    return tone == WR_DOC_GOOD ? GREEN : tone == WR_DOC_BAD ? RED : "";
}

static void put_headlines(const struct wr_doc *d,
                          const struct wr_doc_text_style *style, FILE *out)
{
    size_t width = 0;

    for (size_t i = 0; i < d->headline_count; i++)
        width = WR_MAX(width, wr_text_width(d->headlines[i].text));
    width = WR_MIN(width, (size_t)style->width / 2);
    if (d->headline_count)
        fputc('\n', out);
    for (size_t i = 0; i < d->headline_count; i++) {
        fputs("  ", out);
        put_painted(d->headlines[i].text, width, BOLD, style, out);
        fputs("  ", out);
        put_wrapped(d->headlines[i].label, width + 4, style->width, out);
    }
}

static void put_verdicts(const struct wr_doc *d,
                         const struct wr_doc_text_style *style, FILE *out)
{
    size_t width = 0;

    for (size_t i = 0; i < d->section_count; i++)
        if (d->sections[i]->verdict)
            width = WR_MAX(width, wr_text_width(d->sections[i]->verdict));
    width = WR_MIN(width, (size_t)style->width / 2);
    if (width)
        fputc('\n', out);
    for (size_t i = 0; i < d->section_count; i++) {
        const struct wr_doc_section *s = d->sections[i];

        if (!s->verdict)
            continue;
        fputs("  ", out);
        put_painted(s->verdict, width, code_of(s->tone), style, out);
        fputs("  ", out);
        put_wrapped(s->title, width + 4, style->width, out);
    }
}

/* The summary, the figures and the list of verdicts, as far as there are. */
static void doc_text_top(const struct wr_doc *d,
                         const struct wr_doc_text_style *style, FILE *out)
{
    if (d->summary_count)
        fputc('\n', out);
    for (size_t i = 0; i < d->summary_count; i++)
        put_wrapped(d->summary[i], 0, style->width, out);
    put_headlines(d, style, out);
    put_verdicts(d, style, out);
}

/* What a section is to show; and what came of it. */
static void doc_text_claim(const struct wr_doc_section *s,
                           const struct wr_doc_text_style *style, FILE *out)
{
    const char *const texts[] = {s->lead, s->claim};

    for (size_t i = 0; i < WR_ARRAY_LEN(texts); i++) {
        if (!texts[i])
            continue;
        fputs("  ", out);
        put_wrapped(texts[i], 2, doc_text_width(style), out);
    }
}

static void doc_text_verdict(const struct wr_doc_section *s,
                             const struct wr_doc_text_style *style, FILE *out)
{
    if (!s->verdict)
        return;
    fputs("\n  ", out);
    put_painted(s->verdict, 0, code_of(s->tone), style, out);
    fputs(": ", out);
    wr_text_print(out, s->why,
                  (struct wr_text_wrap){.at = wr_text_width(s->verdict) + 4,
                                        .indent = 4,
                                        .width = doc_text_width(style)});
}

#define ROWS_MAX  200 /* of a table; CSV and the page have all */
#define GAP       2   /* blanks between columns */
#define WIDTH_MIN 40
#define HANG                                                                   \
    4 /* blanks in front of what a listed sentence or row goes on with */
#define TEXT_MIN                                                               \
    16 /* columns that a text at the end of rows wants, to be wrapped */
#define WORD_MAX                                                               \
    32 /* of a word that it may want more for: a longer one, as the path
                        of a module, sticks out, and moves no column */
#define FACT_MIN 8 /* columns of the keys of what is listed */

#define DIM   "\033[2m"
#define AMBER "\033[33m"

/* Where a document goes to. */
struct sheet {
    FILE *out;
    struct wr_doc_text_style style;
    size_t indent; /* where tables begin */
};

static const char *paint(const struct sheet *sh, const char *code)
{
    return sh->style.colour ? code : "";
}

/* The columns of a table, of which a block shows some. */
struct text_block {
    const struct wr_doc_table *t;
    size_t columns, keys;
    struct wr_doc_cell *heads; /* owned, as the others */
    size_t *widths;
    bool *shown;
    /* Of what a command lists: columns that begin a line of their own, and where a
     * text in the last column begins that is wrapped below itself. */
    bool *breaks, wraps;
    size_t last;
};

/* A line that is being printed: blanks are owed until something follows them,
 * so that no line ends with any. */
struct text_line {
    const struct sheet *sheet;
    size_t owed;
    const char *color; /* of what comes next; "": plain */
};

/* Text in at most `width` columns, padded to it on the side that is free. */
static void put_cell(struct text_line *l, const char *s, size_t width,
                     bool right)
{
    size_t columns = wr_text_width(s), bytes = strlen(s), pad;
    const char *cut = "";

    if (columns > width) {
        cut = l->sheet->style.utf8 ? "…" : "~";
        bytes = wr_text_fit(s, width - 1);
        columns = width;
    }
    pad = width - columns;
    l->owed += right ? pad : 0;
    if (*s) {
        fprintf(l->sheet->out, "%*s%s%.*s%s%s", (int)l->owed, "",
                paint(l->sheet, l->color), (int)bytes, s, cut,
                *l->color ? paint(l->sheet, END) : "");
        l->owed = 0;
    }
    l->owed += right ? 0 : pad;
}

/* Columns that a table's column takes. */
static size_t column_width(const struct wr_doc_table *t, size_t k)
{
    size_t width = wr_text_width(t->columns[k].heading);

    for (size_t i = k; i < t->cell_count; i += t->column_count)
        width = WR_MAX(width, wr_text_width(t->cells[i].text));
    return width;
}

/* False: memory is short, or there is no column. To be followed by end_block. */
static bool begin_block(struct text_block *b, const struct wr_doc_table *t)
{
    const size_t n = t->column_count;

    *b = (struct text_block){.t = t,
                             .columns = n,
                             .heads = calloc(n + 1, sizeof(*b->heads)),
                             .widths = calloc(n + 1, sizeof(*b->widths)),
                             .shown = calloc(n + 1, sizeof(*b->shown)),
                             .breaks = calloc(n + 1, sizeof(*b->breaks))};
    if (!b->heads || !b->widths || !b->shown || !b->breaks)
        return false;
    for (size_t k = 0; k < n; k++) {
        b->heads[k].text = t->columns[k].heading;
        b->widths[k] = column_width(t, k);
        b->shown[k] = true;
    }
    return n > 0;
}

static void end_block(struct text_block *b)
{
    free(b->heads);
    free(b->widths);
    free(b->shown);
    free(b->breaks);
}

static const char *cell_text(const struct wr_doc_table *t, size_t row,
                             size_t column)
{
    size_t i = row * t->column_count + column;

    return i < t->cell_count ? t->cells[i].text : "";
}

/* Of what a command prints nothing is cut at the end of a line: paths are known
 * by their ends. */
static size_t cell_width(const struct sheet *sh, const struct text_block *b,
                         size_t k, const char *text)
{
    bool is_last = k + 1 == b->columns && !b->t->columns[k].right;

    return sh->style.bare && is_last ? WR_MAX(b->widths[k], wr_text_width(text))
                                     : b->widths[k];
}

static void put_folded(const struct text_line *l, const char *text, size_t at)
{
    const struct sheet *sh = l->sheet;

    fprintf(sh->out, "%*s%s", (int)l->owed, "", paint(sh, l->color));
    wr_text_fold(sh->out, text, strlen(text),
                 (struct wr_text_wrap){at, at, sh->style.width});
    fputs(*l->color ? paint(sh, END) : "", sh->out);
}

static bool is_empty(const struct wr_doc_cell *cells, size_t from, size_t end)
{
    while (from < end && !*cells[from].text)
        from++;
    return from == end;
}

/* The cells of a row, up to the last with a text. */
static void put_cells(const struct sheet *sh, const struct text_block *b,
                      const struct wr_doc_cell *cells, size_t count)
{
    struct text_line l = {sh, sh->indent, ""};

    for (size_t k = 0; !is_empty(cells, k, count); k++) {
        const char *text = cells[k].text;

        if (!b->shown[k])
            continue;
        if (b->breaks[k]) {
            fputc('\n', sh->out);
            l.owed = sh->indent + HANG;
        }
        l.color = code_of(cells[k].tone);
        /* What is to be copied to a shell stays in one piece. */
        if (b->wraps && k + 1 == b->columns && strncmp(text, "$ ", 2) != 0)
            put_folded(&l, text, b->last);
        else
            put_cell(&l, text, cell_width(sh, b, k, text),
                     b->t->columns[k].right);
        l.owed += GAP;
    }
}

static void put_heads(const struct sheet *sh, const struct text_block *b,
                      const char *code)
{
    fputs(paint(sh, code), sh->out);
    put_cells(sh, b, b->heads, b->columns);
    fprintf(sh->out, "%s\n", paint(sh, END));
}

static void put_row(const struct sheet *sh, const struct text_block *b,
                    size_t row)
{
    size_t i = row * b->columns;

    put_cells(sh, b, &b->t->cells[i], WR_MIN(b->columns, b->t->cell_count - i));
    fputc('\n', sh->out);
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

/* Leaves out columns that a narrow terminal has no room for, from the right. */
static void spare(const struct sheet *sh, const struct wr_doc_table *t,
                  struct text_block *b)
{
    size_t used = sh->indent;

    for (size_t k = 0; k < b->columns; k++)
        used += b->widths[k] + (k ? GAP : 0);
    for (unsigned level = 2; level && !sh->style.whole; level--)
        for (size_t k = b->columns; k-- > 0;)
            if (t->columns[k].spare == level && used > sh->style.width) {
                used -= b->widths[k] + GAP;
                b->widths[k] = 0;
            }
}

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
        if (!b->widths[k])
            continue;
        used += GAP + b->widths[k];
        if (used > sh->style.width && k > first && !sh->style.whole)
            break;
        b->shown[k] = true;
    }
    return k;
}

/* Of a part: a blank line, and its name if it has one. */
static void put_title(const struct sheet *sh, const char *title)
{
    fputc('\n', sh->out);
    if (*title)
        fprintf(sh->out, "%s%s%s\n", paint(sh, BOLD), title, paint(sh, END));
}

static void put_table(const struct sheet *sh, const struct wr_doc_table *t)
{
    struct text_block b;
    size_t rows, next = 0;

    if (!begin_block(&b, t))
        goto out;
    rows = (t->cell_count + t->column_count - 1) / t->column_count;
    for (size_t k = 0; k < t->column_count; k++)
        b.widths[k] = WR_MIN(WR_MAX(b.widths[k], (size_t)1),
                             (size_t)sh->style.width * 3 / 5);
    spare(sh, t, &b);
    b.keys = count_keys(sh, t, b.widths, WR_MIN(rows, (size_t)ROWS_MAX));
    put_title(sh, t->title);
    do {
        if (next)
            fputc('\n', sh->out);
        next = choose(sh, &b, next);
        put_heads(sh, &b, DIM);
        for (size_t row = 0; row < rows && row < ROWS_MAX; row++)
            put_row(sh, &b, row);
    } while (next < t->column_count);
    if (rows > ROWS_MAX)
        fprintf(sh->out, "  ... and %zu rows more; CSV and HTML have all\n",
                rows - ROWS_MAX);
out:
    end_block(&b);
}

static void put_facts(const struct sheet *sh, const struct wr_doc_section *s)
{
    size_t width = 0;

    for (size_t i = 0; i < s->fact_count; i++)
        width = WR_MAX(width, wr_text_width(s->facts[i].key));
    width = WR_MIN(width, (size_t)sh->style.width / 3);
    width = WR_MAX(width, (size_t)(sh->style.list ? FACT_MIN : 0));
    for (size_t i = 0; i < s->fact_count; i++) {
        struct text_line l = {sh, sh->indent, ""};
        size_t at = l.owed + width + GAP;

        fputs(paint(sh, DIM), sh->out);
        put_cell(&l, s->facts[i].key, width, false);
        fprintf(sh->out, "%s%*s", paint(sh, END), (int)l.owed + GAP, "");
        wr_text_print(
            sh->out, s->facts[i].text,
            (struct wr_text_wrap){at, at, doc_text_width(&sh->style)});
    }
}

/* Those that warn, or the others; as a list where they stand below a title. */
static void put_notes(const struct sheet *sh, const struct wr_doc_section *s,
                      bool warnings)
{
    bool listed = !sh->style.bare || *s->title;
    size_t at = listed ? 4 : 0;

    for (size_t i = 0; i < s->note_count; i++) {
        bool warning = s->notes[i].warning;

        if (warning != warnings)
            continue;
        if (!listed && !warning && i && s->notes[i - 1].warning)
            fputc('\n', sh->out);
        fputs(warning ? paint(sh, AMBER) : "", sh->out);
        fputs(!listed ? "" : warning ? "  ! " : "  - ", sh->out);
        wr_text_print(
            sh->out, s->notes[i].text,
            (struct wr_text_wrap){at, at, doc_text_width(&sh->style)});
        if (warning)
            fputs(paint(sh, END), sh->out);
    }
}

/* What a chart shows, as a table that names the unit. */
static void put_numbers(const struct sheet *sh, const struct wr_doc_chart *c)
{
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_section *s = wr_doc_section(d, "");
    struct wr_doc_chart titled = *c;
    char title[200];

    snprintf(title, sizeof(title), "%.120s%s%.60s%s", c->title,
             *c->y ? " (" : "", c->y, *c->y ? ")" : "");
    titled.title = title;
    if (s)
        wr_doc_numbers_table(s, &titled);
    if (!wr_doc_failed(d) && s->item_count)
        put_table(sh, s->items[0].table);
    if (c->note && *c->note)
        fprintf(sh->out, "%s\n", c->note);
    wr_doc_free(d);
}

static void put_items(const struct sheet *sh, const struct wr_doc_section *s)
{
    for (size_t k = 0; k < s->item_count; k++) {
        const struct wr_doc_chart *c = s->items[k].chart;
        const struct wr_doc_lanes *l = s->items[k].lanes;

        if (s->items[k].table)
            put_table(sh, s->items[k].table);
        if (l && !wr_doc_lanes_are_empty(l)) {
            put_title(sh, l->title);
            wr_doc_print_lanes(l, &sh->style, sh->out);
        }
        if (!c || wr_doc_is_empty(c))
            continue;
        if (sh->style.numbers) {
            put_numbers(sh, c);
            continue;
        }
        put_title(sh, c->title);
        wr_doc_print_chart(c, &sh->style, sh->out);
    }
}

static void put_section(const struct sheet *sh, const struct wr_doc_section *s)
{
    size_t line = WR_MIN(wr_text_width(s->title), sh->style.width);

    /* Without a title, its tables bring their own blank lines. */
    if (*s->title || s->note_count || s->fact_count || !sh->style.bare)
        put_title(sh, s->title);
    for (size_t k = 0; k < line && !sh->style.bare; k++)
        fputc('=', sh->out);
    fputs(sh->style.bare ? "" : "\n", sh->out);
    doc_text_claim(s, &sh->style, sh->out);
    put_facts(sh, s);
    if (s->note_count && s->fact_count)
        fputc('\n', sh->out);
    put_notes(sh, s, /* warnings= */ true);
    put_notes(sh, s, /* warnings= */ false);
    put_items(sh, s);
    doc_text_verdict(s, &sh->style, sh->out);
}

/* --- what a command lists --- */

/* Columns that the last column needs at least, where it is wrapped. */
static size_t least_text(const struct wr_doc_table *t, size_t width)
{
    size_t least = TEXT_MIN;

    for (size_t i = t->column_count - 1; i < t->cell_count;
         i += t->column_count)
        for (const char *s = t->cells[i].text; *s; s += strspn(s, " ")) {
            size_t len = strcspn(s, " ");

            least = WR_MAX(least,
                           WR_MIN(wr_text_columns(s, len), (size_t)WORD_MAX));
            s += len;
        }
    return WR_MIN(least, width);
}

/* Rows that are too long for a terminal all go on in a further line from the same
 * column on. */
static void choose_breaks(const struct sheet *sh, struct text_block *b)
{
    const struct wr_doc_table *t = b->t;
    size_t at = sh->indent;

    if (sh->style.whole)
        return;
    b->wraps = !t->columns[b->columns - 1].right;
    for (size_t k = 0; k < b->columns; k++) {
        size_t wanted = b->wraps && k + 1 == b->columns
                            ? least_text(t, b->widths[k])
                            : b->widths[k];

        b->breaks[k] = k && at + wanted > sh->style.width;
        if (b->breaks[k])
            at = sh->indent + HANG;
        b->last = at;
        at += b->widths[k] + GAP;
    }
}

static void put_rows(const struct sheet *sh, const struct wr_doc_table *t)
{
    struct text_block b;

    if (begin_block(&b, t)) {
        choose_breaks(sh, &b);
        if (!is_empty(b.heads, 0, b.columns))
            put_heads(sh, &b, BOLD);
        for (size_t row = 0; row * b.columns < t->cell_count; row++)
            put_row(sh, &b, row);
    }
    end_block(&b);
}

/* Of what a command found: a sentence, with its blanks. */
static void put_listed(const struct sheet *sh, const struct wr_doc_note *n)
{
    fprintf(sh->out, "%*s%s", (int)sh->indent, "",
            n->warning ? paint(sh, AMBER) : "");
    wr_text_fold(sh->out, n->text, strlen(n->text),
                 (struct wr_text_wrap){sh->indent, sh->indent + HANG,
                                       doc_text_width(&sh->style)});
    fprintf(sh->out, "%s\n", n->warning ? paint(sh, END) : "");
}

/* Facts, sentences and tables, where they stand below a title a bit to the right. */
static void put_list(const struct sheet *sh, const struct wr_doc_section *s)
{
    struct sheet in = *sh;

    in.indent = *s->title ? GAP : 0;
    if (*s->title)
        fprintf(sh->out, "%s%s%s\n\n", paint(sh, BOLD), s->title,
                paint(sh, END));
    put_facts(&in, s);
    for (size_t i = 0; i < s->note_count; i++)
        put_listed(&in, &s->notes[i]);
    for (size_t k = 0; k < s->item_count; k++) {
        if (k || s->note_count || s->fact_count)
            fputc('\n', sh->out);
        if (s->items[k].table)
            put_rows(&in, s->items[k].table);
    }
}

void wr_doc_print_text(const struct wr_doc *d,
                       const struct wr_doc_text_style *style, FILE *out)
{
    struct sheet sh = {
        .out = out, .style = *style, .indent = style->bare ? 0 : GAP};

    sh.style.width = WR_MAX(style->width, WIDTH_MIN);
    if (!style->bare && !style->list) {
        fprintf(out, "%s%s%s\n%s\n", paint(&sh, BOLD), d->title,
                paint(&sh, END), d->subtitle);
        doc_text_top(d, &sh.style, out);
    }
    for (size_t i = 0; i < d->section_count; i++)
        if (!style->list) {
            put_section(&sh, d->sections[i]);
        } else {
            fputs(i ? "\n" : "", out);
            put_list(&sh, d->sections[i]);
        }
}

/* The only table of a document. */
static struct wr_doc_table *only_table(struct wr_doc *d, struct wr_doc_table *t)
{
    if (!wr_doc_failed(d))
        return t;
    wr_doc_free(d);
    return NULL;
}

struct wr_doc_table *wr_doc_list(const char *columns)
{
    struct wr_doc *d = wr_doc_new("", "");

    return only_table(d, wr_doc_table(wr_doc_section(d, ""), "", columns));
}

struct wr_doc_table *wr_doc_list_of(const struct wr_column *list)
{
    struct wr_doc *d = wr_doc_new("", "");

    return only_table(d, wr_doc_table_of(wr_doc_section(d, ""), "", list, 0));
}

int wr_doc_print_list(struct wr_doc_table *t, size_t indent,
                      const struct wr_doc_text_style *style, FILE *out,
                      weir_err *err)
{
    bool failed = !t || wr_doc_failed(t->doc);

    if (!failed)
        put_rows(&(struct sheet){out, *style, indent}, t);
    wr_doc_free(t ? t->doc : NULL);
    return failed ? wr_fail(err, WEIR_ENOMEM, "no memory for a table") : 0;
}
