/* file_path.c - names below the root of a store, and how they are followed.
 * SPDX-License-Identifier: Apache-2.0
 *
 * In an own store no symbolic link is followed, and openat2 sees to that in one
 * step that nobody gets between. Where the kernel has it not, the path is
 * walked folder by folder. Calls that work on a name (mkdir, rename, ...) get
 * its folder that way; the name itself they never follow. */
#include "storage/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/regular.h"

static bool stays_below(const char *path)
{
    if (*path == '/')
        return false;
    while (*path) {
        size_t n = strcspn(path, "/");

        if (n == 2 && !strncmp(path, "..", 2))
            return false;
        path += n;
        path += strspn(path, "/");
    }
    return true;
}

/* What a try that fails has opened: see wr_fd_retry. */
static void close_keeping_errno(int fd)
{
    int e = errno;

    close(fd);
    errno = e;
}

/* One step of the walk. A link is ELOOP, whatever was asked for. */
static int step_into(int dir, const char *name, int flags, mode_t mode)
{
    int fd = (int)TEMP_FAILURE_RETRY(
        openat(dir, name, flags | O_NOFOLLOW | O_CLOEXEC, mode));
    struct stat sb;

    if (fd < 0 && errno == ENOTDIR) {
        if (TEMP_FAILURE_RETRY(fstatat(dir, name, &sb, AT_SYMLINK_NOFOLLOW)) ==
                0 &&
            S_ISLNK(sb.st_mode))
            errno = ELOOP;
        else
            errno = ENOTDIR;
    }
    return fd;
}

static int walk(int root, const char *path, int flags, mode_t mode)
{
    int dir = root, next;

    for (;;) {
        size_t n = strcspn(path, "/");
        const char *rest = path + n + strspn(path + n, "/");
        char name[NAME_MAX + 1];

        if (n > NAME_MAX) {
            errno = ENAMETOOLONG;
            next = -1;
        } else {
            memcpy(name, path, n);
            name[n] = '\0';
            next = *rest ? step_into(dir, name, O_PATH | O_DIRECTORY, 0)
                         : step_into(dir, name, flags, mode);
        }
        if (dir != root)
            close_keeping_errno(dir);
        if (next < 0 || !*rest)
            return next;
        dir = next;
        path = rest;
    }
}

static int open_resolved(int root, const char *path, int flags, mode_t mode,
                         uint64_t resolve)
{
    struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC),
                           .mode = mode,
                           .resolve = resolve};
    int fd = (int)TEMP_FAILURE_RETRY(
        syscall(SYS_openat2, root, path, &how, sizeof(how)));

    /* Sandboxes say EPERM to calls that they do not know. */
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        return walk(root, path, flags, mode);
    return fd;
}

static int open_below(int root, const char *path, int flags, mode_t mode)
{
    if (stays_below(path))
        return open_resolved(root, path, flags, mode,
                             RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
    errno = EINVAL;
    return -1;
}

/* What others made, without their links. A list may name what lies elsewhere. */
static int open_no_links(const struct file_store *fs, const char *path,
                         int flags)
{
    int fd = open_resolved(fs->dir_fd, path, flags | O_NONBLOCK | O_NOCTTY, 0,
                           RESOLVE_NO_SYMLINKS);

    if (fd >= 0 && wr_regular_check(fd, flags) < 0) {
        close_keeping_errno(fd);
        return -1;
    }
    return fd;
}

/* Whether an own store takes what was opened; it was opened without blocking,
 * for a pipe would wait for its other end. */
static bool is_ours(int fd, int flags)
{
    struct stat sb;

    if (wr_regular_check(fd, flags) < 0)
        return false;
    if ((flags & O_ACCMODE) == O_RDONLY)
        return true;
    if (TEMP_FAILURE_RETRY(fstat(fd, &sb)) < 0)
        return false;
    errno = EMLINK;
    return sb.st_nlink <= 1;
}

static int open_once(const struct file_store *fs, const char *path, int flags)
{
    int fd;

    if (fs->no_links && !(flags & O_CREAT))
        return open_no_links(fs, path, flags);
    if (!fs->own)
        return wr_regular_open(fs->dir_fd, path, flags, fs->file_mode);
    fd = open_below(fs->dir_fd, path, flags | O_NONBLOCK | O_NOCTTY,
                    flags & O_CREAT ? fs->file_mode : 0);
    if (fd >= 0 && !is_ours(fd, flags)) {
        close_keeping_errno(fd);
        return -1;
    }
    return fd;
}

int wr_file_open(const struct file_store *fs, const char *path, int flags)
{
    struct wr_fd_wait wait = {0};
    int fd;

    do
        fd = open_once(fs, path, flags);
    while (fd < 0 && wr_fd_retry(&wait, errno));
    return fd;
}

int wr_file_open_dir(const struct file_store *fs, const char *path)
{
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC, fd;
    struct wr_fd_wait wait = {0};

    if (!*path)
        path = ".";
    do
        fd = fs->own ? open_below(fs->dir_fd, path, flags, 0)
                     : (int)TEMP_FAILURE_RETRY(openat(fs->dir_fd, path, flags));
    while (fd < 0 && wr_fd_retry(&wait, errno));
    return fd;
}

int wr_file_at_open(const struct file_store *fs, const char *path,
                    struct wr_file_at *ret)
{
    const char *slash = fs->own ? strrchr(path, '/') : NULL;
    struct wr_fd_wait wait = {0};
    char dir[PATH_MAX];

    ret->fd = fs->dir_fd;
    ret->name = path;
    ret->opened = false;
    if (fs->own && !stays_below(path)) {
        errno = EINVAL;
        return -1;
    }
    if (!slash)
        return 0;
    if ((size_t)(slash - path) >= sizeof(dir)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(dir, path, (size_t)(slash - path));
    dir[slash - path] = '\0';
    do
        ret->fd = open_below(fs->dir_fd, dir, O_PATH | O_DIRECTORY, 0);
    while (ret->fd < 0 && wr_fd_retry(&wait, errno));
    ret->name = slash + 1;
    ret->opened = true;
    return ret->fd < 0 ? -1 : 0;
}

void wr_file_at_close(struct wr_file_at *at)
{
    int e = errno;

    if (at->opened)
        wr_fd_close(at->fd);
    errno = e;
}
