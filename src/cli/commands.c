/* commands.c - the registry of commands: one line each.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <string.h>

#include "base/named.h"

/* X(name): the table wr_cmd_<name> in cmd_<name>.c. */
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
