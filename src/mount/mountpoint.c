/* mountpoint.c - the source and the mount point: checks, and what is mounted.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mount/mountpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/child.h"
#include "base/error.h"
#include "base/procfs.h"

#define FS_TYPE "fuse.weir"

static int find_folder(const char *path, char ret[PATH_MAX], weir_err *err)
{
    struct stat st;

    if (!realpath(path, ret) || stat(ret, &st) < 0) {
        if (errno == ENOTCONN)
            return wr_fail(err, WEIR_ESTATE,
                           "'%s': a mount whose server has died; 'weir mount "
                           "--unmount %s' removes it",
                           path, path);
        return wr_fail_errno(err, errno, "'%s'", path);
    }
    if (!S_ISDIR(st.st_mode))
        return wr_fail(err, WEIR_EINVAL, "'%s': is no folder", path);
    return 0;
}

static bool is_empty(const char *path)
{
    DIR *dir = opendir(path);
    struct dirent *e;
    int count = 0;

    if (!dir)
        return true; /* mounting will say what is wrong with it */
    while (count <= 2 && (e = readdir(dir)))
        count++;
    closedir(dir);
    return count <= 2; /* . and .. */
}

static bool is_inside(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    return !strcmp(folder, "/") ||
           (!strncmp(path, folder, n) && (path[n] == '/' || path[n] == '\0'));
}

int wr_mountpoint_find(struct wr_mountpoint *ret, const char *source,
                       const char *mountpoint, bool force, weir_err *err)
{
    int r = find_folder(source, ret->source, err);
    dev_t there;

    if (r == 0)
        r = find_folder(mountpoint, ret->mountpoint, err);
    if (r < 0)
        return r;
    if (access(ret->source, R_OK | X_OK) < 0)
        return wr_fail_errno(err, errno, "'%s'", source);
    if (is_inside(ret->mountpoint, ret->source))
        return wr_fail(err, WEIR_EINVAL,
                       "'%s': the mount point must not be inside the source",
                       mountpoint);
    if (wr_mountpoint_device(ret->mountpoint, &there) == 0)
        return wr_fail(err, WEIR_EEXIST,
                       "'%s': is a mount of weir already; 'weir mount "
                       "--unmount %s' removes it",
                       mountpoint, mountpoint);
    if (!force && !is_empty(ret->mountpoint))
        return wr_fail(err, WEIR_EEXIST,
                       "'%s': the mount point is not empty; --force hides "
                       "what is in it",
                       mountpoint);
    return 0;
}

int wr_mountpoint_resolve(const char *mountpoint, char ret[PATH_MAX],
                          weir_err *err)
{
    char a[PATH_MAX], b[PATH_MAX], parent[PATH_MAX];
    int n;

    if (realpath(mountpoint, ret))
        return 0;
    if (errno != ENOTCONN || strlen(mountpoint) >= PATH_MAX)
        return wr_fail_errno(err, errno, "'%s'", mountpoint);
    /* The folder around it can still be asked. */
    strcpy(a, mountpoint);
    strcpy(b, mountpoint);
    if (!realpath(dirname(a), parent))
        return wr_fail_errno(err, errno, "'%s'", mountpoint);
    n = snprintf(ret, PATH_MAX, "%s/%s", strcmp(parent, "/") ? parent : "",
                 basename(b));
    if (n < 0 || n >= PATH_MAX)
        return wr_fail(err, WEIR_EINVAL, "'%s': is too long", mountpoint);
    return 0;
}

/* The last one for a path is what is seen there. */
int wr_mountpoint_device(const char *mountpoint, dev_t *ret)
{
    FILE *f = fopen("/proc/self/mountinfo", "re");
    struct wr_procfs_mount m;
    unsigned int major, minor;
    char *line = NULL;
    size_t cap = 0;
    int r = f ? -ENOENT : -errno;

    while (f && getline(&line, &cap, f) > 0) {
        if (!wr_procfs_mount(line, &m) || strcmp(m.point, mountpoint) != 0)
            continue;
        r = -ENOENT;
        if (!strcmp(m.type, FS_TYPE) &&
            sscanf(m.dev, "%u:%u", &major, &minor) == 2) {
            *ret = makedev(major, minor);
            r = 0;
        }
    }
    free(line);
    if (f)
        fclose(f);
    return r;
}

static int run_fusermount(const char *mountpoint, bool lazy)
{
    char *argv[] = {
        (char[]){"fusermount3"}, (char[]){"-q"},
        (char[]){"-u"},          lazy ? (char[]){"-z"} : (char[]){"--"},
        strdup(mountpoint),      NULL};
    pid_t pid;
    int e = argv[4] ? posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ)
                    : ENOMEM;

    free(argv[4]);
    if (e)
        return -e;
    return wr_child_reap(pid) == 0 ? 0 : -EBUSY;
}

int wr_mountpoint_unmount(const char *mountpoint, bool lazy)
{
    int flags = UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0);

    if (umount2(mountpoint, flags) == 0)
        return 0;
    return errno == EPERM ? run_fusermount(mountpoint, lazy) : -errno;
}
