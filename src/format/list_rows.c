/* list_rows.c - rows of a list of paths and labels, parsed where they lie.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/list_rows.h"

#include <string.h>

#include "base/mem.h"
#include "format/csv_row.h"

void wr_list_rows_init(struct wr_list_rows *c, char *text, size_t len)
{
    size_t skip = len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;

    *c = (struct wr_list_rows){.at = text + skip,
                               .end = text + len,
                               .line = 1,
                               .separator = ',',
                               .path_at = 0,
                               .label_at = 1,
                               .columns = 2};
}

/* Finds the end of the row at c->at (its newline, or `end`) without changing
 * anything. Returns what is wrong with it, or NULL. */
static const char *scan_row(const struct wr_list_rows *c, const char *end,
                            const char **ret_end)
{
    const char *start = c->at, *p = start;
    unsigned fields = 1;

    for (;; p++, fields++) {
        if (p < end && *p == '"') {
            p = wr_csv_quoted_end(p, end);
            if (!p)
                return "a quote that is never closed";
            if (p < end && *p == '\r')
                p++;
            if (p < end && *p != c->separator && *p != '\n')
                return "text after a closing quote";
        }
        while (p < end && *p != c->separator && *p != '\n')
            p++;
        if (p == end || *p == '\n')
            break;
    }
    if (memchr(start, '\0', (size_t)(p - start)))
        return "a zero byte";
    if (fields > c->columns && c->columns == 2)
        return "more than two columns (a path with a comma needs quotes)";
    if (fields > c->columns)
        return "more columns than the first row has (a field with a separator "
               "in it needs quotes)";
    *ret_end = p;
    return NULL;
}

/* Cuts the field at *at out of its row and steps behind it. */
static char *take_field(const struct wr_list_rows *c, char **at, char *row_end)
{
    char *p = *at, *field = p, *w = p;

    if (p < row_end && *p == '"') {
        for (p++; *p != '"' || (p + 1 < row_end && p[1] == '"'); p++) {
            if (*p == '"')
                p++;
            *w++ = *p;
        }
        p++;
        if (p < row_end && *p == '\r')
            p++;
    } else {
        while (p < row_end && *p != c->separator)
            p++;
        w = p > field && p == row_end && p[-1] == '\r' ? p - 1 : p;
    }
    *at = p < row_end ? p + 1 : p;
    *w = '\0';
    return field;
}

static char *trim(char *text)
{
    size_t n;

    text += strspn(text, " \t");
    n = strlen(text);
    while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        n--;
    text[n] = '\0';
    return text;
}

/* Skips what holds no row: empty lines and comments. */
static void skip_lines(struct wr_list_rows *c)
{
    while (c->at < c->end) {
        size_t left = (size_t)(c->end - c->at);
        bool crlf = *c->at == '\r' && (left == 1 || c->at[1] == '\n');
        char *newline;

        if (*c->at != '#' && *c->at != '\n' && !crlf)
            return;
        newline = memchr(c->at, '\n', left);
        c->at = newline ? newline + 1 : c->end;
        c->line++;
    }
}

/* Steps behind a row and counts the lines it took. */
static void step_behind(struct wr_list_rows *c, char *row_end)
{
    for (char *p = c->at; p < row_end; p++)
        c->line += *p == '\n';
    c->line++;
    c->at = row_end < c->end ? row_end + 1 : c->end;
}

/* The row at c->at, from its start to its newline or the end of the text;
 * NULL, and ret->bad, when it is of no use. */
static char *find_row_end(const struct wr_list_rows *c, struct wr_list_row *ret)
{
    size_t left = (size_t)(c->end - c->at);
    size_t seen = WR_MIN(left, (size_t)WR_LIST_MAX_ROW);
    const char *limit = c->at + seen;
    const char *row_end = NULL;

    ret->bad = scan_row(c, limit, &row_end);
    if (seen < left &&
        (ret->bad ? !memchr(c->at, '\n', seen) : row_end == limit))
        ret->bad = "longer than 16384 bytes";
    return ret->bad ? NULL : c->at + (row_end - c->at);
}

/* Finds the next row and steps behind it: *ret_at and *ret_end are its bytes.
 * False at the end; ret->bad says when it is of no use. */
static bool next_row(struct wr_list_rows *c, struct wr_list_row *ret,
                     char **ret_at, char **ret_end)
{
    char *at, *row_end;

    skip_lines(c);
    if (c->at >= c->end)
        return false;
    *ret = (struct wr_list_row){.line = c->line};
    at = c->at;
    row_end = find_row_end(c, ret);
    if (!row_end)
        row_end = memchr(at, '\n', (size_t)(c->end - at));
    step_behind(c, row_end ? row_end : c->end);
    *ret_at = at;
    *ret_end = row_end;
    return true;
}

bool wr_list_rows_next(struct wr_list_rows *c, struct wr_list_row *ret)
{
    char *at, *row_end;
    unsigned k = 0;

    if (!next_row(c, ret, &at, &row_end))
        return false;
    if (ret->bad)
        return true;
    do {
        char *field = take_field(c, &at, row_end);

        if (k == c->path_at)
            ret->path = field;
        else if (k == c->label_at)
            ret->label = trim(field);
        for (unsigned m = 0; m < c->more; m++)
            if (k == c->more_at[m])
                ret->more[m] = field;
        k++;
    } while (at < row_end);
    if (!ret->path)
        ret->bad = "too few columns: no path";
    if (ret->label && !*ret->label)
        ret->label = NULL;
    return true;
}

unsigned wr_list_rows_fields(struct wr_list_rows *c, char **ret, unsigned max)
{
    struct wr_list_row row;
    char *at, *row_end;
    unsigned n = 0;

    if (!next_row(c, &row, &at, &row_end) || row.bad)
        return 0;
    do {
        char *field = trim(take_field(c, &at, row_end));

        if (n < max)
            ret[n] = field;
        n++;
    } while (at < row_end);
    return n;
}
