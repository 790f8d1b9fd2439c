/* module.c - where modules are: shared objects that are loaded on demand.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/module.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of the running program; false when it is not known. */
static bool own_folder(char *buf, size_t cap)
{
    ssize_t n = readlink("/proc/self/exe", buf, cap - 1);
    char *slash;

    if (n <= 0)
        return false;
    buf[n] = '\0';
    slash = strrchr(buf, '/');
    if (!slash)
        return false;
    *slash = '\0';
    return true;
}

/* Whether FOLDER/weir-NAME.so can be read; the path is in buf. */
static bool is_in(const char *folder, const char *name, char *buf, size_t cap)
{
    int n = snprintf(buf, cap, "%s/weir-%s.so", folder, name);

    return n > 0 && (size_t)n < cap && access(buf, R_OK) == 0;
}

/* Relative to the folder of the running program: a build tree's, an
 * installation's wherever it was moved to. */
static bool is_beside(const char *name, const char *tree, char *buf, size_t cap)
{
    const char *beside[] = {tree, WR_MODULE_BESIDE};
    char own[PATH_MAX / 2], folder[PATH_MAX];

    if (!own_folder(own, sizeof(own)))
        return false;
    for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
        snprintf(folder, sizeof(folder), "%s/%s", own, beside[i]);
        if (is_in(folder, name, buf, cap))
            return true;
    }
    return false;
}

static bool is_named(const char *list, const char *name, char *buf, size_t cap)
{
    char folder[PATH_MAX];

    while (*list) {
        size_t len = strcspn(list, ":");

        if (len > 0 && len < sizeof(folder)) {
            snprintf(folder, sizeof(folder), "%.*s", (int)len, list);
            if (is_in(folder, name, buf, cap))
                return true;
        }
        list += len + (list[len] == ':');
    }
    return false;
}

const char *wr_module_named(void)
{
    const char *named = secure_getenv("WEIR_MODULES");

    return named && *named ? named : NULL;
}

const char *wr_module_installed(void)
{
    return WR_MODULE_DIR;
}

bool wr_module_find(const char *name, const char *tree, char *buf, size_t cap)
{
    const char *named = wr_module_named();

    if (named)
        return is_named(named, name, buf, cap);
    return is_beside(name, tree, buf, cap) ||
           is_in(WR_MODULE_DIR, name, buf, cap);
}
