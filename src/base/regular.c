/* regular.c - opening regular files, and nothing that could keep us waiting.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* --- reads and writes of all the bytes --- */

/* `offset` is NULL: from where the descriptor stands. */
static ssize_t read_from(int fd, void *buf, size_t len, const off_t *offset)
{
    size_t done = 0;

    while (done < len) {
        char *at = (char *)buf + done;
        ssize_t n = offset ? pread(fd, at, len - done, *offset + (off_t)done)
                           : read(fd, at, len - done);

        if (n < 0 && errno != EINTR)
            return -errno;
        if (n == 0)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)done;
}

ssize_t wr_read_all(int fd, void *buf, size_t len)
{
    return read_from(fd, buf, len, NULL);
}

ssize_t wr_pread_all(int fd, void *buf, size_t len, off_t offset)
{
    return read_from(fd, buf, len, &offset);
}

int wr_pwrite_all(int fd, const void *buf, size_t len, off_t offset)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = pwrite(fd, (const char *)buf + done, len - done,
                           offset + (off_t)done);

        if (n == 0)
            return -EIO; /* no reason given, and it would go on so */
        if (n < 0 && errno != EINTR)
            return -errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* --- opening --- */

const char *wr_regular_other(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return NULL;
    case S_IFDIR:
        return "a folder";
    case S_IFIFO:
        return "a pipe";
    case S_IFSOCK:
        return "a socket";
    case S_IFLNK:
        return "a link";
    default:
        return "a device";
    }
}

int wr_regular_check(int fd, int flags)
{
    struct stat sb;

    if (TEMP_FAILURE_RETRY(fstat(fd, &sb)) < 0)
        return -1;
    if (!S_ISREG(sb.st_mode)) {
        errno = S_ISDIR(sb.st_mode) ? EISDIR : ENXIO;
        return -1;
    }
    /* io_uring takes O_NONBLOCK seriously even on files. */
    return fcntl(fd, F_SETFL, flags & (O_DIRECT | O_APPEND));
}

int wr_regular_open(int dir_fd, const char *path, int flags, mode_t mode)
{
    int fd = (int)TEMP_FAILURE_RETRY(
        openat(dir_fd, path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode));

    int e;

    if (fd < 0 || wr_regular_check(fd, flags) == 0)
        return fd;
    e = errno;
    close(fd); /* see wr_fd_retry */
    errno = e;
    return -1;
}

int wr_regular_fail(int dir_fd, const char *path, const char *name, int e,
                    weir_err *err)
{
    const char *other = NULL;
    struct stat sb;

    if ((e == ENXIO || e == EISDIR) &&
        TEMP_FAILURE_RETRY(fstatat(dir_fd, path, &sb, 0)) == 0)
        other = wr_regular_other(sb.st_mode);
    if (!other)
        return wr_fail_errno(err, e, "'%s': cannot open", name);
    return wr_fail(err, WEIR_EINVAL,
                   "'%s': cannot open: it is %s, not a regular file", name,
                   other);
}
