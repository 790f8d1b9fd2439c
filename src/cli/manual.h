/* manual.h - the help and the man pages of commands, from their tables.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_MANUAL_H
#define WR_CLI_MANUAL_H

#include "cli/command.h"
#include "report/columns.h"

/* What `weir CMD ACTION --help` prints on cli->out; what `weir CMD --help` does
 * when `action` is NULL. */
void wr_help_of(const struct wr_cli *cli, const struct wr_command *cmd,
                const struct wr_action *action);

/* The list of commands (NULL-ended) by group, on `to`. */
void wr_help_overview(const struct wr_cli *cli,
                      const struct wr_command *const *commands, FILE *to);

/* The man page weir-CMD(1). */
void wr_roff_command(FILE *to, const struct wr_command *cmd,
                     const char *version);

/* weir(1), with the list of commands (NULL-ended). */
void wr_roff_overview(FILE *to, const struct wr_command *const *commands,
                      const char *version);

/* One entry of the man page's ENVIRONMENT. */
struct wr_variable {
    const char *name; /* NULL ends the table */
    const char *help;
    bool indirect; /* read by the C library on weir's behalf, not by getenv */
};

/* Every variable; a lint compares it with the calls of getenv in src/. */
extern const struct wr_variable wr_environment[];

#endif
