/* disks.c - the disks behind paths.
 * SPDX-License-Identifier: Apache-2.0 */
#include "monitor/disks.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/named.h"
#include "monitor/host.h"
#include "base/procfs.h"

static const char *sys_of(const struct wr_disks *d)
{
    return d->sys ? d->sys : "/sys";
}

static bool has_file(const char *dir, const char *file)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof(path), "%s/%s", dir, file);
    return access(path, F_OK) == 0;
}

/* Keeps the name; false when nothing is to be done about it. */
static bool keep(struct wr_disks *d, const char *name)
{
    if (d->count == WR_DISKS_MAX || strlen(name) >= sizeof(d->name[0]) ||
        wr_named_text(d->name, d->count, sizeof(d->name[0]), name) >= 0)
        return false;
    snprintf(d->name[d->count++], sizeof(d->name[0]), "%s", name);
    return true;
}

/* Calls `fn` for every entry of a folder. */
static void each_entry(struct wr_disks *d, const char *dir,
                       void (*fn)(struct wr_disks *d, const char *name))
{
    DIR *open = opendir(dir);
    const struct dirent *e;

    while (open && (e = readdir(open)))
        if (e->d_name[0] != '.')
            fn(d, e->d_name);
    if (open)
        closedir(open);
}

void wr_disks_add(struct wr_disks *d, const char *name)
{
    char path[PATH_MAX + 16], real[PATH_MAX];

    if (!*name ||
        snprintf(path, PATH_MAX, "%s/class/block/%s", sys_of(d), name) >=
            PATH_MAX ||
        !realpath(path, real))
        return;
    if (has_file(real, "partition"))
        *strrchr(real, '/') = '\0';
    if (!keep(d, strrchr(real, '/') + 1))
        return;
    snprintf(path, sizeof(path), "%s/slaves", real);
    each_entry(d, path, wr_disks_add);
}

void wr_disks_add_path(struct wr_disks *d, const char *path)
{
    struct wr_host_fs fs;

    if (wr_host_fs_of(path, &fs, NULL) == 0 && *fs.device)
        wr_disks_add(d, fs.device);
}

/* Loops, mapped and memory devices have no device; the paths that make up a
 * multipath disk are hidden. */
static void add_real(struct wr_disks *d, const char *name)
{
    char dir[PATH_MAX], path[PATH_MAX + 16], text[16];

    if (snprintf(dir, sizeof(dir), "%s/block/%s", sys_of(d), name) >=
            (int)sizeof(dir) ||
        !has_file(dir, "device"))
        return;
    snprintf(path, sizeof(path), "%s/hidden", dir);
    if (wr_procfs_read_path(path, text, sizeof(text)) > 0 && *text == '1')
        return;
    keep(d, name);
}

void wr_disks_add_all(struct wr_disks *d)
{
    char dir[PATH_MAX];

    if (snprintf(dir, sizeof(dir), "%s/block", sys_of(d)) < (int)sizeof(dir))
        each_entry(d, dir, add_real);
}

const char *wr_disks_file(const struct wr_disks *d, size_t k, const char *file,
                          char *buf, size_t cap)
{
    int n = snprintf(buf, cap, "%s/block/%s/%s", sys_of(d), d->name[k], file);

    return n >= 0 && (size_t)n < cap ? buf : NULL;
}
