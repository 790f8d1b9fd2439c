/* file_rename.c - giving a local file or folder another name.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Some file systems (NFS) cannot rename without replacing. There a file gets
 * its second name by a hard link, which replaces nothing, and then loses the
 * first. A folder needs no such way: rename puts it in the place of an empty
 * folder at most, which is refused here when it is seen. */
#include "storage/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

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
