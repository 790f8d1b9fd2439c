/* record_json.h - results of commands as JSON.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_RECORD_JSON_H
#define WR_CLI_RECORD_JSON_H

#include <jansson.h>

#include "cli/command.h"
#include "measure/parts.h"
#include "report/answer.h"
#include "result/record.h"

/* Prints a result to cli->out, keys in the order in which they were set, and
 * frees it; NULL is one that memory was short for. Returns enum wr_exit. The
 * second one prints a single line. */
int wr_json_print(const struct wr_cli *cli, json_t *root);
int wr_json_print_line(const struct wr_cli *cli, json_t *root);

/* What a command has found: its screen, or with `json` the values; the exit
 * code. */
int wr_cli_answer(const struct wr_cli *cli, const struct wr_answer *a,
                  const void *values, bool json);

/* A table that a command lists, each line behind `indent` blanks; frees it. */
int wr_cli_list(const struct wr_cli *cli, struct wr_doc_table *t,
                unsigned indent, weir_err *err);

/* What a command has measured: the tables and words that the view of its record
 * makes of it, or with `json` the record itself; and the record to the file
 * `path` (NULL: none). Frees the record, for which memory was short if it is
 * NULL. */
int wr_cli_give_record(const struct wr_cli *cli, json_t *record, bool json,
                       const char *path, weir_err *err);

#endif
