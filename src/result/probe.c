/* probe.c - the tables of what weir probe measures.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/probe.h"

#include "base/hist.h"

static const char *const ops[] = {"read",   "write", "files",
                                  "create", "sync",  NULL};
static const char *const patterns[] = {"sequential", "random", NULL};

#define THIS struct wr_latency_values
const struct wr_vals wr_latency_vals = WR_VALS(WR_LATENCY_VALUES);
#undef THIS
#define THIS struct wr_probe_run_values
const struct wr_vals wr_probe_run_vals = WR_VALS(WR_PROBE_RUN_VALUES);
#undef THIS
#define THIS struct wr_probe_result_values
const struct wr_vals wr_probe_result_vals = WR_VALS(WR_PROBE_RESULT_VALUES);
#undef THIS
#define THIS struct wr_probe_test_values
const struct wr_vals wr_probe_test_vals = WR_VALS(WR_PROBE_TEST_VALUES);
#undef THIS
#define THIS struct wr_probe_saturation_values
const struct wr_vals wr_probe_saturation_vals = WR_VALS(
    WR_PROBE_SATURATION_VALUES);
#undef THIS
#define THIS struct wr_probe_head_values
const struct wr_vals wr_probe_head_vals = WR_VALS(WR_PROBE_HEAD_VALUES);
#undef THIS
#define THIS struct wr_replay_times_values
const struct wr_vals wr_replay_times_vals = WR_VALS(WR_REPLAY_TIMES_VALUES);
#undef THIS
#define THIS struct wr_replay_operation_values
const struct wr_vals wr_replay_operation_vals = WR_VALS(
    WR_REPLAY_OPERATION_VALUES);
#undef THIS
/* "short" is a key, and a word of C. */
#pragma GCC diagnostic ignored "-Woverride-init"
#define THIS struct wr_replay_values
const struct wr_vals wr_replay_vals = WR_VALS(WR_REPLAY_VALUES);
#undef THIS

static const char *const keys[] = {"op",      "pattern", "block", "depth",
                                   "workers", "direct",  NULL};

const struct wr_cases_spec wr_probe_spec = {
    .command = "probe",
    .rows = "tests",
    .head = &wr_probe_head_vals,
    .keys = keys,
    .of = &wr_probe_test_vals,
    .of_run = &wr_probe_run_vals,
    .runs_at = offsetof(struct wr_probe_test_values, runs)};

const struct wr_cases_spec wr_replay_spec = {.command = "replay",
                                             .of = &wr_replay_vals};

struct wr_latency_values wr_latency_of(const struct wr_hist *h)
{
    struct wr_latency_values v;

    wr_vals_clear(&wr_latency_vals, &v);
    if (!h)
        return v;
    v.mean = h->count ? (double)h->sum / (double)h->count / 1e3 : 0;
    v.p50 = (double)wr_hist_quantile(h, 0.5) / 1e3;
    v.p95 = (double)wr_hist_quantile(h, 0.95) / 1e3;
    v.p99 = (double)wr_hist_quantile(h, 0.99) / 1e3;
    v.p999 = (double)wr_hist_quantile(h, 0.999) / 1e3;
    v.max = (double)h->max / 1e3;
    return v;
}

struct wr_replay_times_values wr_replay_times_of(const struct wr_hist *h)
{
    return (struct wr_replay_times_values){
        .sum_s = (double)h->sum / 1e9,
        .p50_us = (double)wr_hist_quantile(h, 0.5) / 1e3,
        .p90_us = (double)wr_hist_quantile(h, 0.9) / 1e3,
        .p99_us = (double)wr_hist_quantile(h, 0.99) / 1e3,
        .max_us = (double)h->max / 1e3};
}
