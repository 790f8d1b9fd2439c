/* bench_cases.h - the cases that the settings of `weir bench` make.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_BENCH_CASES_H
#define WR_CLI_BENCH_CASES_H

#include "cli/bench_args.h"
#include "measure/bench.h"

/* Every combination of the settings; *ret is to be freed. */
int wr_bench_cases(const struct bench_args *a, struct wr_bench_case **ret,
                   size_t *ret_count, weir_err *err);

/* What works on each batch. */
int wr_bench_accelerator(const struct bench_args *a, struct wr_accelerator *ret,
                         weir_err *err);

#endif
