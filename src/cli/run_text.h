/* run_text.h - what `weir run` prints besides its result.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_RUN_TEXT_H
#define WR_CLI_RUN_TEXT_H

#include "cli/command.h"
#include "run/run.h"

/* The label of the progress line; `trying` is the number of accelerators of a
 * search, 0: there is none. */
void wr_run_label(const struct wr_run_news *news, unsigned trying, char *buf,
                  size_t cap);

/* The workloads that are built in, by group. Returns enum wr_exit. */
int wr_run_print_list(const struct wr_cli *cli);

/* What follows from a description for so many accelerators. */
int wr_run_print_explained(const struct wr_cli *cli,
                           const struct wr_workload *w, uint64_t world);

/* The name of its data format. */
const char *wr_run_format_name(const struct wr_workload *w);

#endif
