/* table.c - aligned columns of text.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

#define COLUMNS_MAX 24
#define GAP         2 /* blanks between columns */

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
    add_cell(t, text);
}

static void measure(const struct wr_table *t, size_t *width)
{
    for (size_t i = 0; i < t->count; i++) {
        size_t w = wr_text_width(t->cell[i]);

        if (w > width[i % t->columns])
            width[i % t->columns] = w;
    }
}

static void print_row(const struct wr_table *t, FILE *to, size_t first,
                      const size_t *width)
{
    size_t pending = 0; /* blanks owed: no line ends with any */

    for (size_t c = 0; c < t->columns && first + c < t->count; c++) {
        const char *text = t->cell[first + c];
        size_t blanks = width[c] - wr_text_width(text);

        if (t->right[c])
            pending += blanks;
        if (*text) {
            fprintf(to, "%*s%s", (int)pending, "", text);
            pending = 0;
        }
        pending += (t->right[c] ? 0 : blanks) + GAP;
    }
}

int wr_table_print(const struct wr_table *t, const struct wr_cli *cli,
                   unsigned indent, weir_err *err)
{
    size_t width[COLUMNS_MAX] = {0};

    if (!t || t->short_of_memory)
        return wr_fail(err, WEIR_ENOMEM, "no memory for a table");
    if (!t->columns)
        return 0;
    measure(t, width);
    for (size_t i = t->headed ? 0 : t->columns; i < t->count; i += t->columns) {
        fprintf(cli->out, "%*s%s", (int)indent, "",
                i ? "" : wr_cli_style(cli, WR_STYLE_BOLD));
        print_row(t, cli->out, i, width);
        fprintf(cli->out, "%s\n", i ? "" : wr_cli_style(cli, WR_STYLE_END));
    }
    return 0;
}
