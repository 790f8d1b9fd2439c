/* file_path.c - names below the root of a store, and how they are followed.
 * SPDX-License-Identifier: Apache-2.0
 *
 * In an own store no symbolic link is followed, and openat2 sees to that in one
 * step that nobody gets between. Where the kernel has it not, the path is
 * walked folder by folder. Calls that work on a name (mkdir, rename, ...) get
 * its folder that way; the name itself they never follow. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/regular.h"
#include "storage/file.h"

/* --- giving a local file or folder another name ---
 *
 * Some file systems (NFS) cannot rename without replacing. There a file gets
 * its second name by a hard link, which replaces nothing, and then loses the
 * first. A folder needs no such way: rename puts it in the place of an empty
 * folder at most, which is refused here when it is seen. */

static int look(const struct wr_file_at *at, struct stat *ret)
{
    return (int)TEMP_FAILURE_RETRY(
        fstatat(at->fd, at->name, ret, AT_SYMLINK_NOFOLLOW));
}

static bool is_at(const struct stat *what, const struct wr_file_at *at)
{
    struct stat sb;

    return look(at, &sb) == 0 && sb.st_dev == what->st_dev &&
           sb.st_ino == what->st_ino;
}

/* A server that lost its memory between doing and telling is asked again, and
 * then has an error for what it did. */
static bool has_moved(const struct stat *what, const struct wr_file_at *from,
                      const struct wr_file_at *to)
{
    struct stat sb;

    return is_at(what, to) && look(from, &sb) < 0 && errno == ENOENT;
}

static int move_folder(const struct wr_file_at *from,
                       const struct wr_file_at *to)
{
    struct stat sb;

    if (look(to, &sb) == 0) {
        errno = EEXIST;
        return -1;
    }
    if (TEMP_FAILURE_RETRY(renameat(from->fd, from->name, to->fd, to->name)) ==
        0)
        return 0;
    if (errno == ENOTEMPTY || errno == ENOTDIR)
        errno = EEXIST;
    return -1;
}

static int move_file(const struct stat *what, const struct wr_file_at *from,
                     const struct wr_file_at *to)
{
    int e;

    /* As in has_moved: only what had one name can be there by this call. */
    if (TEMP_FAILURE_RETRY(linkat(from->fd, from->name, to->fd, to->name, 0)) <
        0) {
        e = errno;
        if (what->st_nlink > 1 || !is_at(what, to)) {
            errno = e;
            return -1;
        }
    }
    if (TEMP_FAILURE_RETRY(unlinkat(from->fd, from->name, 0)) == 0 ||
        errno == ENOENT)
        return 0;
    e = errno;
    unlinkat(to->fd, to->name, 0);
    errno = e;
    return -1;
}

int wr_file_swap(const struct wr_file_at *a, const struct wr_file_at *b)
{
    struct stat what, other;
    int e;

    if (look(a, &what) < 0 || look(b, &other) < 0)
        return -1;
    if (!S_ISDIR(what.st_mode) || !S_ISDIR(other.st_mode)) {
        errno = EOPNOTSUPP; /* of what is no folder the caller knows more */
        return -1;
    }
    if (TEMP_FAILURE_RETRY(
            renameat2(a->fd, a->name, b->fd, b->name, RENAME_EXCHANGE)) == 0)
        return 0;
    e = errno == EINVAL || errno == ENOSYS ? EOPNOTSUPP : errno;
    if (is_at(&what, b) && is_at(&other, a))
        return 0;
    errno = e;
    return -1;
}

int wr_file_rename(const struct wr_file_at *from, const struct wr_file_at *to,
                   bool replace)
{
    struct stat what;
    int r, e;

    if (look(from, &what) < 0)
        return -1;
    /* What a signal interrupted may be done: has_moved tells. */
    r = (int)TEMP_FAILURE_RETRY(renameat2(from->fd, from->name, to->fd,
                                          to->name,
                                          replace ? 0 : RENAME_NOREPLACE));
    if (r < 0 && !replace && (errno == EINVAL || errno == ENOSYS))
        r = S_ISDIR(what.st_mode) ? move_folder(from, to)
                                  : move_file(&what, from, to);
    if (r == 0)
        return 0;
    e = errno;
    if (has_moved(&what, from, to))
        return 0;
    errno = e;
    return -1;
}

/* --- names --- */

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
