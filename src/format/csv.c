/* csv.c - CSV and TSV files, plain or gzip: each row is a sample.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/csv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "base/units.h"
#include "format/format.h"
#include "format/guess.h"
#include "format/text_number.h"
#include "format/text_scan.h"

#define LOOK_BYTES  ((size_t)4 << 20)
#define LOOK_ROWS   64u
#define PROBE_BYTES ((size_t)64 << 10)
#define PROBE_MOST  ((size_t)32 << 20) /* of two rows */

/* --- what the columns of CSV files are --- */

static const char separators[] = "\t;,";

/* The first rows of a file. */
struct csv_look {
    const char *at, *end; /* borrowed */
    bool all;             /* the file ends at `end` */
};

/* What a column holds. */
struct csv_column {
    bool first_word;  /* in the first row */
    unsigned words;   /* below it */
    unsigned numbers; /* below it */
    bool whole;       /* they are class numbers, or -1 */
    bool first_whole; /* the first row has one, or nothing */
    bool none;        /* one is -1, */
    bool one;         /* one is 1, */
    bool classes;     /* one is neither */
};

static void csv_layout_done(struct wr_csv_layout *l)
{
    free(l->words);
    free(l->first);
    *l = (struct wr_csv_layout){0};
}

/* The beginning of a text without its byte order mark. */
static size_t csv_skip_mark(const char *text, size_t len)
{
    return len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
}

/* --- rows --- */

/* The next row that is not empty; false: there is none that is whole. */
static bool look_row(struct csv_look *k, char separator, struct wr_csv_row *ret)
{
    while (k->at < k->end) {
        const char *end = wr_csv_row_end(k->at, k->end, separator), *at = k->at;
        bool whole = end && (end < k->end || k->all);

        if (!whole)
            return false;
        k->at = end + (end < k->end);
        end -= end > at && end[-1] == '\r';
        if (end > at) {
            *ret = wr_csv_row(at, end, separator);
            return true;
        }
    }
    return false;
}

static unsigned count_fields(struct wr_csv_row row)
{
    wr_csv_row_skip(&row, WR_CSV_MAX_COLUMNS + 1);
    return row.column - 1;
}

/* The separator that gives the most columns, the same number in each row. */
static char find_separator(const struct csv_look *look, bool tabs)
{
    char best = tabs ? '\t' : ',';
    unsigned most = 1;

    for (const char *s = separators; *s; s++) {
        struct csv_look k = *look;
        struct wr_csv_row row;
        unsigned columns = 0;

        for (unsigned n = 0; n < 8 && look_row(&k, *s, &row); n++) {
            unsigned c = count_fields(row);

            columns = n && columns != c ? 1 : c;
            if (columns == 1)
                break;
        }
        if (columns > most || (columns == most && tabs && *s == '\t')) {
            most = columns;
            best = *s;
        }
    }
    return best;
}

/* --- columns --- */

static bool is_number(const struct wr_csv_field *f)
{
    double v;

    return !f->doubled && !wr_text_number(f->at, f->len, WEIR_F64, &v);
}

/* A class number, or -1. */
static bool is_class(const struct wr_csv_field *f, int64_t *ret)
{
    return !wr_text_number(f->at, f->len, WEIR_I64, ret) && *ret >= -1 &&
           *ret < INT32_MAX;
}

static void note_field(struct csv_column *c, struct wr_csv_field f, bool first)
{
    bool missing, number, class;
    int64_t value;

    wr_csv_field_trim(&f);
    missing = wr_csv_field_is_missing(&f);
    class = !missing && is_class(&f, &value);
    number = !missing && (is_number(&f) || class);
    c->none |= class && value == -1;
    c->one |= class && value == 1;
    c->classes |= class && value != -1 && value != 1;
    if (first) {
        c->first_word = !missing && !number;
        c->first_whole = missing || class;
        c->whole = true;
    } else {
        c->words += !missing && !number;
        c->numbers += number;
        c->whole &= missing || class;
    }
}

static unsigned note_rows(struct csv_look k, const struct wr_csv_layout *l,
                          struct csv_column *columns)
{
    struct wr_csv_field f;
    struct wr_csv_row row;
    unsigned n = 0;

    for (; n < LOOK_ROWS && look_row(&k, l->separator, &row); n++)
        for (unsigned c = 0; c < l->columns && wr_csv_row_field(&row, &f); c++)
            note_field(&columns[c], f, n == 0);
    return n;
}

/* A word in the first row where the others have numbers, or words alone. */
static bool has_header(const struct csv_column *c, unsigned columns,
                       unsigned rows)
{
    bool words = rows > 1;

    for (unsigned k = 0; k < columns; k++) {
        if (c[k].first_word && c[k].words < c[k].numbers)
            return true;
        words &= c[k].first_word && !c[k].numbers;
    }
    return words;
}

/* --- the label --- */

static unsigned column_called(const struct wr_csv_layout *l, const char *name,
                              bool any_case)
{
    struct wr_csv_row row = wr_csv_row(l->first, l->first + l->first_len,
                                       l->separator);
    struct wr_csv_field f;

    for (unsigned k = 1; l->header && wr_csv_row_field(&row, &f); k++) {
        wr_csv_field_trim(&f);
        if (f.len == strlen(name) &&
            (any_case ? !wr_strncasecmp(f.at, name, f.len)
                      : !memcmp(f.at, name, f.len)))
            return k;
    }
    return WR_CSV_NO_COLUMN;
}

static int find_label(struct wr_csv_layout *l, const char *said, weir_err *err)
{
    const char *name;
    uint64_t n = 0;

    for (unsigned k = 0;
         !said && !l->label && (name = wr_label_name(WR_LABEL_COLUMN, k)); k++)
        l->label = column_called(l, name, /* any_case= */ true);
    if (!said)
        return 0;
    l->label = column_called(l, said, /* any_case= */ false);
    if (l->label || !strcmp(said, "none"))
        return 0;
    if (wr_parse_uint(said, 1, l->columns, &n, NULL) < 0)
        return wr_fail(err, WEIR_EINVAL,
                       "label=%.200s: no column is called so; there are %u",
                       said, l->columns);
    l->label = (unsigned)n;
    return 0;
}

/* -1 and 1 are two classes, or a sign; -1 and others say what has no class. */
static bool is_sign(const struct csv_column *c)
{
    return c->none && c->one && !c->classes;
}

/* The first rows may have nothing but -1 and 1, though others follow: all rows
 * that were read are asked. Words among them are broken samples, as below. */
static void look_further(struct csv_look k, const struct wr_csv_layout *l,
                         struct csv_column *c)
{
    struct wr_csv_field f;
    struct wr_csv_row row;

    for (unsigned n = 0; c->none && !c->classes && c->whole && !c->words &&
                         look_row(&k, l->separator, &row);
         n++) {
        struct csv_column seen = *c;

        if (n < LOOK_ROWS || !wr_csv_row_skip(&row, l->label - 1) ||
            !wr_csv_row_field(&row, &f))
            continue;
        note_field(&seen, f, /* first= */ false);
        if (!seen.words)
            *c = seen;
    }
}

static enum wr_csv_label label_kind(const struct wr_csv_layout *l,
                                    const struct csv_column *c)
{
    bool first = !l->header;

    if (c->words || (first && c->first_word))
        return WR_CSV_WORD;
    if (is_sign(c))
        return WR_CSV_VALUE;
    return c->whole && (!first || c->first_whole) ? WR_CSV_CLASS : WR_CSV_VALUE;
}

static void find_label_kind(const struct csv_look *look,
                            struct wr_csv_layout *l, struct csv_column *c)
{
    look_further(*look, l, c);
    l->label_kind = label_kind(l, c);
    l->label_sign = l->label_kind == WR_CSV_VALUE && is_sign(c) && c->whole;
}

/* --- all of it --- */

static int fail_option(const char *name, const char *value, const char *known,
                       weir_err *err)
{
    return wr_fail(err, WEIR_EINVAL, "'#%s=%s': write %s", name, value, known);
}

/* What the user says behind '#', as far as it is said. */
static int take_options(const struct wr_fragment *f, struct wr_csv_layout *l,
                        bool *ret_header_said, weir_err *err)
{
    static const char *const known[] = {"label", "header", "separator", NULL};
    const char *header = wr_fragment_find(f, "header");
    const char *sep = wr_fragment_find(f, "separator");
    int r = wr_fragment_check(f, known, err);

    if (r < 0)
        return r;
    if (header && strcmp(header, "yes") != 0 && strcmp(header, "no") != 0)
        return fail_option("header", header, "yes or no", err);
    *ret_header_said = header != NULL;
    l->header = header && !strcmp(header, "yes");
    if (!sep)
        return 0;
    l->separator = !strcmp(sep, "tab")         ? '\t'
                   : !strcmp(sep, "semicolon") ? ';'
                   : !strcmp(sep, "comma")     ? ','
                   : !strcmp(sep, "pipe")      ? '|'
                                               : '\0';
    return l->separator ? 0
                        : fail_option("separator", sep,
                                      "comma, tab, semicolon or pipe", err);
}

static int keep_first(struct csv_look look, struct wr_csv_layout *l,
                      weir_err *err)
{
    struct wr_csv_row row;

    if (!look_row(&look, l->separator, &row))
        return wr_fail(err, WEIR_EFORMAT, "there is no row in it");
    l->columns = count_fields(row);
    if (l->columns > WR_CSV_MAX_COLUMNS)
        return wr_fail(err, WEIR_ELIMIT, "more than %u columns",
                       WR_CSV_MAX_COLUMNS);
    l->first_len = (size_t)(row.end - row.at);
    l->first = malloc(l->first_len + 1);
    l->words = calloc(l->columns, sizeof(*l->words));
    if (!l->first || !l->words)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    memcpy(l->first, row.at, l->first_len);
    return 0;
}

/* The layout of a text; l has the options. */
static int read_layout(const struct csv_look *look, bool header_said,
                       const char *label, struct wr_csv_layout *l,
                       weir_err *err)
{
    struct csv_column *columns;
    unsigned rows;
    int r = keep_first(*look, l, err);

    if (r < 0)
        return r;
    columns = calloc(l->columns, sizeof(*columns));
    if (!columns)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    rows = note_rows(*look, l, columns);
    if (!header_said)
        l->header = has_header(columns, l->columns, rows);
    /* A stray word makes a bad sample, which is named, and not a column whose
     * numbers nobody gets. */
    for (unsigned k = 0; k < l->columns; k++)
        l->words[k] = wr_guess_words(columns[k].words +
                                         (!l->header && columns[k].first_word),
                                     columns[k].numbers);
    r = find_label(l, label, err);
    if (r == 0 && l->label)
        find_label_kind(look, l, &columns[l->label - 1]);
    free(columns);
    return r;
}

/* More of the file until a row below the first is there: `max` bytes, and
 * `most` at the end. */
static int read_rows(struct wr_store *st, const char *path, size_t max,
                     size_t most, char **ret, struct csv_look *ret_look,
                     weir_err *err)
{
    for (;; max *= 8) {
        struct csv_look look, k;
        struct wr_csv_row row;
        unsigned rows = 0;
        size_t len;
        char *text;
        int r = wr_text_head(st, path, max, &text, &len, &look.all, err);

        if (r < 0)
            return r;
        look.at = text + csv_skip_mark(text, len);
        look.end = text + len;
        for (k = look; rows < 2 && look_row(&k, ',', &row);)
            rows++;
        if (rows == 2 || look.all || max >= most) {
            *ret = text;
            *ret_look = look;
            return 0;
        }
        free(text);
    }
}

/* From the first rows of a file, what stands behind '#', and the schema's
 * label=NAME. */
static int csv_layout_find(const struct wr_index_job *job, const char *path,
                           struct wr_csv_layout *ret, weir_err *err)
{
    const char *label;
    struct wr_fragment *f = malloc(sizeof(*f));
    char *text = NULL, said[WR_FIELD_NAME];
    bool header_said = false;
    struct csv_look look;
    int r;

    if (!f)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_fragment_parse(job->fragment, f, err);
    if (r == 0)
        r = take_options(f, ret, &header_said, err);
    if (r == 0)
        r = read_rows(job->store, path, LOOK_BYTES, WR_TEXT_MAX_RECORD, &text,
                      &look, err);
    if (r < 0)
        goto out;
    label = wr_fragment_find(f, "label");
    if (!label)
        label = wr_label_said(job->cfg->schema, said);
    if (!ret->separator)
        ret->separator = find_separator(&look,
                                        wr_name_has_ext(path, ".tsv .tsv.gz"));
    r = read_layout(&look, header_said, label, ret, err);
    if (r < 0)
        wr_fail_prefix(err, r, "'%s'", path);
out:
    free(text);
    free(f);
    return r;
}

/* --- lists of files are CSV as well --- */

/* 1, 0, or WEIR_E... */
static int looks_like_path(struct wr_store *st, const struct wr_csv_field *f)
{
    const char *dot = memrchr(f->at, '.', f->len);
    char path[1024];
    struct wr_stat s;
    int r;

    if (f->len >= sizeof(path))
        return true;
    memcpy(path, f->at, f->len);
    path[f->len] = '\0';
    if (strchr(path, '/') && path[strspn(path, "0123456789/ :")])
        return true; /* and not a date */
    if (dot && dot > f->at && dot + 1 < f->at + f->len && wr_is_alpha(dot[1]) &&
        f->at + f->len - dot <= 6)
        return true;
    if (!f->len || memchr(path, '\0', f->len))
        return false;
    r = st->ops->stat(st, path, &s, NULL);
    return wr_index_fails(r) ? r : r == 0;
}

/* No word that may be a file, and more numbers than words, or more columns than
 * a list has. */
static int is_data(struct wr_store *st, struct csv_look look,
                   const struct wr_csv_layout *l)
{
    unsigned words = 0, n = 0;
    struct wr_csv_field f;
    struct wr_csv_row row;

    if (l->header && !look_row(&look, l->separator, &row))
        return false;
    if (!look_row(&look, l->separator, &row))
        return false;
    for (; n < l->columns && wr_csv_row_field(&row, &f); n++) {
        int r = l->words[n] && words < 64 ? looks_like_path(st, &f) : 0;

        if (r != 0)
            return WR_MIN(r, 0);
        words += l->words[n];
    }
    return l->columns - words > (l->columns > 2 ? 0 : words);
}

/* 1: the file looks like rows of numbers rather than a list of files; 0: not;
 * WEIR_E... when resources lacked to tell. */
static int csv_looks_like_data(struct wr_store *st, const char *name)
{
    struct wr_csv_layout l = {0};
    struct csv_look look;
    char *text;
    int r = read_rows(st, name, PROBE_BYTES, PROBE_MOST, &text, &look, NULL);

    if (r < 0)
        return wr_index_fails(r) ? r : 0;
    if (!look.all && !memchr(look.at, '\n', (size_t)(look.end - look.at))) {
        /* Part of one long row: without its last field it is a row, too. */
        while (look.end > look.at && !strchr(separators, look.end[-1]))
            look.end--;
        look.end -= look.end > look.at;
        look.all = true;
    }
    l.separator = find_separator(&look, wr_name_has_ext(name, ".tsv"));
    r = read_layout(&look, false, NULL, &l, NULL);
    if (r == 0)
        r = is_data(st, look, &l);
    csv_layout_done(&l);
    free(text);
    return r >= 0 || wr_index_fails(r) ? r : 0;
}

/* What the scans of all files share. */
struct csv_files {
    struct wr_text_files text; /* first */
    struct wr_csv_layout layout;
    const char *first; /* borrowed: the file that the layout is of */
};

/* --- names --- */

static bool is_csv_name(const char *name)
{
    return wr_name_has_ext(name, ".csv .tsv .csv.gz .tsv.gz");
}

/* Rows of samples, not a list of files. */
static int check_rows(struct wr_store *st, const char *path)
{
    return is_csv_name(path) ? csv_looks_like_data(st, path) : 0;
}

/* --- rows --- */

/* The label of a row, if the index has it. */
static void read_label(const struct wr_csv_layout *l, struct wr_csv_row row,
                       struct wr_text_record *ret)
{
    struct wr_csv_field f;
    const char *why;
    int64_t value;

    ret->column = l->label;
    if (!wr_csv_row_skip(&row, l->label - 1) || !wr_csv_row_field(&row, &f)) {
        ret->bad = "the row has no label: it ends before";
        return;
    }
    wr_csv_field_trim(&f);
    if (f.bad || memchr(f.at, '\0', f.len) ||
        (f.doubled && f.len > sizeof(ret->own))) {
        ret->bad = "a label that cannot be read: quotes or a zero byte in it";
    } else if (wr_csv_field_is_missing(&f)) {
        ret->label = WEIR_NO_LABEL;
    } else if (l->label_kind == WR_CSV_WORD) {
        ret->word = f.doubled ? ret->own : f.at;
        ret->word_len = f.doubled ? wr_csv_field_copy(&f, ret->own) : f.len;
    } else {
        why = wr_text_number(f.at, f.len, WEIR_I64, &value);
        if (why || !wr_label_of_number(value, &ret->label))
            ret->bad = "the label is not a class number, as the others are";
    }
}

static int64_t next_row(const void *arg, const char *at, const char *end,
                        bool last, struct wr_text_record *ret, weir_err *err)
{
    const struct wr_csv_layout *l = arg;
    const char *row_end = wr_csv_row_end(at, end, l->separator);
    bool newline = row_end && row_end < end;

    if (!row_end && last)
        return wr_fail(err, WEIR_EFORMAT,
                       "a quote that is never closed begins in this row");
    if (!row_end || (!newline && !last))
        return 0;
    ret->length = (size_t)(row_end - at);
    if (ret->length && at[ret->length - 1] == '\r')
        ret->length--;
    ret->none = !ret->length;
    if (l->label && l->label_kind != WR_CSV_VALUE && !ret->none)
        read_label(l, wr_csv_row(at, at + ret->length, l->separator), ret);
    return row_end - at + newline;
}

/* --- a file --- */

/* The first row of a file must be that of the first file. */
static int check_first(const struct csv_files *f, const char *row, size_t len,
                       weir_err *err)
{
    const struct wr_csv_layout *l = &f->layout;
    unsigned columns = count_fields(wr_csv_row(row, row + len, l->separator));

    if (l->header && (len != l->first_len || memcmp(row, l->first, len) != 0))
        return wr_fail(err, WEIR_EFORMAT,
                       "the header differs from that of '%s'", f->first);
    if (columns != l->columns)
        return wr_fail(err, WEIR_EFORMAT,
                       "%u columns where '%s' has %u; are separator and header "
                       "the same?",
                       columns, f->first, l->columns);
    return 0;
}

/* Where the first row below the header begins, and in which line. */
static int find_rows(struct wr_shard *s, const struct csv_files *f,
                     struct wr_text_scan *scan, weir_err *err)
{
    struct wr_text_record rec = {.none = true};
    size_t max = PROBE_BYTES, len = 0;
    const char *at = NULL;
    char *text = NULL;
    bool all = false;
    int64_t n = 0;
    int r = 0;

    for (; r == 0 && n == 0 && !all; max *= 8) {
        free(text);
        text = NULL;
        r = wr_text_head(s->store, s->path,
                         WR_MAX(max, f->layout.first_len + 16), &text, &len,
                         &all, err);
        at = text + (r < 0 ? 0 : csv_skip_mark(text, len));
        rec.none = true;
        for (scan->line = 1; r == 0 && rec.none; scan->line++) {
            n = next_row(
                &(struct wr_csv_layout){.separator = f->layout.separator}, at,
                text + len, all, &rec, err);
            if (n <= 0 || !rec.none)
                break;
            at += n;
        }
        r = n < 0 ? (int)n : r;
    }
    if (r == 0 && n)
        r = check_first(f, at, rec.length, err);
    if (r == 0 && n && f->layout.header) {
        for (const char *p = at; p < at + n; p++)
            scan->line += *p == '\n';
        at += n;
    }
    if (r == 0)
        scan->from = (uint64_t)(at - text);
    free(text);
    return r;
}

static int scan_file(struct wr_shard *s, weir_err *err)
{
    struct csv_files *f = s->arg;
    struct wr_text_scan scan = {
        .rule = {.splits = true, .next = next_row, .arg = &f->layout},
        .files = &f->text,
    };
    int r = find_rows(s, f, &scan, err);

    return r < 0 ? r : wr_text_scan(s, &scan, err);
}

static int add_fields(struct wr_index_job *job, struct wr_text_files *text,
                      const char *first, weir_err *err)
{
    struct csv_files *f = (struct csv_files *)text;
    int r = csv_layout_find(job, first, &f->layout, err);

    f->first = first;
    return r < 0 ? r : wr_csv_add_fields(job, &f->layout, err);
}

static int csv_index(struct wr_index_job *job, weir_err *err)
{
    struct csv_files f = {.text = {.names = &wr_format_csv.files,
                                   .fields = add_fields,
                                   .scan = scan_file}};
    int r = wr_text_index(job, &f.text, err);

    csv_layout_done(&f.layout);
    return r;
}

const struct wr_format_ops wr_format_csv = {
    .name = "csv",
    .help = "CSV and TSV files whose rows are samples, plain or gzip",
    .takes_fragment = true,
    .files = {.is_name = is_csv_name,
              .check = check_rows,
              .checked = 85,
              .folder = 75,
              .tree = 40},
    .index = csv_index,
    .unpack = wr_csv_unpack,
};
