/* list_layout.h - the rows of a list, and which columns hold the paths and labels.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_LIST_LAYOUT_H
#define WR_FORMAT_LIST_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

/* --- rows of a list of paths and labels, parsed where they lie --- */

/* RFC 4180 with LF or CRLF, a UTF-8 byte order mark, empty lines, and lines
 * that begin with '#', which are skipped. Columns lie between commas, or what
 * `separator` is set to; path and label are the first two, or what
 * wr_list_layout_find says. */

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

/* --- which columns of a list hold the paths and the labels --- */

#define WR_LIST_NAME 128 /* bytes of a column's name, with its NUL */

struct wr_list_layout {
    char separator; /* ',' or '\t' */
    bool header;    /* the first row has names */
    unsigned path,
        label;        /* columns from 0; label WR_LIST_NONE: there is none */
    unsigned columns; /* that a row may have */
    char field[WR_LIST_NAME]; /* what the path's field is called */
    char names[WR_LIST_MORE][WR_LIST_NAME]; /* of columns beside these two, */
    unsigned more_at[WR_LIST_MORE];         /* from 0 */
    unsigned more;
    char left[300]; /* names of columns that are not used, for a remark */
};

/* Looks at the first rows of a list. `spec` ("path=file,label=class": names of
 * the header or numbers from 1; NULL: "path" and "label" themselves, all columns
 * of a header that has "image" among more than two, or the first two columns)
 * says which are meant; "image=a,mask=b,weight=c,label=d" gives fields their
 * names. Fails with the columns that are
 * there when they cannot be told. */
int wr_list_layout_find(const char *text, size_t len, const char *spec,
                        struct wr_list_layout *ret, weir_err *err);

#endif
