/* bench_head.h - what a benchmark says before it measures.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_BENCH_HEAD_H
#define WR_CLI_BENCH_HEAD_H

#include "cli/command.h"
#include "measure/bench.h"

/* What is measured, on what, by how many ranks (of `hosts` hosts), and what
 * takes the batches. */
void wr_bench_print_head(const struct wr_cli *cli,
                         const struct wr_bench_plan *plan, uint32_t hosts);

#endif
