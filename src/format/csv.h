/* csv.h - data sets of CSV files: how their columns become fields.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The numbers of a row are one tensor "x"; a column of words is a field of
 * bytes of its own name; one column may be the label. In the schema the field
 * "line" has the separator and the number of columns as its path (",60485"),
 * the other fields but x have the number of their column. */
#ifndef WR_FORMAT_CSV_H
#define WR_FORMAT_CSV_H

#include "format/format.h"

#define WR_CSV_MAX_COLUMNS (1u << 24)
#define WR_CSV_NO_COLUMN   0u

enum wr_csv_label {
    WR_CSV_CLASS, /* integers from 0 on, or -1 for none: in the index */
    WR_CSV_WORD,  /* names of classes: in the index */
    WR_CSV_VALUE, /* other numbers: read with the row */
};

struct wr_csv_layout {
    char separator;
    bool header;
    unsigned columns;
    unsigned label; /* its column from 1, or WR_CSV_NO_COLUMN */
    enum wr_csv_label label_kind;
    bool label_sign; /* it is a number as it has nothing but -1 and 1 */
    bool *words;     /* owned: columns[k] holds no numbers */
    char *first;     /* owned: the first row, header or not */
    size_t first_len;
};

/* Adds the fields that the layout has. */
int wr_csv_add_fields(struct wr_index_job *job, const struct wr_csv_layout *l,
                      weir_err *err);

int wr_csv_unpack(const struct wr_index *ix, unsigned column,
                  struct wr_sample *io, struct wr_unpack *out, weir_err *err);

/* --- rows --- */

/* The newline that ends the row at `at`, or `end` if there is none; NULL: a
 * quote is open at `end`. */
const char *wr_csv_row_end(const char *at, const char *end, char separator);

/* Behind the closing quote of the field that opens at p; NULL: none. */
const char *wr_csv_quoted_end(const char *p, const char *end);

/* What is left of a row. */
struct wr_csv_row {
    const char *at, *end; /* borrowed; without the newline and a CR there */
    char separator;
    bool open;       /* another field begins at `at` */
    unsigned column; /* its number, from 1 */
};

static inline struct wr_csv_row wr_csv_row(const char *at, const char *end,
                                           char separator)
{
    return (struct wr_csv_row){at, end, separator, true, 1};
}

struct wr_csv_field {
    const char *at; /* borrowed: what stands between quotes, if there are any */
    size_t len;
    bool quoted, doubled; /* doubled quotes are in it */
    const char *bad;      /* static: what is wrong with it, or NULL */
};

/* Takes the next field; false: the row has no more. */
bool wr_csv_row_field(struct wr_csv_row *row, struct wr_csv_field *ret);

/* Passes over `count` fields; false: there are fewer. */
bool wr_csv_row_skip(struct wr_csv_row *row, unsigned count);

/* Without blanks around it. */
void wr_csv_field_trim(struct wr_csv_field *f);

/* Nothing, or "NA". */
bool wr_csv_field_is_missing(const struct wr_csv_field *f);

/* The bytes of the field into buf (f->len are enough), quotes undoubled. */
size_t wr_csv_field_copy(const struct wr_csv_field *f, char *buf);

#endif
