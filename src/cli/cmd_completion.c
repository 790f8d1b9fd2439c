/* cmd_completion.c - weir completion: completion scripts for shells.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include "cli/commands.h"
#include "cli/completion.h"
#include "cli/optvalue.h"

enum shell { SHELL_BASH, SHELL_ZSH, SHELL_FISH };

static const struct wr_choice shells[] = {{"bash", SHELL_BASH, NULL},
                                          {"zsh", SHELL_ZSH, NULL},
                                          {"fish", SHELL_FISH, NULL},
                                          {NULL, 0, NULL}};

static int completion_run(struct wr_cli *cli)
{
    int shell = SHELL_BASH;

    if (wr_choice_find(shells, cli->operands[0], &shell, NULL) < 0)
        return WR_EXIT_USAGE; /* the operand table has checked it */
    if (shell == SHELL_BASH)
        wr_completion_bash(cli->out, wr_commands);
    else if (shell == SHELL_ZSH)
        wr_completion_zsh(cli->out, wr_commands);
    else
        wr_completion_fish(cli->out, wr_commands);
    return WR_EXIT_DONE;
}

static const struct wr_operand operands[] = {
    {.name = "SHELL", .choices = shells, .help = "bash, zsh or fish"},
    {.name = NULL}};

static const struct wr_help_example examples[] = {
    {"source <(weir completion bash)", "complete in this bash"},
    {"weir completion zsh > ~/.zfunc/_weir",
     "install for zsh, with ~/.zfunc in fpath"},
    {"weir completion fish > ~/.config/fish/completions/weir.fish",
     "install for fish"},
    {NULL, NULL}};

const struct wr_command wr_cmd_completion = {
    .name = "completion",
    .group = WR_GROUP_HELP,
    .summary = "print a completion script for your shell",
    .description =
        "Prints a script that completes weir's commands, options and their "
        "values. 'make install' installs it for bash, zsh and fish, in the "
        "folders that they search; fish searches /usr/local only if "
        "XDG_DATA_DIRS contains /usr/local/share.",
    .operands = operands,
    .examples = examples,
    .ranks = WR_RANKS_FIRST,
    .run = completion_run,
};
