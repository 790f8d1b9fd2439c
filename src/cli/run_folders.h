/* run_folders.h - where weir run reads and writes, and who says so.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_RUN_FOLDERS_H
#define WR_CLI_RUN_FOLDERS_H

#include "cli/run_args.h"
#include "run/run.h"

/* Whether the description names places that it may: those below the current
 * folder. A place that it does not choose (--ckpt, DATA, KEY=VALUE) is not
 * asked. `data`: the one that it names, if it is used; NULL: it is not. */
int wr_run_folders_check(const struct wr_run_plan *plan,
                         const struct run_args *args, const char *data,
                         weir_err *err);

/* A note for each folder that the run will write to. */
void wr_run_folders_tell(const struct wr_run_plan *plan,
                         const struct wr_cli *cli);

#endif
