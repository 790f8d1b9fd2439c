/* commands.h - the registry of commands.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_COMMANDS_H
#define WR_CLI_COMMANDS_H

#include "cli/command.h"

/* Every command, in the order of the overview; NULL ends the list. */
extern const struct wr_command *const wr_commands[];

/* The command called `name`, or NULL; then *ret_near is the nearest one's
 * name, or NULL. */
const struct wr_command *wr_command_find(const char *name,
                                         const char **ret_near);

#endif
