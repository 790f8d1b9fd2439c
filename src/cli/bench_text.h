/* bench_text.h - the benchmark's results for a person.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_BENCH_TEXT_H
#define WR_CLI_BENCH_TEXT_H

#include "cli/monitor.h"
#include "cli/table.h"
#include "measure/bench.h"

/* What its columns mean. */
extern const struct wr_columns wr_bench_columns[];

/* The table, what limits it in words, and the bad samples. */
int wr_bench_print(const struct wr_cli *cli, const struct wr_bench_plan *plan,
                   const struct wr_bench_result *results,
                   const struct wr_monitor *m, weir_err *err);

#endif
