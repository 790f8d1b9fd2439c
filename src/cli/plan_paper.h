/* plan_paper.h - weir plan --paper: the paper's results from its own numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_PLAN_PAPER_H
#define WR_CLI_PLAN_PAPER_H

#include "cli/command.h"

/* Prints what is simulated beside what the paper states. */
int wr_plan_print_paper(const struct wr_cli *cli, weir_err *err);

#endif
