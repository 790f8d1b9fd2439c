/* probe_text.h - the results of a probe as a person reads them: tables.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_PROBE_TEXT_H
#define WR_CLI_PROBE_TEXT_H

#include "cli/table.h"
#include "measure/probe.h"

/* "4 KiB", "1 MiB", "512 B" into buf, which is returned. */
char *wr_probe_block_text(uint64_t block, char *buf, size_t cap);

/* Before anything is done: what will be probed, and with what. */
void wr_probe_print_head(const struct wr_cli *cli,
                         const struct wr_probe_plan *plan, struct wr_store *st);

/* Instead of doing it: the tests, bytes and seconds. */
int wr_probe_print_plan(const struct wr_cli *cli,
                        const struct wr_probe_plan *plan, weir_err *err);

/* What the columns of the tables mean. */
extern const struct wr_columns wr_probe_columns[];

/* The cache and the tables. */
int wr_probe_print_tables(const struct wr_cli *cli,
                          const struct wr_probe_plan *plan,
                          const struct wr_probe_report *rep, weir_err *err);

#endif
