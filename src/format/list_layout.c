/* list_layout.c - the rows of a list, and which columns hold the paths and labels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/list_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/units.h"
#include "format/csv.h"

/* --- rows of a list of paths and labels, parsed where they lie --- */

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

/* The row from c->at to its newline, or to the end of the text. */
static struct wr_csv_row row_at(const struct wr_list_rows *c, const char *end)
{
    end -= end > c->at && end[-1] == '\r';
    return wr_csv_row(c->at, end, c->separator);
}

/* Finds the end of the row at c->at (its newline, or `end`) without changing
 * anything. Returns what is wrong with it, or NULL. */
static const char *scan_row(const struct wr_list_rows *c, const char *end,
                            const char **ret_end)
{
    const char *row_end = wr_csv_row_end(c->at, end, c->separator);
    struct wr_csv_field f;
    struct wr_csv_row row;

    if (!row_end)
        return "a quote that is never closed";
    for (row = row_at(c, row_end); wr_csv_row_field(&row, &f);)
        if (f.bad)
            return "text after a closing quote";
    if (memchr(c->at, '\0', (size_t)(row_end - c->at)))
        return "a zero byte";
    if (row.column - 1 > c->columns && c->columns == 2)
        return "more than two columns (a path with a comma needs quotes)";
    if (row.column - 1 > c->columns)
        return "more columns than the first row has (a field with a separator "
               "in it needs quotes)";
    *ret_end = row_end;
    return NULL;
}

/* Cuts the next field out of its row in `text`; NULL: there is none, or only
 * what stands behind a separator at the end. */
static char *take_field(char *text, struct wr_csv_row *row)
{
    const char *start = row->at;
    struct wr_csv_field f;
    char *field;

    if ((row->column > 1 && start >= row->end) || !wr_csv_row_field(row, &f))
        return NULL;
    field = text + (f.at - text);
    if (f.doubled)
        f.len = wr_csv_field_copy(&f, field);
    field[f.len] = '\0';
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

/* Finds the next row, `ret_row`, and steps behind it. False at the end; ret->bad
 * says when it is of no use. */
static bool next_row(struct wr_list_rows *c, struct wr_list_row *ret,
                     struct wr_csv_row *ret_row)
{
    char *row_end;

    skip_lines(c);
    if (c->at >= c->end)
        return false;
    *ret = (struct wr_list_row){.line = c->line};
    row_end = find_row_end(c, ret);
    if (!row_end)
        row_end = memchr(c->at, '\n', (size_t)(c->end - c->at));
    if (!row_end)
        row_end = c->end;
    *ret_row = row_at(c, row_end);
    step_behind(c, row_end);
    return true;
}

bool wr_list_rows_next(struct wr_list_rows *c, struct wr_list_row *ret)
{
    char *text = c->at, *field;
    struct wr_csv_row row;

    if (!next_row(c, ret, &row))
        return false;
    for (unsigned k = 0; !ret->bad && (field = take_field(text, &row)); k++) {
        if (k == c->path_at)
            ret->path = field;
        else if (k == c->label_at)
            ret->label = trim(field);
        for (unsigned m = 0; m < c->more; m++)
            if (k == c->more_at[m])
                ret->more[m] = field;
    }
    if (!ret->bad && !ret->path)
        ret->bad = "too few columns: no path";
    if (ret->label && !*ret->label)
        ret->label = NULL;
    return true;
}

/* The next row as its fields, blanks around them cut off: how many there are,
 * of which `max` are returned. 0 at the end, or when the row is of no use. */
static unsigned next_fields(struct wr_list_rows *c, char **ret, unsigned max)
{
    char *text = c->at, *field;
    struct wr_list_row found;
    struct wr_csv_row row;
    unsigned n = 0;

    if (!next_row(c, &found, &row) || found.bad)
        return 0;
    for (; (field = take_field(text, &row)); n++)
        if (n < max)
            ret[n] = trim(field);
    return n;
}

/* --- which columns of a list hold the paths and the labels --- */

#define FIELDS_MAX 256u
#define SPEC_HELP                                                              \
    "write path=NAME,label=NAME: names of the header, or numbers from 1"

/* The first rows, copied and taken apart. */
struct rows {
    char *text; /* owned */
    char *first[FIELDS_MAX];
    unsigned count;  /* columns of the first row */
    unsigned second; /* and of the second one; 0: there is none */
};

/* What `columns` says: fields, and the columns that they are. The first one is
 * the path's unless "path" is among them. */
struct column_wish {
    char field[WR_LIST_MORE + 2][WR_LIST_NAME];
    char column[WR_LIST_MORE + 2][WR_LIST_NAME];
    unsigned count;
};

static void split(struct rows *r, const char *text, size_t len, char separator)
{
    char *ignored[1];
    struct wr_list_rows csv;

    memcpy(r->text, text, len);
    wr_list_rows_init(&csv, r->text, len);
    csv.separator = separator;
    csv.columns = WR_LIST_NONE;
    r->count = next_fields(&csv, r->first, FIELDS_MAX);
    r->second = next_fields(&csv, ignored, 1);
    r->count = WR_MIN(r->count, FIELDS_MAX);
}

/* Tabs, if the first row has some and no comma. */
static char find_separator(struct rows *r, const char *text, size_t len)
{
    split(r, text, len, ',');
    if (r->count != 1)
        return ',';
    split(r, text, len, '\t');
    return r->count > 1 ? '\t' : ',';
}

/* "file, class, split", for messages. */
static const char *found(const struct rows *r, char *buf, size_t cap)
{
    char shown[64];
    size_t used = 0;

    buf[0] = '\0';
    for (unsigned k = 0; k < r->count && used < cap; k++)
        used += (size_t)snprintf(
            buf + used, cap - used, "%s%s", k ? ", " : "",
            wr_text_show(r->first[k], true, shown, sizeof(shown)));
    return buf;
}

/* "path=file,label=class" into its names. */
static int parse_spec(const char *spec, struct column_wish *ret, weir_err *err)
{
    *ret = (struct column_wish){0};
    for (const char *at = spec;; at++) {
        size_t len = strcspn(at, ","), key = strcspn(at, "=,");
        unsigned n = ret->count;

        if (!key || at[key] != '=' || key + 1 == len || key >= WR_LIST_NAME ||
            len - key > WR_LIST_NAME || n == WR_LIST_MORE + 2)
            return wr_fail(err, WEIR_EINVAL, "columns '%s': " SPEC_HELP, spec);
        memcpy(ret->field[n], at, key);
        memcpy(ret->column[n], at + key + 1, len - key - 1);
        for (unsigned k = 0; k < n; k++)
            if (!strcmp(ret->field[k], ret->field[n]))
                return wr_fail(err, WEIR_EINVAL, "columns '%s': " SPEC_HELP,
                               spec);
        ret->count++;
        at += len;
        if (!*at)
            return 0;
    }
}

/* The one of `w` that is called so; w->count: none. */
static unsigned wish_of(const struct column_wish *w, const char *field)
{
    unsigned k = 0;

    while (k < w->count && strcmp(w->field[k], field) != 0)
        k++;
    return k;
}

static unsigned column_of(const struct rows *r, const char *name)
{
    for (unsigned k = 0; k < r->count; k++)
        if (!wr_strcasecmp(r->first[k], name))
            return k;
    return WR_LIST_NONE;
}

/* A number, or a name of the header, which there is then. */
static int pick(const struct rows *r, const char *name, unsigned *ret,
                bool *header, weir_err *err)
{
    bool is_number = name[strspn(name, "0123456789")] == '\0';
    unsigned k = WR_LIST_NONE;
    uint64_t number;
    char all[512];

    if (!is_number)
        k = column_of(r, name);
    else if (wr_parse_uint(name, 1, r->count, &number, NULL) == 0)
        k = (unsigned)number - 1;
    if (k == WR_LIST_NONE)
        return wr_fail(err, WEIR_EINVAL, "no column %s%s%s; there are %s",
                       is_number ? "" : "'", name, is_number ? "" : "'",
                       found(r, all, sizeof(all)));
    *header |= !is_number;
    *ret = k;
    return 0;
}

/* The columns that were wished for. */
static int pick_all(const struct rows *r, const struct column_wish *w,
                    unsigned path, struct wr_list_layout *ret, weir_err *err)
{
    int e = 0;

    for (unsigned k = 0; k < w->count && e == 0; k++) {
        unsigned *to = k == path ? &ret->path
                       : !strcmp(w->field[k], "label")
                           ? &ret->label
                           : &ret->more_at[ret->more];

        if (to == &ret->more_at[ret->more])
            memcpy(ret->names[ret->more++], w->field[k], WR_LIST_NAME);
        e = pick(r, w->column[k], to, &ret->header, err);
    }
    return e;
}

static int by_spec(const struct rows *r, const char *spec,
                   struct wr_list_layout *ret, weir_err *err)
{
    struct column_wish w;
    unsigned path;
    int e = parse_spec(spec, &w, err);

    if (e < 0)
        return e;
    path = wish_of(&w, "path");
    if (path == w.count && strcmp(w.field[0], "label") != 0)
        path = 0;
    if (path == w.count || w.count > WR_LIST_MORE)
        return wr_fail(err, WEIR_EINVAL, "columns '%s': " SPEC_HELP, spec);
    if (!r->count)
        return 0; /* an empty list, or a first row of no use: said later */
    if (strcmp(w.field[path], "path") != 0)
        memcpy(ret->field, w.field[path], WR_LIST_NAME);
    ret->label = WR_LIST_NONE;
    ret->columns = r->count;
    return pick_all(r, &w, path, ret, err);
}

/* A header that has "image" among more than two names: all of its columns. */
static bool by_header(const struct rows *r, struct wr_list_layout *ret)
{
    unsigned image = column_of(r, "image");

    if (image == WR_LIST_NONE || r->count < 3 || r->second != r->count ||
        r->count > WR_LIST_MORE)
        return false;
    ret->header = true;
    ret->columns = r->count;
    ret->path = image;
    ret->label = column_of(r, "label");
    for (unsigned k = 0; k < r->count; k++) {
        if (k == image || k == ret->label)
            continue;
        if (!*r->first[k] || strlen(r->first[k]) >= WR_LIST_NAME ||
            column_of(r, r->first[k]) != k) /* the name comes twice */
            return false;
        memcpy(ret->names[ret->more], r->first[k], strlen(r->first[k]) + 1);
        ret->more_at[ret->more++] = k;
    }
    return true;
}

static int fail_layout(const struct rows *r, weir_err *err)
{
    char all[512];

    return wr_fail(err, WEIR_EFORMAT,
                   "%u columns: %s; say which are the path and the label, by "
                   "names or numbers: path=NAME,label=NAME (option --columns, "
                   "cfg.columns); where rows are samples themselves: --format "
                   "csv",
                   r->count, found(r, all, sizeof(all)));
}

/* The columns beside path and label. */
static void name_left(const struct rows *r, struct wr_list_layout *ret)
{
    size_t cap = sizeof(ret->left) - 8, used = 0;
    char shown[64];

    for (unsigned k = 0; k < r->count && used < cap; k++)
        if (k != ret->path && k != ret->label)
            used += (size_t)snprintf(
                ret->left + used, cap - used, "%s'%s'", used ? ", " : "",
                wr_text_show(r->first[k], true, shown, sizeof(shown)));
    if (used >= cap)
        strcat(ret->left, ", ...");
}

/* Columns that are called path and label, or else the first two. */
static int by_names(const struct rows *r, struct wr_list_layout *ret,
                    weir_err *err)
{
    unsigned path = column_of(r, "path"), label = column_of(r, "label");

    if (path != WR_LIST_NONE && (label != WR_LIST_NONE || r->count == 1)) {
        ret->header = true;
        ret->path = path;
        ret->label = label;
        ret->columns = WR_MAX(r->count, 2u);
        name_left(r, ret);
        return 0;
    }
    if (path == WR_LIST_NONE && by_header(r, ret))
        return 0;
    if (path != WR_LIST_NONE || (r->count > 2 && r->second == r->count))
        return fail_layout(r, err);
    return 0;
}

int wr_list_layout_find(const char *text, size_t len, const char *spec,
                        struct wr_list_layout *ret, weir_err *err)
{
    struct wr_list_layout l = {
        .path = 0, .label = 1, .columns = 2, .field = "image"};
    size_t seen = WR_MIN(len, (size_t)1 << 20);
    struct rows *r = calloc(1, sizeof(*r));
    int e = 0;

    if (r)
        r->text = malloc(seen + 1);
    if (!r || !r->text) {
        e = wr_fail(err, WEIR_ENOMEM, "out of memory");
    } else {
        r->text[seen] = '\0';
        l.separator = find_separator(r, text, seen);
        e = spec ? by_spec(r, spec, &l, err) : by_names(r, &l, err);
    }
    if (e == 0)
        *ret = l;
    free(r ? r->text : NULL);
    free(r);
    return e;
}
