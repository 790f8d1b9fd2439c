/* run_args.h - the settings of `weir run`.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_RUN_ARGS_H
#define WR_CLI_RUN_ARGS_H

#include "cli/command.h"
#include "cli/session.h"
#include "run/run.h"

struct run_args {
    bool list, explain;
    double scale;
    uint64_t accelerators, steps, epochs, search_max;
    int consume, access, compat, search, page_cache;
    bool no_io, selftest, check, digest;
    weir_pipeline_config feed;
    struct wr_open_args open;
    const char *ckpt, *slow, *store;
    int level;
    bool checkpoints;
    const char *dlio_output, *record;
    bool json;
    double monitor_hz;
};

extern const struct wr_option wr_run_options[];
void wr_run_args_defaults(void *args);

/* The operands behind the name: one that is no override is where the data lies
 * (NULL: none is given); "section.key=value" and what begins with "+" are
 * overrides, whose number is returned; `ret` has room for all operands. */
size_t wr_run_operands(const struct wr_cli *cli, const char **ret,
                       const char **ret_data, weir_err *err, int *ret_code);

/* Fills the plan with what the options say; the workload is there already. */
int wr_run_plan_of(const struct wr_cli *cli, struct wr_run_plan *plan,
                   weir_err *err);

#endif
