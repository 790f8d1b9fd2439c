/* table.h - aligned columns of text.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     struct wr_table *t = wr_table_new("<threads|>images/s|>wait");
 *     wr_table_cell(t, "%u", threads);
 *     wr_table_cell(t, "%.1f", rate);
 *     wr_table_cell(t, "%s", wait);
 *     wr_table_print(t, cli, 2, &err);
 *     wr_table_free(t);
 *
 * Memory that runs out makes wr_table_print fail; nothing else needs a check.
 * Every function takes NULL for a table that could not be made. */
#ifndef WR_CLI_TABLE_H
#define WR_CLI_TABLE_H

#include "cli/command.h"
#include "record/columns.h"

struct wr_table;

/* A table of those columns that have no `only`, or one of the bits of `which`.
 * NULL when memory is short. */
struct wr_table *wr_table_of(const struct wr_column *list, unsigned which);

/* `columns` are headings, each with '<' (left) or '>' (right, for numbers) in
 * front and '|' between: "<file|>size|>MB/s". Headings that are all empty
 * print no heading line. NULL when memory is short. */
struct wr_table *wr_table_new(const char *columns);
void wr_table_free(struct wr_table *t);

/* The next cell; after the last column a new row begins. What a terminal would
 * obey is shown as \xNN. */
void wr_table_cell(struct wr_table *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Prints to cli->out, each line after `indent` blanks. Cells that were never
 * filled are blank. Rows that are too long for a terminal take several lines. */
int wr_table_print(const struct wr_table *t, const struct wr_cli *cli,
                   unsigned indent, weir_err *err);

#endif
