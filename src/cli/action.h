/* action.h - commands that do several things: weir ckpt ls, weir ckpt drain.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_ACTION_H
#define WR_CLI_ACTION_H

#include "cli/command.h"

#define WR_ACTIONS_MAX 32

/* The words that operand `o` of `cmd` may be: its choices, or the names of the
 * command's actions, put into `room`. NULL: any. */
const struct wr_choice *
wr_operand_words(const struct wr_command *cmd, const struct wr_operand *o,
                 struct wr_choice room[WR_ACTIONS_MAX + 1]);

/* NULL when there is none of that name. */
const struct wr_action *wr_action_find(const struct wr_command *cmd,
                                       const char *name, weir_err *err);

/* Of a command that also runs without an action: the argument that names one,
 * unless it stands behind '--'; NULL: none. Before the arguments are parsed. */
const char *wr_action_named(const struct wr_command *cmd, int argc,
                            char *const *argv);

/* Takes the first operand as the action's name: sets cli->action. */
int wr_action_take(struct wr_cli *cli, weir_err *err);

/* Whether the action has an option of that name. */
bool wr_action_has(const struct wr_action *a, const char *option);

/* Are all options that were given the action's, and those there that it
 * needs? */
int wr_action_check(const struct wr_cli *cli, weir_err *err);

#endif
