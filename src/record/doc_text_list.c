/* doc_text_list.c - tables of what a command lists, on a terminal.
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/doc_text_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

#define GAP      2  /* blanks between columns */
#define HANG     4  /* blanks more in front of a row's second line */
#define TEXT_MIN 16 /* columns that a text wants, to be wrapped in them */
#define WORD_MAX                                                               \
    32 /* of a word that it may want more for: a longer one, as the
                       path of a module, sticks out, and moves no column */

#define BOLD  "\033[1m"
#define GREEN "\033[32m"
#define RED   "\033[31m"
#define END   "\033[0m"

/* How the rows lie on the screen. Where they are too long for a terminal, all go
 * on in a further line from the same column on, and a text at their end is wrapped
 * below itself. */
struct rows_layout {
    const struct wr_doc_table *t;
    FILE *out;
    bool colour;
    size_t indent, screen; /* columns; screen 0: no terminal */
    size_t *width;         /* owned: of each column */
    bool *breaks;          /* owned: which begins a line */
    size_t last;           /* where the last column begins */
};

static bool wraps(const struct wr_doc_table *t, size_t column)
{
    return column + 1 == t->column_count && !t->columns[column].right;
}

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

static bool has_heads(const struct wr_doc_table *t)
{
    for (size_t c = 0; c < t->column_count; c++)
        if (*t->columns[c].heading)
            return true;
    return false;
}

static void measure_rows(struct rows_layout *l)
{
    const struct wr_doc_table *t = l->t;
    size_t at = l->indent;

    for (size_t c = 0; c < t->column_count; c++)
        l->width[c] = wr_text_width(t->columns[c].heading);
    for (size_t i = 0; i < t->cell_count; i++)
        l->width[i % t->column_count] = WR_MAX(l->width[i % t->column_count],
                                               wr_text_width(t->cells[i].text));
    for (size_t c = 0; c < t->column_count; c++) {
        size_t wanted = wraps(t, c) ? least_text(t, l->width[c]) : l->width[c];

        l->breaks[c] = l->screen && c && at + wanted > l->screen;
        if (l->breaks[c])
            at = l->indent + HANG;
        l->last = at;
        at += l->width[c] + GAP;
    }
}

static void put_text(const struct rows_layout *l, size_t c,
                     const struct wr_doc_cell *cell)
{
    static const char *const colors[] = {
        [WR_DOC_PLAIN] = "", [WR_DOC_GOOD] = GREEN, [WR_DOC_BAD] = RED};
    const char *color = l->colour ? colors[cell->tone] : "";

    fputs(color, l->out);
    /* What is to be copied to a shell stays in one piece. */
    if (l->screen && wraps(l->t, c) && strncmp(cell->text, "$ ", 2) != 0)
        wr_text_fold(l->out, cell->text, strlen(cell->text),
                     (struct wr_text_wrap){l->last, l->last, l->screen});
    else
        fputs(cell->text, l->out);
    fputs(*color ? END : "", l->out);
}

static bool is_empty(const struct wr_doc_cell *cells, size_t from, size_t end)
{
    while (from < end && !*cells[from].text)
        from++;
    return from == end;
}

/* No line ends with blanks. */
static void put_cells(const struct rows_layout *l,
                      const struct wr_doc_cell *cells, size_t count)
{
    size_t pending = l->indent; /* blanks owed */

    for (size_t c = 0; !is_empty(cells, c, count); c++) {
        const char *text = cells[c].text;
        size_t blanks = l->width[c] - wr_text_width(text);
        bool right = l->t->columns[c].right;

        if (l->breaks[c]) {
            fputc('\n', l->out);
            pending = l->indent + HANG;
        }
        pending += right ? blanks : 0;
        if (*text) {
            fprintf(l->out, "%*s", (int)pending, "");
            put_text(l, c, &cells[c]);
            pending = 0;
        }
        pending += (right ? 0 : blanks) + GAP;
    }
}

static void put_heads(const struct rows_layout *l)
{
    struct wr_doc_cell *heads = calloc(l->t->column_count, sizeof(*heads));

    for (size_t c = 0; heads && c < l->t->column_count; c++)
        heads[c].text = l->t->columns[c].heading;
    if (heads) {
        fputs(l->colour ? BOLD : "", l->out);
        put_cells(l, heads, l->t->column_count);
        fprintf(l->out, "%s\n", l->colour ? END : "");
    }
    free(heads);
}

void wr_doc_text_list(const struct wr_doc_table *t, size_t indent,
                      const struct wr_doc_text_style *style, FILE *out)
{
    struct rows_layout l = {
        .t = t,
        .out = out,
        .colour = style->colour,
        .indent = indent,
        .screen = style->whole ? 0 : style->width,
        .width = calloc(t->column_count + 1, sizeof(*l.width)),
        .breaks = calloc(t->column_count + 1, sizeof(*l.breaks)),
    };

    if (l.width && l.breaks && t->column_count) {
        measure_rows(&l);
        if (has_heads(t))
            put_heads(&l);
        for (size_t i = 0; i < t->cell_count; i += t->column_count) {
            put_cells(&l, &t->cells[i],
                      WR_MIN(t->column_count, t->cell_count - i));
            fputc('\n', out);
        }
    }
    free(l.width);
    free(l.breaks);
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
        wr_doc_text_list(t, indent, style, out);
    wr_doc_free(t ? t->doc : NULL);
    return failed ? wr_fail(err, WEIR_ENOMEM, "no memory for a table") : 0;
}
