/* action.c - commands that do several things: weir ckpt ls, weir ckpt drain.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/action.h"

#include <string.h>

#include "base/error.h"
#include "base/named.h"
#include "cli/optvalue.h"

static const struct wr_choice *
action_words(const struct wr_command *cmd,
             struct wr_choice room[WR_ACTIONS_MAX + 1])
{
    size_t n = 0;

    for (; cmd->actions[n] && n < WR_ACTIONS_MAX; n++)
        room[n] = (struct wr_choice){cmd->actions[n]->name, (int)n,
                                     cmd->actions[n]->summary};
    room[n] = (struct wr_choice){NULL, 0, NULL};
    return room;
}

const struct wr_choice *
wr_operand_words(const struct wr_command *cmd, const struct wr_operand *o,
                 struct wr_choice room[WR_ACTIONS_MAX + 1])
{
    return o->flags & WR_OPERAND_ACTION ? action_words(cmd, room) : o->choices;
}

const char *wr_action_named(const struct wr_command *cmd, int argc,
                            char *const *argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (cmd->actions && wr_named_ops(cmd->actions, SIZE_MAX, argv[i]))
            return argv[i];
    return NULL;
}

const struct wr_action *wr_action_find(const struct wr_command *cmd,
                                       const char *name, weir_err *err)
{
    struct wr_choice room[WR_ACTIONS_MAX + 1];
    int i;

    if (!cmd->actions) {
        wr_fail(err, WEIR_EINVAL, "weir %s has no actions", cmd->name);
        return NULL;
    }
    if (wr_choice_find(action_words(cmd, room), name, &i, err) < 0) {
        wr_fail_prefix(err, WEIR_EINVAL, "argument %s", cmd->operands->name);
        return NULL;
    }
    return cmd->actions[i];
}

int wr_action_take(struct wr_cli *cli, weir_err *err)
{
    if (!cli->operand_count)
        return wr_fail(err, WEIR_EINVAL, "argument %s is missing: %s",
                       cli->cmd->operands->name, cli->cmd->operands->help);
    cli->action = wr_action_find(cli->cmd, cli->operands[0], err);
    if (!cli->action)
        return WEIR_EINVAL;
    cli->operands++;
    cli->operand_count--;
    return 0;
}

bool wr_action_has(const struct wr_action *a, const char *option)
{
    const char *const *name = a->options;

    while (name && *name && strcmp(*name, option))
        name++;
    return name && *name;
}

int wr_action_check(const struct wr_cli *cli, weir_err *err)
{
    const struct wr_action *a = cli->action;
    const struct wr_option *o = cli->cmd->options;
    const char *const *need = a->needs;

    for (; o && o->name; o++)
        if (wr_options_given(&cli->own, o->name) && !wr_action_has(a, o->name))
            return wr_fail(err, WEIR_EINVAL, "%s does not take --%s", a->name,
                           o->name);
    for (; need && *need; need++)
        if (!wr_options_given(&cli->own, *need))
            return wr_fail(err, WEIR_EINVAL, "%s: give --%s", a->name, *need);
    return 0;
}
