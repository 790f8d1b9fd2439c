/* list_layout.h - which columns of a list hold the paths and the labels.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FORMAT_LIST_LAYOUT_H
#define WR_FORMAT_LIST_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include "weir/error.h"

struct wr_list_layout {
    char separator;       /* ',' or '\t' */
    bool header;          /* the first row has names */
    unsigned path, label; /* columns from 0; label WR_CSV_NONE: there is none */
    unsigned columns;     /* that a row may have */
};

/* Looks at the first rows of a list. `spec` ("path=file,label=class": names of
 * the header or numbers from 1; NULL: "path" and "label" themselves, or the
 * first two columns) says which are meant. Fails with the columns that are
 * there when they cannot be told. */
int wr_list_layout_find(const char *text, size_t len, const char *spec,
                        struct wr_list_layout *ret, weir_err *err);

#endif
