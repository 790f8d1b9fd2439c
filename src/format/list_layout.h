/* list_layout.h - which columns of a list hold the paths and the labels.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_LIST_LAYOUT_H
#define WR_FORMAT_LIST_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "format/list_rows.h"
#include "weir/error.h"

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
