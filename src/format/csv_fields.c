/* csv_fields.c - rows of CSV files, and their columns as fields.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/csv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dtype.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "format/guess.h"
#include "format/remarks.h"
#include "format/text_number.h"
#include "format/text_scan.h"

/* --- one row of a CSV file: where it ends, and its fields --- */

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

/* --- the columns of CSV files as fields, and a row as their bytes --- */

/* --- the schema --- */

/* The name of column k: what the header says, or its number. */
static void name_column(const struct wr_csv_layout *l, struct wr_index *ix,
                        unsigned k, char *name)
{
    struct wr_csv_row row = wr_csv_row(l->first, l->first + l->first_len,
                                       l->separator);
    struct wr_csv_field f = {0};
    size_t len = 0;

    if (l->header && wr_csv_row_skip(&row, k - 1) &&
        wr_csv_row_field(&row, &f) && f.len < WR_FIELD_NAME - 16) {
        wr_csv_field_trim(&f);
        len = wr_csv_field_copy(&f, name);
    }
    name[len] = '\0';
    if (!len || memchr(name, '\0', len))
        snprintf(name, WR_FIELD_NAME, "%u", k);
    len = strlen(name);
    if (wr_schema_find(wr_index_fields(ix), name) || !strcmp(name, "line"))
        snprintf(name + len, WR_FIELD_NAME - len, "_%u", k);
}

static int add_column(struct wr_index_job *job, const struct wr_csv_layout *l,
                      unsigned k, weir_err *err)
{
    bool label = k == l->label, value = label && l->label_kind == WR_CSV_VALUE;
    char name[WR_FIELD_NAME];
    struct wr_field f;
    int r;

    name_column(l, job->index, k, name);
    f = wr_guess_field(name, label ? WEIR_FIELD_SCALAR : WEIR_FIELD_BYTES,
                       WEIR_I64);
    snprintf(f.path, sizeof(f.path), "%u", k);
    f.pub.is_label = label;
    f.pub.is_extra = !label;
    f.unpacked = !label || value;
    if (!f.unpacked) {
        f.column = WR_NO_COLUMN;
        f.scalar = WR_SCALAR_IS_LABEL;
    }
    if (value) {
        r = wr_text_declared(job->cfg->schema, f.name, WEIR_F32, &f.pub.dtype,
                             err);
        if (r < 0)
            return r;
    }
    return wr_index_add_field(job->index, &f, err);
}

static int add_numbers(struct wr_index_job *job, unsigned count, weir_err *err)
{
    struct wr_field x = wr_guess_field("x", WEIR_FIELD_TENSOR, WEIR_F32);
    int r = wr_text_declared(job->cfg->schema, x.name, WEIR_F32, &x.pub.dtype,
                             err);

    wr_guess_dims(&x, &(uint64_t){count}, 1);
    x.unpacked = true;
    return r < 0 ? r : wr_index_add_field(job->index, &x, err);
}

/* Which columns x has, by their names. */
static void remark_numbers(struct wr_index *ix, const struct wr_csv_layout *l)
{
    struct wr_csv_row row = wr_csv_row(l->first, l->first + l->first_len,
                                       l->separator);
    char text[WR_REMARK_BYTES], cut[64], shown[170];
    struct wr_csv_field f;
    size_t used = 0;

    for (unsigned k = 1; l->header && wr_csv_row_field(&row, &f); k++) {
        if (k > l->columns || l->words[k - 1] || k == l->label)
            continue;
        if (used > 700) {
            snprintf(text + used, sizeof(text) - used, ", ...");
            break;
        }
        wr_csv_field_trim(&f);
        snprintf(cut, sizeof(cut), "%.*s", (int)WR_MIN(f.len, 60u), f.at);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s'%s'",
                                 used ? ", " : "x has the columns ",
                                 wr_text_show(cut, true, shown, sizeof(shown)));
    }
    if (used)
        wr_index_add_remark(ix, text);
}

static void remark_label(struct wr_index *ix, const struct wr_csv_layout *l)
{
    if (l->label_sign)
        wr_index_add_remark(ix, "the label is a number, not a class: the first "
                                "rows have nothing but -1 and 1 there");
}

int wr_csv_add_fields(struct wr_index_job *job, const struct wr_csv_layout *l,
                      weir_err *err)
{
    unsigned numbers = 0;
    char path[16];
    int r = 0;

    for (unsigned k = 1; k <= l->columns; k++)
        numbers += !l->words[k - 1] && k != l->label;
    if (numbers)
        r = add_numbers(job, numbers, err);
    remark_numbers(job->index, l);
    remark_label(job->index, l);
    if (r == 0 && l->label)
        r = add_column(job, l, l->label, err);
    for (unsigned k = 1; k <= l->columns && r == 0; k++)
        if (l->words[k - 1] && k != l->label)
            r = add_column(job, l, k, err);
    snprintf(path, sizeof(path), "%c%u", l->separator, l->columns);
    return r < 0 ? r : wr_text_add_line(job->index, path, err);
}

/* --- a row --- */

/* A column that is not part of x. */
struct csv_special {
    unsigned column, field;
};

struct csv_unpacking {
    const struct wr_index *ix;
    const struct wr_schema *schema;
    struct wr_unpack *out;
    struct wr_csv_row row;
    unsigned columns;
    struct csv_special special[WR_FIELD_MAX]; /* by their column */
    unsigned special_count;
    const struct wr_field *x; /* NULL: there is none */
    uint8_t *x_at;            /* where its next number goes; NULL: nowhere */
    unsigned x_left;          /* numbers that still fit there */
    size_t used;              /* bytes of scratch */
    uint64_t id;
};

/* Line and column; the text cut to something that can be shown. */
static int fail_field(const struct csv_unpacking *u, unsigned column,
                      struct wr_slice text, const char *why, weir_err *err)
{
    char cut[41], shown[170];
    size_t len = WR_MIN(text.len, sizeof(cut) - 1);

    for (size_t k = 0; k < len; k++)
        cut[k] = text.bytes[k] ? (char)text.bytes[k] : '?';
    cut[len] = '\0';
    return wr_fail(err, WEIR_EFORMAT, "line %" PRIi64 ", column %u: '%s%s': %s",
                   wr_text_line(u->ix, u->id), column,
                   wr_text_show(cut, true, shown, sizeof(shown)),
                   len < text.len ? "..." : "", why);
}

static int fail_count(const struct csv_unpacking *u, weir_err *err)
{
    struct wr_csv_row rest = u->row;

    wr_csv_row_skip(&rest, WR_CSV_MAX_COLUMNS);
    return wr_fail(err, WEIR_EFORMAT,
                   "line %" PRIi64 ": %u columns where the first row has %u",
                   wr_text_line(u->ix, u->id), rest.column - 1, u->columns);
}

/* Quotes, blanks, words, nothing: whatever is not a plain number. */
static int take_odd(struct csv_unpacking *u, enum weir_dtype t, void *to,
                    weir_err *err)
{
    unsigned column = u->row.column;
    struct wr_csv_field f;
    const char *why;

    if (!wr_csv_row_field(&u->row, &f))
        return fail_count(u, err);
    why = f.bad;
    wr_csv_field_trim(&f);
    if (!why && wr_csv_field_is_missing(&f))
        why = wr_text_nan(t, to) ? NULL : "a value is missing";
    else if (!why)
        why = wr_text_number(f.at, f.len, t, to);
    return why ? fail_field(u, column,
                            (struct wr_slice){(const uint8_t *)f.at, f.len},
                            why, err)
               : 0;
}

/* What stands behind the last number of a list is part of its field. */
static int fail_behind(const struct csv_unpacking *u, const char *at,
                       weir_err *err)
{
    const char *start = at;
    struct wr_csv_row row = u->row;
    struct wr_csv_field f = {0};
    const char *why;
    uint64_t sink;

    while (start > u->row.at && start[-1] != row.separator)
        start--;
    row.at = start;
    row.open = true;
    wr_csv_row_field(&row, &f);
    wr_csv_field_trim(&f);
    why = wr_text_number(f.at, f.len, u->x->pub.dtype, &sink);
    return fail_field(u, u->row.column - 1,
                      (struct wr_slice){(const uint8_t *)f.at, f.len},
                      why ? why : "not a number", err);
}

static int take_numbers(struct csv_unpacking *u, unsigned count, weir_err *err)
{
    enum weir_dtype t = u->x->pub.dtype;
    size_t bytes = wr_dtype_bytes(t);
    struct wr_csv_row *row = &u->row;
    int r = 0;

    while (count && r == 0) {
        struct wr_number_list l = {row->at, row->end, row->separator, false};
        size_t n = row->open ? wr_text_numbers(&l, t, u->x_at, count) : 0;

        if (n) {
            row->column += (unsigned)n;
            row->open = l.at[-1] == row->separator;
            if (!row->open && l.at != row->end)
                return fail_behind(u, l.at, err);
            row->at = l.at;
        } else {
            r = take_odd(u, t, u->x_at, err);
            n = 1;
        }
        u->x_at += n * bytes;
        count -= (unsigned)n;
    }
    return r;
}

static int take_bytes(struct csv_unpacking *u, struct wr_slice *to,
                      weir_err *err)
{
    unsigned column = u->row.column;
    struct wr_csv_field f;
    size_t n;

    if (!wr_csv_row_field(&u->row, &f))
        return fail_count(u, err);
    if (f.bad)
        return fail_field(u, column,
                          (struct wr_slice){(const uint8_t *)f.at, f.len},
                          f.bad, err);
    *to = (struct wr_slice){(const uint8_t *)f.at, f.len};
    if (!f.doubled)
        return 0;
    n = wr_csv_field_copy(&f, (char *)u->out->scratch + u->used);
    *to = (struct wr_slice){u->out->scratch + u->used, n};
    u->used += n;
    return 0;
}

static int take_special(struct csv_unpacking *u, unsigned k, weir_err *err)
{
    const struct wr_field *f = &u->schema->fields[k];
    uint8_t *to = u->out->scratch + u->used;
    int r;

    if (!f->unpacked || !(u->out->wanted[k] || f->pub.is_label))
        return wr_csv_row_skip(&u->row, 1) ? 0 : fail_count(u, err);
    if (f->pub.kind == WEIR_FIELD_BYTES || f->pub.kind == WEIR_FIELD_PICTURE)
        return take_bytes(u, &u->out->fields[k], err);
    r = take_odd(u, f->pub.dtype, to, err);
    u->out->fields[k] = (struct wr_slice){to, wr_dtype_bytes(f->pub.dtype)};
    u->used += 8;
    return r;
}

/* The numbers up to the next special column, or past them. */
static int take_run(struct csv_unpacking *u, unsigned to, weir_err *err)
{
    unsigned count = to - u->row.column;

    if (u->row.column >= to)
        return 0;
    if (u->x_at && count > u->x_left) /* an index that lies */
        return fail_count(u, err);
    u->x_left -= u->x_at ? count : 0;
    if (u->x_at)
        return take_numbers(u, count, err);
    return wr_csv_row_skip(&u->row, count) ? 0 : fail_count(u, err);
}

/* --- what the schema says --- */

static void add_special(struct csv_unpacking *u, unsigned field)
{
    const struct wr_field *f = &u->schema->fields[field];
    unsigned column = (unsigned)strtoul(f->path, NULL, 10), n;

    for (n = u->special_count++; n && u->special[n - 1].column > column; n--)
        u->special[n] = u->special[n - 1];
    u->special[n] = (struct csv_special){column, field};
}

/* False: an index of something else. */
static bool read_schema(struct csv_unpacking *u)
{
    const struct wr_field *line = wr_text_line_field(u->schema);

    if (!line || !line->path[0])
        return false;
    u->row.separator = line->path[0];
    u->columns = (unsigned)strtoul(line->path + 1, NULL, 10);
    for (unsigned k = 0; k < u->schema->count; k++) {
        const struct wr_field *f = &u->schema->fields[k];

        if (f->unpacked && !wr_text_holds(f->pub.dtype))
            return false;
        if (f->path[0] && f != line)
            add_special(u, k);
        else if (f->unpacked)
            u->x = f;
    }
    return true;
}

/* Room for x, numbers of their own and undoubled quotes. */
static int make_room(struct csv_unpacking *u, size_t row, weir_err *err)
{
    size_t bytes = 0, need;

    if (u->x && u->out->wanted[u->x - u->schema->fields])
        bytes = (size_t)(u->columns - u->special_count) *
                wr_dtype_bytes(u->x->pub.dtype);
    u->used = WR_ALIGN_UP(bytes, (size_t)8);
    need = u->used + 8 * ((size_t)u->special_count + 1) + row;
    if (!wr_grow(&u->out->scratch, &u->out->cap, need, 1))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (!bytes)
        return 0;
    u->x_at = u->out->scratch;
    u->x_left = u->columns - u->special_count;
    u->out->fields[u->x - u->schema->fields] = (struct wr_slice){
        u->out->scratch, bytes};
    return 0;
}

int wr_csv_unpack(const struct wr_index *ix, unsigned column,
                  struct wr_sample *io, struct wr_unpack *out, weir_err *err)
{
    const char *at = (const char *)io->bytes;
    struct csv_unpacking u = {
        .ix = ix, .schema = wr_index_schema(ix), .out = out, .id = io->id};
    int r;

    (void)column; /* there is one */
    if (!out)
        return 0;
    u.row = wr_csv_row(at, at + io->len, ',');
    memset(out->fields, 0, u.schema->count * sizeof(*out->fields));
    if (!read_schema(&u) || u.special_count > u.columns)
        return wr_fail(err, WEIR_EFORMAT, "no columns are known");
    r = make_room(&u, io->len, err);
    for (unsigned k = 0; k < u.special_count && r == 0; k++) {
        r = take_run(&u, u.special[k].column, err);
        if (r == 0)
            r = take_special(&u, u.special[k].field, err);
    }
    if (r == 0)
        r = take_run(&u, u.columns + 1, err);
    if (r == 0 && u.row.open)
        return fail_count(&u, err);
    return r;
}
