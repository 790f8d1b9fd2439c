/* ckpt.c - the tables of what weir ckpt bench measures.
 * SPDX-License-Identifier: Apache-2.0 */
#include "result/ckpt.h"

static double saves_per_s(const void *all)
{
    const struct wr_ckpt_save_values *v = all;

    return 1 / v->stall_s;
}

static double stall_bytes_per_s(const void *all)
{
    const struct wr_ckpt_result_values *v = all;

    return v->bytes / v->stall_s;
}

static double drain_bytes_per_s(const void *all)
{
    const struct wr_ckpt_result_values *v = all;

    return v->bytes / v->drain_s;
}

static double restore_bytes_per_s(const void *all)
{
    const struct wr_ckpt_result_values *v = all;

    return v->bytes / v->restore_s;
}

static const char *const ways[] = {"slow", "fast", "burst", "async", NULL};

#define THIS struct wr_ckpt_save_values
const struct wr_vals wr_ckpt_save_vals = WR_VALS(WR_CKPT_SAVE_VALUES);
#undef THIS
#define THIS struct wr_ckpt_result_values
const struct wr_vals wr_ckpt_result_vals = WR_VALS(WR_CKPT_RESULT_VALUES);
#undef THIS
#define THIS struct wr_ckpt_rank_values
const struct wr_vals wr_ckpt_rank_vals = WR_VALS(WR_CKPT_RANK_VALUES);
#undef THIS
#define THIS struct wr_ckpt_case_values
const struct wr_vals wr_ckpt_case_vals = WR_VALS(WR_CKPT_CASE_VALUES);
#undef THIS

#define THIS struct wr_ckpt_head_values
const struct wr_vals wr_ckpt_head_vals = WR_VALS(WR_CKPT_HEAD_VALUES);
#undef THIS

static const char *const keys[] = {"way", NULL};

const struct wr_cases_spec wr_ckpt_spec = {
    .command = "ckpt",
    .rows = "cases",
    .head = &wr_ckpt_head_vals,
    .keys = keys,
    .of = &wr_ckpt_case_vals,
    .of_run = &wr_ckpt_save_vals,
    .runs_at = offsetof(struct wr_ckpt_case_values, runs)};
