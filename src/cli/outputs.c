/* outputs.c - files that a command writes at its end, looked at before it runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/outputs.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "result/whole.h"

/* The path that was given for an output; NULL: none, or stdout. */
static const char *path_of(const struct wr_cli *cli, const struct wr_option *o)
{
    const char *path;

    if (!(o->flags & WR_OPTION_OUTPUT))
        return NULL;
    memcpy(&path, (const char *)cli->own.args + o->offset, sizeof(path));
    return path && strcmp(path, "-") ? path : NULL;
}

static bool stat_folder(const char *path, struct stat *ret)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];

    snprintf(folder, sizeof(folder), "%.*s/.", slash ? (int)(slash - path) : 1,
             slash ? path : ".");
    return stat(folder, ret) == 0;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static bool is_one(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Files that are there, or will be. Devices may be written to twice. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;

    if (has_a && has_b)
        return S_ISREG(x.st_mode) && is_one(&x, &y);
    return !has_a && !has_b && !strcmp(name_of(a), name_of(b)) &&
           stat_folder(a, &x) && stat_folder(b, &y) && is_one(&x, &y);
}

static int check_apart(const struct wr_cli *cli, const struct wr_option *o,
                       const char *path, weir_err *err)
{
    for (const struct wr_option *other = cli->own.table; other != o; other++) {
        const char *theirs = path_of(cli, other);

        if (theirs && is_same_file(path, theirs))
            return wr_fail(err, WEIR_EINVAL,
                           "--%s and --%s are the same file '%s'", other->name,
                           o->name, path);
    }
    for (size_t i = 0; i < cli->operand_count; i++)
        if (is_same_file(path, cli->operands[i]))
            return wr_fail(err, WEIR_EINVAL,
                           "--%s '%s' would replace a file that is read",
                           o->name, path);
    return 0;
}

int wr_outputs_check(const struct wr_cli *cli, weir_err *err)
{
    for (const struct wr_option *o = cli->own.table; o && o->name; o++) {
        const char *path = path_of(cli, o);
        int r;

        if (!path)
            continue;
        r = check_apart(cli, o, path, err);
        if (r == 0)
            r = wr_whole_check(path, err);
        if (r < 0)
            return r;
    }
    return 0;
}
