/* csv_row.c - one row of a CSV file: where it ends, and its fields.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/csv_row.h"

#include <string.h>

const char *wr_csv_quoted_end(const char *p, const char *end)
{
    for (p++; p < end; p += 2) {
        p = memchr(p, '"', (size_t)(end - p));
        if (!p)
            return NULL;
        if (p + 1 == end || p[1] != '"')
            return p + 1;
    }
    return NULL;
}

const char *wr_csv_row_end(const char *at, const char *end, char separator)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const char *limit = newline ? newline : end, *p = at;

    if (!memchr(at, '"', (size_t)(limit - at)))
        return limit;
    for (;; p++) { /* at the beginning of a field */
        if (p < end && *p == '"') {
            p = wr_csv_quoted_end(p, end);
            if (!p)
                return NULL;
        }
        while (p < end && *p != separator && *p != '\n')
            p++;
        if (p == end || *p == '\n')
            return p;
    }
}

/* The end of a field that does not begin with a quote. */
static const char *plain_end(const struct wr_csv_row *row, const char *from)
{
    const char *p = memchr(from, row->separator, (size_t)(row->end - from));

    return p ? p : row->end;
}

bool wr_csv_row_field(struct wr_csv_row *row, struct wr_csv_field *ret)
{
    const char *at = row->at, *closed = NULL, *end;

    if (!row->open)
        return false;
    *ret = (struct wr_csv_field){.at = at};
    if (at < row->end && *at == '"') {
        closed = wr_csv_quoted_end(at, row->end);
        ret->quoted = true;
        if (!closed)
            ret->bad = "a quote that is never closed";
    }
    end = plain_end(row, closed ? closed : at);
    if (closed) {
        ret->at = at + 1;
        ret->len = (size_t)(closed - 1 - ret->at);
        ret->doubled = memchr(ret->at, '"', ret->len) != NULL;
        if (end != closed)
            ret->bad = "text after its closing quote";
    } else {
        ret->len = (size_t)(end - at);
    }
    row->open = end < row->end;
    row->at = end + row->open;
    row->column++;
    return true;
}

bool wr_csv_row_skip(struct wr_csv_row *row, unsigned count)
{
    struct wr_csv_field f;

    for (; count && row->open; count--) {
        if (row->at < row->end && *row->at == '"') {
            wr_csv_row_field(row, &f);
            continue;
        }
        row->at = plain_end(row, row->at);
        row->open = row->at < row->end;
        row->at += row->open;
        row->column++;
    }
    return !count;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

void wr_csv_field_trim(struct wr_csv_field *f)
{
    for (; f->len && is_blank(f->at[0]); f->len--)
        f->at++;
    while (f->len && is_blank(f->at[f->len - 1]))
        f->len--;
}

bool wr_csv_field_is_missing(const struct wr_csv_field *f)
{
    return !f->len || (f->len == 2 && !memcmp(f->at, "NA", 2));
}

size_t wr_csv_field_copy(const struct wr_csv_field *f, char *buf)
{
    char *w = buf;

    for (size_t k = 0; k < f->len; k++) {
        *w++ = f->at[k];
        k += f->doubled && f->at[k] == '"';
    }
    return (size_t)(w - buf);
}
