/* cmd_man.c - weir __man: man pages, for the build.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include "cli/commands.h"
#include "cli/manual.h"
#include "weir/weir.h"

static int man_run(struct wr_cli *cli)
{
    const struct wr_command *cmd;
    struct wr_suggested near;

    if (!cli->operand_count) {
        wr_roff_overview(cli->out, wr_commands, weir_version_string());
        return WR_EXIT_DONE;
    }
    cmd = wr_command_find(cli->operands[0], &near);
    if (!cmd)
        return wr_cli_usage(cli, "unknown command '%s'", cli->operands[0]);
    wr_roff_command(cli->out, cmd, weir_version_string());
    return WR_EXIT_DONE;
}

static const struct wr_operand operands[] = {
    {.name = "COMMAND",
     .help = "the command; without it, weir(1)",
     .flags = WR_OPERAND_OPTIONAL | WR_OPERAND_COMMAND},
    {.name = NULL}};

const struct wr_command wr_cmd_man = {
    .name = "__man",
    .group = WR_GROUP_HIDDEN,
    .summary = "print a man page",
    .description = "Prints roff made from the option tables.",
    .operands = operands,
    .ranks = WR_RANKS_FIRST,
    .run = man_run,
};
