/* columns.h - columns of tables, and the cells of a row.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_REPORT_COLUMNS_H
#define WR_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

struct wr_case;
struct wr_cases;
struct wr_doc_table;
struct wr_vals;

/* What a row of a table is about: a case, or one of its runs (or ranks, ...). */
struct wr_row {
    const struct wr_cases *c;
    size_t k, i; /* of the case, of the run */
    const struct wr_case *row;
    const void *run; /* its values; NULL: it is about the case */
};

/* Whose value it is. */
enum wr_column_from { WR_FROM_RUN = 1, WR_FROM_MEDIAN, WR_FROM_CASE };

enum wr_show {
    WR_SHOW_DIGITS,
    WR_SHOW_BRIEF, /* none from 100 on */
    WR_SHOW_PERCENT,
    WR_SHOW_TIME,  /* "12.3 ms" of seconds */
    WR_SHOW_RATE,  /* "46.9 MB/s" of bytes per second */
    WR_SHOW_BYTES, /* "46.9 MB" */
};

/* A column; a list ends with one that has neither a head nor a value. */
struct wr_column {
    const char *head; /* NULL: that of its value */
    const char *help; /* no capital, no full stop; NULL: that of its value, or
                         said above; "": said above */
    char side;        /* '<' left, '>' right, for numbers; '+' the same, left
                         out where a terminal is too narrow; '-' the same, if
                         that does not suffice */
    unsigned only;    /* bits, of which the table asks for one; 0: always */
    bool if_any;      /* only if a row of the table has a value above 0 there */
    /* Its cells come from a function, else from a value. With neither they are
     * calls of wr_doc_cell, in the order of the columns. */
    double (*number)(const struct wr_row *r);
    const char *(*text)(const struct wr_column *c, const struct wr_row *r,
                        char *buf, size_t cap);
    const char *key; /* for `text` */
    void (*cell)(struct wr_doc_table *t, const struct wr_column *c,
                 const struct wr_row *r); /* in a way of its own */
    enum wr_column_from from;
    const struct wr_vals *of; /* its table, and where it lies */
    size_t at;
    unsigned fewer;  /* digits than the value has */
    unsigned digits; /* of `number` */
    enum wr_show show;
    const char *say;        /* of an answer: its cells are this text (say.h) */
    const char *good, *bad; /* what is painted when it comes out of it */
};

/* A column of an answer; `...` is what else there is to say. */
#define WR_SAY_COLUMN(where, heading, text, about, ...)                        \
    {                                                                          \
        .head = heading, .help = about, .side = where, .say = text,            \
        ##__VA_ARGS__                                                          \
    }

/* A value of `type`, a struct that `table` tells of. */
#define WR_COLUMN(whose, table, type, member)                                  \
    .from = WR_FROM_##whose, .of = &(table), .at = offsetof(type, member)

/* Texts and numbers of columns: the setting `key` of the case, the label of its
 * record, what it is called, and the number of the run, from 1. */
const char *wr_cell_setting(const struct wr_column *c, const struct wr_row *r,
                            char *buf, size_t cap);
const char *wr_cell_record(const struct wr_column *c, const struct wr_row *r,
                           char *buf, size_t cap);
const char *wr_cell_name(const struct wr_column *c, const struct wr_row *r,
                         char *buf, size_t cap);
double wr_cell_place(const struct wr_row *r);

/* The columns of one table of a command, for its help; a NULL list ends. */
struct wr_columns {
    const char *title; /* of which table; NULL: the command has one */
    const struct wr_column *list;
};

static inline bool wr_column_is(const struct wr_column *c)
{
    return c->head || c->of;
}
/* The bits of which a table of the list must ask for one to have column c, or 0;
 * those with `if_any` have bits of their own, from the highest on. */
unsigned wr_column_bits(const struct wr_column *list,
                        const struct wr_column *c);
bool wr_column_is_shown(const struct wr_column *list, const struct wr_column *c,
                        unsigned which);
const char *wr_column_head(const struct wr_column *c);
const char *wr_column_help(const struct wr_column *c); /* NULL: none */

/* The cells of one row: of the columns that wr_doc_table_of took. */
void wr_cells(struct wr_doc_table *t, const struct wr_column *list,
              unsigned which, const struct wr_row *r);

#endif
