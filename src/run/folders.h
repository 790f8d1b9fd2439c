/* folders.h - where a run may read and write.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_RUN_FOLDERS_H
#define WR_RUN_FOLDERS_H

#include "run/run.h"

/* Whether the description names places that it may: those below the current
 * folder. A place that it does not choose is not asked: a folder of checkpoints
 * that was named elsewhere (`ckpt_named`), DATA, KEY=VALUE. `data`: the one that
 * it names, if it is used; NULL: it is not. */
int wr_run_folders_check(const struct wr_run_plan *plan, bool ckpt_named,
                         const char *data, weir_err *err);

/* Whether checkpoints are written. */
bool wr_run_saves(const struct wr_run_plan *plan);

#endif
