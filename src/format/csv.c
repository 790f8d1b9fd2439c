/* csv.c - CSV and TSV files, plain or gzip: each row is a sample.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/csv.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "format/guess.h"
#include "format/text_number.h"
#include "format/text_scan.h"

#define PROBE_BYTES 65536u

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
    return is_csv_name(path) ? wr_csv_looks_like_data(st, path) : 0;
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

static unsigned columns_of(const char *at, size_t len, char separator)
{
    struct wr_csv_row row = wr_csv_row(at, at + len, separator);

    wr_csv_row_skip(&row, WR_CSV_MAX_COLUMNS + 1);
    return row.column - 1;
}

/* The first row of a file must be that of the first file. */
static int check_first(const struct csv_files *f, const char *row, size_t len,
                       weir_err *err)
{
    const struct wr_csv_layout *l = &f->layout;
    unsigned columns = columns_of(row, len, l->separator);

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
        at = text + (r < 0 ? 0 : wr_csv_skip_mark(text, len));
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
    int r = wr_csv_layout_find(job, first, &f->layout, err);

    f->first = first;
    return r < 0 ? r : wr_csv_add_fields(job, &f->layout, err);
}

static int csv_index(struct wr_index_job *job, weir_err *err)
{
    struct csv_files f = {.text = {.names = &wr_format_csv.files,
                                   .fields = add_fields,
                                   .scan = scan_file}};
    int r = wr_text_index(job, &f.text, err);

    wr_csv_layout_done(&f.layout);
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
