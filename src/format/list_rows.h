/* list_rows.h - rows of a list of paths and labels, parsed where they lie.
 * SPDX-License-Identifier: Apache-2.0
 *
 * RFC 4180 with LF or CRLF, a UTF-8 byte order mark, empty lines, and lines
 * that begin with '#', which are skipped. Columns lie between commas, or what
 * `separator` is set to; path and label are the first two, or what list_layout.h
 * says. */
#ifndef WR_FORMAT_LIST_ROWS_H
#define WR_FORMAT_LIST_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WR_LIST_MAX_ROW 16384u /* bytes of one row */
#define WR_LIST_NONE    (~0u)
#define WR_LIST_MORE    16 /* columns beside path and label that are used */

struct wr_list_rows {
    char *at, *end; /* borrowed: what is left; *end is a byte of its own */
    uint64_t line;  /* number of the line at `at`, from 1 */
    char separator;
    unsigned path_at, label_at; /* columns from 0; WR_LIST_NONE: no label */
    unsigned more_at[WR_LIST_MORE];
    unsigned more;    /* of them */
    unsigned columns; /* a row may have, at most */
};

struct wr_list_row {
    char *path;  /* borrowed from the text */
    char *label; /* borrowed, blanks around it cut off; NULL: none */
    char *more[WR_LIST_MORE]; /* the same; NULL: none */
    uint64_t line;            /* where the row begins */
    const char *bad; /* why the row is of no use (then there is no path), or
                        NULL */
};

/* Starts at `text`, which is changed by parsing; text[len] must be there. */
void wr_list_rows_init(struct wr_list_rows *c, char *text, size_t len);

/* The next row; false at the end. A bad row ends at its first newline. */
bool wr_list_rows_next(struct wr_list_rows *c, struct wr_list_row *ret);

/* The next row as its fields, blanks around them cut off: how many there are,
 * of which `max` are returned. 0 at the end, or when the row is of no use. */
unsigned wr_list_rows_fields(struct wr_list_rows *c, char **ret, unsigned max);

#endif
