/* file_object.c - one open local file.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file has two descriptors: a plain one, and one that goes past the page
 * cache where the file system has that. The kernel keeps the two in step as
 * long as what overlaps is not in flight together: a direct read or write
 * first writes back the cached pages of its range, and a direct write drops
 * them. Direct writes cover whole blocks of WR_DIRECT_ALIGN, so a plain write
 * beside one shares no block with it. */
#include "storage/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/error.h"
#include "base/regular.h"

#define NOT_ASKED (-2)

static struct file_object *to_object(struct wr_object *o)
{
    return (struct file_object *)o;
}

/* The same file once more: -1 when its name is another's by now. */
static int open_direct(const struct file_object *fo)
{
    int fd = wr_file_open(fo->fs, fo->path, fo->access | O_DIRECT);
    struct stat a, b;

    if (fd < 0)
        return -1;
    if (TEMP_FAILURE_RETRY(fstat(fo->fd, &a)) < 0 ||
        TEMP_FAILURE_RETRY(fstat(fd, &b)) < 0 || a.st_dev != b.st_dev ||
        a.st_ino != b.st_ino) {
        wr_fd_close(fd);
        return -1;
    }
    return fd;
}

int wr_file_direct_fd(struct file_object *fo)
{
    int seen = fo->direct_fd, fd;

    if (seen != NOT_ASKED)
        return seen;
    fd = open_direct(fo);
    if (atomic_compare_exchange_strong(&fo->direct_fd, &seen, fd))
        return fd;
    if (fd >= 0)
        wr_fd_close(fd);
    return seen;
}

static int64_t object_read(struct wr_object *o, void *buf, size_t len,
                           uint64_t offset, weir_err *err)
{
    struct file_object *fo = to_object(o);
    ssize_t n = TEMP_FAILURE_RETRY(pread(fo->fd, buf, len, (off_t)offset));

    if (n < 0)
        return wr_fail_errno(err, errno, "'%s': cannot read", fo->path);
    return n;
}

static int object_write(struct wr_object *o, const void *buf, size_t len,
                        uint64_t offset, weir_err *err)
{
    struct file_object *fo = to_object(o);
    int r = wr_pwrite_all(fo->fd, buf, len, (off_t)offset);

    return r < 0 ? wr_fail_errno(err, -r, "'%s': cannot write", fo->path) : 0;
}

static int object_sync(struct wr_object *o, weir_err *err)
{
    struct file_object *fo = to_object(o);

    /* fdatasync covers the size and the extents, all that a reader needs; what
     * it leaves out are the times. */
    if (TEMP_FAILURE_RETRY(fdatasync(fo->fd)) < 0)
        return wr_fail_errno(err, errno, "'%s': cannot sync", fo->path);
    return 0;
}

static int object_lock(struct wr_object *o, weir_err *err)
{
    struct file_object *fo = to_object(o);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    /* Of the open file, not of the process: another open of it here is another
     * owner, and closing that gives nothing up. The kernel does not say whose
     * such a lock is. */
    if (TEMP_FAILURE_RETRY(fcntl(fo->fd, F_OFD_SETLK, &whole)) == 0)
        return 0;
    if (errno == EACCES || errno == EAGAIN)
        return wr_fail(err, WEIR_EBUSY, "'%s': locked by another process",
                       fo->path);
    return wr_fail_errno(err, errno, "'%s': cannot lock", fo->path);
}

static int object_locked(struct wr_object *o, weir_err *err)
{
    struct file_object *fo = to_object(o);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    if (TEMP_FAILURE_RETRY(fcntl(fo->fd, F_OFD_GETLK, &whole)) < 0)
        return wr_fail_errno(err, errno, "'%s': cannot ask for locks",
                             fo->path);
    return whole.l_type == F_UNLCK
               ? 0
               : wr_fail(err, WEIR_EBUSY, "'%s': locked by another process",
                         fo->path);
}

/* 0, or -1 and errno. */
static int grow(int fd, off_t old, off_t size)
{
    int r = TEMP_FAILURE_RETRY(fallocate(fd, 0, old, size - old)), e;

    if (r < 0 && errno == EOPNOTSUPP)
        return (int)TEMP_FAILURE_RETRY(ftruncate(fd, size));
    if (r < 0) { /* a part of it may be there */
        e = errno;
        if (TEMP_FAILURE_RETRY(ftruncate(fd, old)) == 0)
            errno = e;
    }
    return r;
}

static int object_resize(struct wr_object *o, uint64_t size, weir_err *err)
{
    struct file_object *fo = to_object(o);
    struct stat sb;
    int r;

    if (size > INT64_MAX)
        return wr_fail_errno(err, EFBIG, "'%s': cannot resize", fo->path);
    r = (int)TEMP_FAILURE_RETRY(fstat(fo->fd, &sb));
    if (r == 0 && (off_t)size > sb.st_size)
        r = grow(fo->fd, sb.st_size, (off_t)size);
    else if (r == 0 && (off_t)size < sb.st_size)
        r = (int)TEMP_FAILURE_RETRY(ftruncate(fo->fd, (off_t)size));
    if (r < 0)
        return wr_fail_errno(err, errno, "'%s': cannot resize", fo->path);
    return 0;
}

static int object_close(struct wr_object *o, bool sync, weir_err *err)
{
    struct file_object *fo = to_object(o);
    int r = 0;

    if (sync && TEMP_FAILURE_RETRY(fsync(fo->fd)) < 0)
        r = wr_fail_errno(err, errno, "'%s': cannot sync", fo->path);
    /* The lock goes with fd, so that goes last. */
    if (fo->direct_fd >= 0 && wr_fd_close(fo->direct_fd) < 0 && r == 0)
        r = wr_fail_errno(err, errno, "'%s': cannot close", fo->path);
    if (wr_fd_close(fo->fd) < 0 && r == 0)
        r = wr_fail_errno(err, errno, "'%s': cannot close", fo->path);
    free(fo->path);
    free(fo);
    return r;
}

static const struct wr_object_ops file_object_ops = {
    .read = object_read,
    .write = object_write,
    .sync = object_sync,
    .lock = object_lock,
    .locked = object_locked,
    .resize = object_resize,
    .close = object_close,
};

static int fail_open(const struct file_store *fs, const char *path,
                     const char *verb, int e, weir_err *err)
{
    if (!fs->own && e == ENXIO)
        return wr_regular_fail(fs->dir_fd, path, path, e, err);
    if (e == EMLINK)
        return wr_fail(err, WEIR_EACCES,
                       "'%s': cannot %s: the file has other names (hard links)",
                       path, verb);
    if (e == ENXIO)
        return wr_fail(err, WEIR_EACCES, "'%s': cannot %s: not a regular file",
                       path, verb);
    return wr_fail_errno(err, e, "'%s': cannot %s", path, verb);
}

/* The mode that a lock file has in the folder where it is. */
static mode_t lock_mode(const struct file_store *fs, const char *path)
{
    struct wr_file_at at;
    struct stat sb;
    mode_t mode = 0600;

    if (wr_file_at_open(fs, path, &at) < 0)
        return mode;
    if (TEMP_FAILURE_RETRY(fstat(at.fd, &sb)) == 0 && sb.st_mode & S_ISGID)
        mode = 0660;
    wr_file_at_close(&at);
    return mode;
}

/* One of an earlier version may have been readable by everybody. A file system
 * without modes does not keep them, which is no reason to save nothing. */
static int open_lock(const struct file_store *fs, const char *path)
{
    struct file_store private = *fs;
    struct stat sb;
    int fd;

    private.file_mode = lock_mode(fs, path);
    fd = wr_file_open(&private, path, O_RDWR | O_CREAT);
    if (fd >= 0 && TEMP_FAILURE_RETRY(fstat(fd, &sb)) == 0 &&
        sb.st_uid == geteuid() && (sb.st_mode & 0777) != private.file_mode)
        (void)TEMP_FAILURE_RETRY(fchmod(fd, private.file_mode));
    return fd;
}

int wr_file_object_open(struct wr_store *st, const char *path,
                        enum wr_open_mode mode, struct wr_object **ret,
                        weir_err *err)
{
    int access = mode == WR_OPEN_READ ? O_RDONLY : O_RDWR;
    int create = mode == WR_OPEN_CREATE ? O_CREAT | O_EXCL : 0;
    struct file_object *fo = calloc(1, sizeof(*fo));
    int e;

    if (!fo)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    fo->object.ops = &file_object_ops;
    fo->direct_fd = NOT_ASKED;
    fo->fs = (struct file_store *)st;
    fo->access = access;
    fo->path = strdup(path);
    fo->fd = mode == WR_OPEN_LOCK ? open_lock(fo->fs, path)
                                  : wr_file_open(fo->fs, path, access | create);
    if (!fo->path || fo->fd < 0) {
        e = fo->fd < 0 ? errno : ENOMEM;
        if (fo->fd >= 0)
            wr_fd_close(fo->fd);
        free(fo->path);
        free(fo);
        return fail_open((struct file_store *)st, path,
                         create ? "create" : "open", e, err);
    }
    *ret = &fo->object;
    return 0;
}
