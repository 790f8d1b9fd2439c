/* trace_args.h - the settings of weir trace, and its actions.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_TRACE_ARGS_H
#define WR_CLI_TRACE_ARGS_H

#include "cli/command.h"
#include "trace/merge.h"

struct trace_args {
    const char *record, *to_workload;
    uint64_t budget;
    bool live, anonymous, no_arguments, kernel;
    int align; /* enum wr_merge_align */
};

extern const struct wr_action wr_trace_action_merge;

#endif
