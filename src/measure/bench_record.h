/* bench_record.h - the benchmark's results for programs: record and CSV.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MEASURE_BENCH_RECORD_H
#define WR_MEASURE_BENCH_RECORD_H

#include <jansson.h>

#include "measure/bench.h"
#include "measure/monitor.h"

/* The run record; NULL when memory is short. */
json_t *wr_bench_record(const struct wr_bench_plan *plan,
                        const struct wr_bench_result *results,
                        const struct wr_monitor *m);

/* A line for every batch of every run. */
int wr_bench_write_csv(const struct wr_bench_plan *plan,
                       const struct wr_bench_result *results, const char *path,
                       weir_err *err);

#endif
