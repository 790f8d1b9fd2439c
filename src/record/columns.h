/* columns.h - columns of tables, with what the help says about them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RECORD_COLUMNS_H
#define WR_RECORD_COLUMNS_H

/* A column; a list ends with a NULL head. */
struct wr_column {
    const char *head;
    const char *help; /* no capital, no full stop; NULL: said above */
    char side;        /* '<' left, '>' right, for numbers; '+' the same, left
                         out where a terminal is too narrow; '-' the same, if
                         that does not suffice */
    unsigned only;    /* bits, of which the table asks for one; 0: always */
};

/* The columns of one table of a command, for its help; a NULL list ends. */
struct wr_columns {
    const char *title; /* of which table; NULL: the command has one */
    const struct wr_column *list;
};

#endif
