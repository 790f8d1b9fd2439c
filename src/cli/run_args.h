/* run_args.h - the settings of `weir run`.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_RUN_ARGS_H
#define WR_CLI_RUN_ARGS_H

#include "cli/command.h"
#include "cli/session.h"
#include "run/run.h"

struct run_args {
    struct wr_run_plan plan; /* as far as options alone say it */
    bool list, explain;
    uint64_t accelerators, search_max;
    int consume, compat, search;
    bool selftest, check;
    struct wr_open_args open;
    const char *ckpt;
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

/* The plan for a workload, but for data sets, ranks and callbacks. */
int wr_run_plan_of(const struct wr_cli *cli, const struct wr_workload *w,
                   struct wr_run_plan *plan, weir_err *err);

#endif
