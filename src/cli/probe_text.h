/* probe_text.h - what a probe says before it begins.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_PROBE_TEXT_H
#define WR_CLI_PROBE_TEXT_H

#include "cli/table.h"
#include "measure/probe.h"

/* Before anything is done: what will be probed, and with what. */
void wr_probe_print_head(const struct wr_cli *cli,
                         const struct wr_probe_plan *plan, struct wr_store *st);

/* Instead of doing it: the tests, bytes and seconds. */
int wr_probe_print_plan(const struct wr_cli *cli,
                        const struct wr_probe_plan *plan, weir_err *err);

#endif
