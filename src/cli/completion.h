/* completion.h - shell completion scripts from the tables.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_COMPLETION_H
#define WR_CLI_COMPLETION_H

#include "cli/command.h"

/* Scripts that complete commands, options, values and files, for the
 * NULL-ended list of commands. */
void wr_completion_bash(FILE *to, const struct wr_command *const *commands);
void wr_completion_zsh(FILE *to, const struct wr_command *const *commands);
void wr_completion_fish(FILE *to, const struct wr_command *const *commands);

#endif
