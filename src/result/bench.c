/* bench.c - the tables of what weir bench measures.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/bench.h"

#include "result/stats.h"

static double samples_per_s(const void *all)
{
    const struct wr_bench_values *v = all;

    return v->samples / v->seconds;
}

static double bytes_per_s(const void *all)
{
    const struct wr_bench_values *v = all;

    return v->bytes / v->seconds;
}

static double cpu_s_per_1000(const void *all)
{
    const struct wr_bench_values *v = all;

    return v->samples > 0 ? v->cpu_s * 1000 / v->samples : 0;
}

const char *const wr_verdict_words[] = {"unknown",       "storage-bound",
                                        "decode-bound",  "consumer-bound",
                                        "convert-bound", NULL};

#define THIS struct wr_input_values
const struct wr_vals wr_input_vals = WR_VALS(WR_INPUT_VALUES);
#undef THIS
#define THIS struct wr_cores_values
const struct wr_vals wr_cores_vals = WR_VALS(WR_CORES_VALUES);
#undef THIS
#define THIS struct wr_in_force_values
const struct wr_vals wr_in_force_vals = WR_VALS(WR_IN_FORCE_VALUES);
#undef THIS
#define THIS struct wr_tier_values
const struct wr_vals wr_tier_vals = WR_VALS(WR_TIER_VALUES);
#undef THIS
#define THIS struct wr_bench_values
const struct wr_vals wr_bench_vals = WR_VALS(WR_BENCH_VALUES);
#undef THIS
#define THIS struct wr_bench_result_values
const struct wr_vals wr_bench_result_vals = WR_VALS(WR_BENCH_RESULT_VALUES);
#undef THIS
#define THIS struct wr_bench_case_values
const struct wr_vals wr_bench_case_vals = WR_VALS(WR_BENCH_CASE_VALUES);
#undef THIS

const struct wr_cases_spec wr_bench_spec = {
    .command = "bench",
    .rows = "cases",
    .settings = "settings",
    .of = &wr_bench_case_vals,
    .of_run = &wr_bench_vals,
    .runs_at = offsetof(struct wr_bench_case_values, runs)};

const struct wr_bench_values *wr_bench_middle(const struct wr_case *row)
{
    double rates[WR_CASE_RUNS_MAX] = {0};
    size_t n = 0, k;

    for (; n < row->list.count && n < WR_CASE_RUNS_MAX; n++)
        rates[n] = wr_bench_run(row, n)->samples_per_s;
    k = wr_stats_middle(rates, n);
    return wr_bench_run(row, k < n ? k : row->list.count);
}
