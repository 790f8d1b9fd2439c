/* cmd_options.c - weir __options: the tables as plain lines, for tests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include "cli/commands.h"

static void print_table(const struct wr_cli *cli, const struct wr_command *cmd,
                        const struct wr_option *o)
{
    for (; o && o->name; o++)
        if (!(o->flags & WR_OPTION_HIDDEN))
            wr_cli_put(cli, "%s --%s\n", cmd->name, o->name);
}

static int options_run(struct wr_cli *cli)
{
    for (size_t i = 0; wr_commands[i]; i++) {
        if (wr_commands[i]->group == WR_GROUP_HIDDEN)
            continue;
        print_table(cli, wr_commands[i], wr_commands[i]->options);
        print_table(cli, wr_commands[i], wr_common_options);
    }
    return WR_EXIT_DONE;
}

const struct wr_command wr_cmd_options = {
    .name = "__options",
    .group = WR_GROUP_HIDDEN,
    .summary = "list every command's options",
    .description = "One line 'COMMAND --OPTION' for each.",
    .ranks = WR_RANKS_FIRST,
    .run = options_run,
};
