/* commands.c - the registry of commands, one line each; and those about weir.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <string.h>

#include "base/mem.h"
#include "cli/answers.h"
#include "cli/completion.h"
#include "cli/manual.h"
#include "cli/record_json.h"
#include "result/cases.h"
#include "weir/weir.h"
#include "base/named.h"

/* X(name): the table wr_cmd_<name> in cmd_<name>.c; the last five are below. */
#define WR_COMMAND_MAP(X)                                                      \
    X(gen)                                                                     \
    X(inspect)                                                                 \
    X(convert)                                                                 \
    X(stage)                                                                   \
    X(probe)                                                                   \
    X(bench)                                                                   \
    X(run)                                                                     \
    X(train)                                                                   \
    X(plan)                                                                    \
    X(study)                                                                   \
    X(report)                                                                  \
    X(trace)                                                                   \
    X(cache)                                                                   \
    X(mount)                                                                   \
    X(ckpt)                                                                    \
    X(doctor)                                                                  \
    X(help)                                                                    \
    X(completion)                                                              \
    X(man)                                                                     \
    X(options)                                                                 \
    X(schema)

#define DECLARE(name) extern const struct wr_command wr_cmd_##name;
WR_COMMAND_MAP(DECLARE)
#undef DECLARE

const struct wr_command *const wr_commands[] = {
#define ENTRY(name) &wr_cmd_##name,
    WR_COMMAND_MAP(ENTRY)
#undef ENTRY
        NULL};

const struct wr_command *wr_command_find(const char *name,
                                         struct wr_suggested *ret_near)
{
    struct wr_suggest near;

    wr_suggest_init(&near, name);
    for (size_t i = 0; wr_commands[i]; i++) {
        if (!strcmp(wr_commands[i]->name, name))
            return wr_commands[i];
        if (wr_commands[i]->group != WR_GROUP_HIDDEN)
            wr_suggest_try(&near, wr_commands[i]->name);
    }
    *ret_near = wr_suggest_said(&near, "");
    return NULL;
}

/* --- weir help: the list of commands, or the help of one --- */

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

static const struct wr_operand help_operands[] = {
    {.name = "COMMAND",
     .help = "the command to explain",
     .flags = WR_OPERAND_OPTIONAL | WR_OPERAND_COMMAND},
    {.name = "ACTION",
     .help = "one of its actions, if it has any",
     .flags = WR_OPERAND_OPTIONAL},
    {.name = NULL}};

static const struct wr_help_example help_examples[] = {
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
    .operands = help_operands,
    .examples = help_examples,
    .ranks = WR_RANKS_FIRST,
    .run = help_run,
};

/* --- weir completion: completion scripts for shells --- */

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

static const struct wr_operand completion_operands[] = {
    {.name = "SHELL", .choices = shells, .help = "bash, zsh or fish"},
    {.name = NULL}};

static const struct wr_help_example completion_examples[] = {
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
    .operands = completion_operands,
    .examples = completion_examples,
    .ranks = WR_RANKS_FIRST,
    .run = completion_run,
};

/* --- weir __man: man pages, for the build --- */

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

static const struct wr_operand man_operands[] = {
    {.name = "COMMAND",
     .help = "the command; without it, weir(1)",
     .flags = WR_OPERAND_OPTIONAL | WR_OPERAND_COMMAND},
    {.name = NULL}};

const struct wr_command wr_cmd_man = {
    .name = "__man",
    .group = WR_GROUP_HIDDEN,
    .summary = "print a man page",
    .description = "Prints roff made from the option tables.",
    .operands = man_operands,
    .ranks = WR_RANKS_FIRST,
    .run = man_run,
};

/* --- weir __options: the tables as plain lines, for tests --- */

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

/* --- weir __schema: JSON Schemas of run records, for the build --- */

static const struct wr_answer *const answers[] = {
#define ENTRY(name) &wr_answer_##name,
    WR_ANSWER_MAP(ENTRY)
#undef ENTRY
};

/* What commands print with --json that make no record. */
static json_t *answer_schemas(void)
{
    json_t *defs = json_object();

    for (size_t k = 0; k < WR_ARRAY_LEN(answers); k++)
        json_object_set_new(defs, answers[k]->name,
                            wr_answer_schema(answers[k]));
    return json_pack("{s:s, s:s, s:o}", "$schema",
                     "https://json-schema.org/draft/2020-12/schema", "title",
                     "Results of weir as JSON", "$defs", defs);
}

static int schema_run(struct wr_cli *cli)
{
    return wr_json_print(cli, cli->operand_count ? answer_schemas()
                                                 : wr_record_schemas());
}

static const struct wr_choice schema_choices[] = {
    {"results", 0, "of what commands print with --json"}, {NULL, 0, NULL}};

static const struct wr_operand schema_operands[] = {
    {WR_ARGUMENT("OF", WR_OPERAND_OPTIONAL), .choices = schema_choices,
     .help = "without it: of run records"},
    {.name = NULL}};

const struct wr_command wr_cmd_schema = {
    .name = "__schema",
    .group = WR_GROUP_HIDDEN,
    .summary = "print the schemas of run records, or of results",
    .description = "Prints a JSON Schema made from the tables of values.",
    .operands = schema_operands,
    .ranks = WR_RANKS_FIRST,
    .run = schema_run,
};
