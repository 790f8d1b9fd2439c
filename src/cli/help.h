/* help.h - help texts from the tables.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_HELP_H
#define WR_CLI_HELP_H

#include "cli/command.h"

/* What `weir CMD --help` prints, on cli->out. */
void wr_help_command(const struct wr_cli *cli, const struct wr_command *cmd);

/* The list of commands (NULL-ended) by group, on `to`. */
void wr_help_overview(const struct wr_cli *cli,
                      const struct wr_command *const *commands, FILE *to);

/* "weir cache [options] ACTION PATH..." into buf, which is returned. */
char *wr_help_usage(const struct wr_command *cmd, char *buf, size_t cap);

/* "-t, --threads N" into buf, which is returned. */
char *wr_help_option(const struct wr_option *opt, char *buf, size_t cap);

/* "default: 4", the choices; "" when there is nothing to say. */
char *wr_help_notes(const struct wr_option *opt, char *buf, size_t cap);

/* The heading of a group of commands. */
const char *wr_help_group(enum wr_command_group group);

#endif
