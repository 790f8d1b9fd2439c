/* problem.h - what a program that trains does with errors of the background.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A slow tier that fails, or was restored from a backup, ends no run: what was
 * saved is on the fast tier. It is told. A run ends when another process has
 * taken the store, or a save of its own is lost. */
#ifndef WR_CHECKPOINT_PROBLEM_H
#define WR_CHECKPOINT_PROBLEM_H

#include "weir/checkpoint.h"

/* Who is told; `say` may be NULL. */
struct wr_ckpt_listener {
    void (*say)(void *arg, const char *text);
    void *arg;
};

/* Tells all that weir_ckpt_problem would return; fails with what ends a run. */
int wr_ckpt_tell_problems(weir_ckpt *c, const struct wr_ckpt_listener *to,
                          weir_err *err);

/* The same for what a save of `step` returned: 0 when the step is on the fast
 * tier, and only `level` was not reached. */
int wr_ckpt_tell_save(weir_ckpt *c, uint64_t step, int r,
                      const struct wr_ckpt_listener *to, weir_err *err);

/* What was odd about the tiers when they were opened; "": nothing. Calls that
 * save and restore tell it by themselves. */
const char *wr_ckpt_notice(const weir_ckpt *c);

#endif
