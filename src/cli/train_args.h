/* train_args.h - the settings of `weir train`, and the plan they make.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_TRAIN_ARGS_H
#define WR_CLI_TRAIN_ARGS_H

#include "cli/command.h"
#include "cli/session.h"
#include "train/train.h"

struct train_args {
    struct wr_train_plan plan; /* as far as options alone say it */
    /* what is trained */
    const char *accelerator, *engine;
    double holdout;
    bool compare;
    uint64_t repeat; /* rounds of --compare */
    struct wr_open_args open;
    /* results */
    const char *record;
    bool json;
    double monitor_hz;
};

extern const struct wr_option wr_train_options[];
void wr_train_args_defaults(void *args);

/* The plan, but for the data set and the callbacks. An engine is loaded if one
 * is needed. A message names the option. */
int wr_train_plan_of(const struct wr_cli *cli, struct wr_train_plan *ret,
                     weir_err *err);

#endif
