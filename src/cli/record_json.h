/* record_json.h - parts that the records of all commands have.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_RECORD_JSON_H
#define WR_CLI_RECORD_JSON_H

#include <jansson.h>

#include "cli/command.h"
#include "measure/accelerator.h"
#include "monitor/cores.h"
#include "storage/storage.h"

/* A name or a message; bytes that are not UTF-8 become \xNN. */
json_t *wr_text_json(const char *s);

/* Who had the cores, and whether others had those that were wanted. */
json_t *wr_cores_json(const struct wr_cores_use *u, bool starved);

/* What works on each batch, and how long on one of `batch` samples. */
json_t *wr_accelerator_json(const struct wr_accelerator *a, uint32_t batch);

/* The machine, and the file system below `st` where the kernel knows one. */
json_t *wr_host_json(struct wr_store *st);

/* Prints a result to cli->out, keys in the order in which they were set, and
 * frees it; NULL is one that memory was short for. Returns enum wr_exit. The
 * second one prints a single line. */
int wr_json_print(const struct wr_cli *cli, json_t *root);
int wr_json_print_line(const struct wr_cli *cli, json_t *root);

#endif
