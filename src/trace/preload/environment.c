/* environment.c - children are traced, too, whatever environment they get.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/life.h"

#include <string.h>

#define MOST 16384 /* variables of an environment that is looked at */

struct wr_tap_kept {
    char folder[300], preload[2048]; /* "NAME=value" */
};
static struct wr_tap_kept kept;

static void keep(char *to, size_t cap, const char *name, const char *value)
{
    size_t n = strlen(name), len = value ? strlen(value) : 0;

    if (!value || n + len >= cap)
        return;
    memcpy(to, name, n);
    memcpy(to + n, value, len + 1);
}

void wr_tap_keep_environment(const char *folder, const char *preload)
{
    keep(kept.folder, sizeof(kept.folder), "WEIR_TRACE=", folder);
    keep(kept.preload, sizeof(kept.preload), "LD_PRELOAD=", preload);
}

static bool has(char *const *envp, const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; envp && envp[i]; i++)
        if (!strncmp(envp[i], name, n))
            return true;
    return false;
}

size_t wr_tap_environment_room(char *const *envp)
{
    size_t n = 0;

    while (envp && envp[n] && n < MOST)
        n++;
    return n + 3;
}

/* An LD_PRELOAD that the program has changed is its own matter. */
char *const *wr_tap_environment(char *const *envp, char **room)
{
    size_t n = wr_tap_environment_room(envp) - 3;

    if (!wr_tap.on || n >= MOST || !kept.folder[0] || !kept.preload[0] ||
        has(envp, "WEIR_TRACE=") || has(envp, "WEIR_TRACE_DISABLE=") ||
        has(envp, "LD_PRELOAD="))
        return envp;
    for (size_t i = 0; i < n; i++)
        room[i] = envp[i];
    room[n] = kept.folder;
    room[n + 1] = kept.preload;
    room[n + 2] = NULL;
    return room;
}
