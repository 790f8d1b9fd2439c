/* roff.h - man pages from the tables.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_ROFF_H
#define WR_CLI_ROFF_H

#include "cli/command.h"

/* weir-CMD(1). */
void wr_roff_command(FILE *to, const struct wr_command *cmd,
                     const char *version);

/* weir(1), with the list of commands (NULL-ended). */
void wr_roff_overview(FILE *to, const struct wr_command *const *commands,
                      const char *version);

#endif
