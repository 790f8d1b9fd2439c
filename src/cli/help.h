/* help.h - help texts from the tables.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CLI_HELP_H
#define WR_CLI_HELP_H

#include "cli/command.h"
#include "cli/table.h"

/* What `weir CMD --help` prints, on cli->out. */
void wr_help_command(const struct wr_cli *cli, const struct wr_command *cmd);

/* What `weir CMD ACTION --help` prints; of the command when it is NULL. */
void wr_help_of(const struct wr_cli *cli, const struct wr_command *cmd,
                const struct wr_action *action);

/* The list of commands (NULL-ended) by group, on `to`. */
void wr_help_overview(const struct wr_cli *cli,
                      const struct wr_command *const *commands, FILE *to);

/* "weir cache [options] ACTION PATH..." into buf, which is returned. */
char *wr_help_usage(const struct wr_command *cmd, char *buf, size_t cap);

/* "-t, --threads N" into buf, which is returned. */
char *wr_help_option(const struct wr_option *opt, char *buf, size_t cap);

/* "default: 4", the choices; "" when there is nothing to say. */
char *wr_help_notes(const struct wr_option *opt, char *buf, size_t cap);

/* The same of an action: "weir ckpt drain [options] FAST SLOW". */
char *wr_help_action_usage(const struct wr_command *cmd,
                           const struct wr_action *action, char *buf,
                           size_t cap);

/* Exit codes and what they say; ends with a NULL code. Code 1 is the second. */
struct wr_exit_text {
    const char *code, *text;
};
extern const struct wr_exit_text wr_help_exits[];

/* The heading of a group of commands. */
const char *wr_help_group(enum wr_command_group group);

#endif
