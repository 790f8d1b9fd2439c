/* table.c - aligned columns of text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/screen.h"

#define COLUMNS_MAX 24
#define GAP         2  /* blanks between columns */
#define HANG        4  /* blanks more in front of a row's second line */
#define TEXT_MIN    16 /* columns that a text wants, to be wrapped in them */

struct wr_table {
    size_t columns;
    bool right[COLUMNS_MAX];
    bool headed; /* row 0 holds headings */
    bool short_of_memory;
    size_t count, cap;
    char **cell; /* owned, as is each; row by row, the headings first */
};

static void add_cell(struct wr_table *t, char *text)
{
    if (!text || !wr_grow(&t->cell, &t->cap, t->count + 1, sizeof(*t->cell))) {
        t->short_of_memory = true;
        free(text);
        return;
    }
    t->cell[t->count++] = text;
}

struct wr_table *wr_table_new(const char *columns)
{
    struct wr_table *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    for (const char *at = columns; *at && t->columns < COLUMNS_MAX;) {
        size_t len;

        t->right[t->columns++] = *at++ == '>';
        len = strcspn(at, "|");
        t->headed |= len > 0;
        add_cell(t, strndup(at, len));
        at += len + (at[len] == '|');
    }
    return t;
}

struct wr_table *wr_table_of(const struct wr_column *list, unsigned which)
{
    struct wr_table *t = calloc(1, sizeof(*t));

    for (; t && list->head && t->columns < COLUMNS_MAX; list++) {
        if (list->only && !(list->only & which))
            continue;
        t->right[t->columns++] = list->side == '>';
        t->headed |= *list->head != '\0';
        add_cell(t, strdup(list->head));
    }
    return t;
}

void wr_table_free(struct wr_table *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->count; i++)
        free(t->cell[i]);
    free(t->cell);
    free(t);
}

void wr_table_cell(struct wr_table *t, const char *fmt, ...)
{
    char *text = NULL;
    va_list ap;

    if (!t)
        return;
    va_start(ap, fmt);
    if (vasprintf(&text, fmt, ap) < 0)
        text = NULL;
    va_end(ap);
    add_cell(t, text ? wr_text_clean(text) : NULL);
    free(text);
}

/* How the rows lie on the screen. Where they are too long for a terminal, all go
 * on in a further line from the same column on, and a text at their end is wrapped
 * below itself. */
struct table_layout {
    size_t indent, screen; /* columns; screen 0: no terminal */
    size_t width[COLUMNS_MAX];
    bool breaks[COLUMNS_MAX]; /* begins a line */
    size_t last;              /* where the last column begins */
};

/* Columns that the last column needs at least, where it is wrapped. */
static size_t least_text(const struct wr_table *t, size_t width)
{
    size_t least = TEXT_MIN;

    for (size_t i = t->columns - 1; i < t->count; i += t->columns)
        for (const char *s = t->cell[i]; *s; s += strspn(s, " ")) {
            size_t len = strcspn(s, " ");

            least = WR_MAX(least, wr_text_columns(s, len));
            s += len;
        }
    return WR_MIN(least, width);
}

static void measure(const struct wr_table *t, struct table_layout *l)
{
    size_t at = l->indent;

    for (size_t i = 0; i < t->count; i++) {
        size_t w = wr_text_width(t->cell[i]);

        if (w > l->width[i % t->columns])
            l->width[i % t->columns] = w;
    }
    for (size_t c = 0; c < t->columns; c++) {
        bool wraps = c + 1 == t->columns && !t->right[c];
        size_t wanted = wraps ? least_text(t, l->width[c]) : l->width[c];

        l->breaks[c] = l->screen && c && at + wanted > l->screen;
        if (l->breaks[c])
            at = l->indent + HANG;
        l->last = at;
        at += l->width[c] + GAP;
    }
}

static bool is_empty_from(const struct wr_table *t, size_t cell, size_t end)
{
    while (cell < end && !*t->cell[cell])
        cell++;
    return cell == end;
}

static void print_row(const struct wr_table *t, FILE *to, size_t first,
                      const struct table_layout *l)
{
    size_t end = WR_MIN(first + t->columns, t->count);
    size_t pending = 0; /* blanks owed: no line ends with any */

    for (size_t c = 0; !is_empty_from(t, first + c, end); c++) {
        const char *text = t->cell[first + c];
        size_t blanks = l->width[c] - wr_text_width(text);

        if (l->breaks[c]) {
            fputc('\n', to);
            pending = l->indent + HANG;
        }
        if (t->right[c])
            pending += blanks;
        if (*text) {
            fprintf(to, "%*s", (int)pending, "");
            if (l->screen && c + 1 == t->columns && !t->right[c])
                wr_text_fold(
                    to, text, strlen(text),
                    (struct wr_text_wrap){l->last, l->last, l->screen});
            else
                fputs(text, to);
            pending = 0;
        }
        pending += (t->right[c] ? 0 : blanks) + GAP;
    }
}

int wr_table_print(const struct wr_table *t, const struct wr_cli *cli,
                   unsigned indent, weir_err *err)
{
    struct table_layout l = {.indent = indent,
                             .screen = wr_screen_width(cli->out)};

    if (!t || t->short_of_memory)
        return wr_fail(err, WEIR_ENOMEM, "no memory for a table");
    if (!t->columns)
        return 0;
    measure(t, &l);
    for (size_t i = t->headed ? 0 : t->columns; i < t->count; i += t->columns) {
        fprintf(cli->out, "%*s%s", (int)indent, "",
                i ? "" : wr_cli_style(cli, WR_STYLE_BOLD));
        print_row(t, cli->out, i, &l);
        fprintf(cli->out, "%s\n", i ? "" : wr_cli_style(cli, WR_STYLE_END));
    }
    return 0;
}
