/* commands.h - the registry of commands.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_COMMANDS_H
#define WR_CLI_COMMANDS_H

#include "base/named.h"
#include "cli/command.h"

/* Every command, in the order of the overview; NULL ends the list. */
extern const struct wr_command *const wr_commands[];

/* The command called `name`, or NULL; then *ret_near asks for the nearest one,
 * if there is any. */
const struct wr_command *wr_command_find(const char *name,
                                         struct wr_suggested *ret_near);

#endif
