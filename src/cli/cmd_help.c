/* cmd_help.c - weir help: the list of commands, or the help of one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include "cli/action.h"
#include "cli/commands.h"
#include "cli/manual.h"

static int help_run(struct wr_cli *cli)
{
    const struct wr_action *action = NULL;
    const struct wr_command *cmd;
    struct wr_suggested near;
    weir_err err;

    if (!cli->operand_count) {
        wr_help_overview(cli, wr_commands, cli->out);
        return WR_EXIT_DONE;
    }
    cmd = wr_command_find(cli->operands[0], &near);
    if (!cmd)
        return wr_cli_usage(cli, "unknown command '%s'%s", cli->operands[0],
                            near.text);
    if (cli->operand_count > 1) {
        action = wr_action_find(cmd, cli->operands[1], &err);
        if (!action)
            return wr_cli_usage(cli, "%s", err.msg);
    }
    wr_help_of(cli, cmd, action);
    return WR_EXIT_DONE;
}

static const struct wr_operand operands[] = {
    {.name = "COMMAND",
     .help = "the command to explain",
     .flags = WR_OPERAND_OPTIONAL | WR_OPERAND_COMMAND},
    {.name = "ACTION",
     .help = "one of its actions, if it has any",
     .flags = WR_OPERAND_OPTIONAL},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"weir help", "list the commands"},
    {"weir help cache", "explain 'weir cache', as 'weir cache --help' does"},
    {"weir help ckpt drain", "explain one action of 'weir ckpt'"},
    {NULL, NULL}};

const struct wr_command wr_cmd_help = {
    .name = "help",
    .group = WR_GROUP_HELP,
    .summary = "list the commands, or explain one",
    .description = "Without an argument, lists the commands by purpose. With "
                   "the name of a command, explains it.",
    .operands = operands,
    .examples = examples,
    .ranks = WR_RANKS_FIRST,
    .run = help_run,
};
