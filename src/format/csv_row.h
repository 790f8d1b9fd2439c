/* csv_row.h - one row of a CSV file: where it ends, and its fields.
 * SPDX-License-Identifier: Apache-2.0
 *
 * RFC 4180: a field may stand in quotes, which then holds separators, newlines
 * and doubled quotes. A quote elsewhere in a field is a character like others. A
 * row ends at LF or CR LF. */
#ifndef WR_FORMAT_CSV_ROW_H
#define WR_FORMAT_CSV_ROW_H

#include <stdbool.h>
#include <stddef.h>

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
