/* note.c - the common ends of wrappers: what happened, as a note.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/tap.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int wr_tap_errno(long r)
{
    return r >= 0 ? 0 : errno > 0 && errno < 255 ? errno : 255;
}

/* A call that fails may do so before it looks at the name. Here the kernel reads
 * it and stops: there is no folder -1. */
const char *wr_tap_name(const char *path, int error)
{
    bool is_read = !error || error == ENOENT;

    if (!path || error == EFAULT ||
        (!is_read && WR_RAW3(SYS_symlinkat, path, -1, "-") == -EFAULT))
        return "";
    return path;
}

/* A descriptor that others share: the kernel knows where it stands. */
static uint64_t asked_position(int fd, struct wr_tap_fd *e, long moved)
{
    long at = WR_RAW3(SYS_lseek, fd, 0, SEEK_CUR);

    if (at < moved) {
        e->flags |= at < 0 ? WR_FD_STREAM : 0;
        return WR_TAP_UNKNOWN;
    }
    e->pos = (uint64_t)at;
    return (uint64_t)(at - moved);
}

/* The offset of a transfer at the descriptor's position, which it has moved. */
static uint64_t position(int fd, struct wr_tap_fd *e, long moved)
{
    uint64_t at;

    if (e->flags & WR_FD_STREAM)
        return WR_TAP_UNKNOWN;
    if (WR_TAP_UNLIKELY(e->flags & WR_FD_SHARED ||
                        e->handle <= wr_tap.first_handle))
        return asked_position(fd, e, moved);
    at = __atomic_load_n(&e->pos, __ATOMIC_RELAXED);
    __atomic_store_n(&e->pos, at + (uint64_t)moved, __ATOMIC_RELAXED);
    return at;
}

void wr_tap_moved(unsigned op, int fd, uint64_t start, long r, uint64_t off)
{
    struct wr_tap_note n = {.start = start, .off = off, .op = (uint8_t)op};
    uint64_t duration = wr_tap_clock() - start;
    struct wr_tap_fd *e = wr_tap_fd_of(fd);

    n.error = (uint8_t)wr_tap_errno(r);
    n.flags = n.error ? WR_TRACE_FAILED : 0;
    n.len = r > 0 ? (uint64_t)r : 0;
    if (e) {
        n.handle = e->handle;
        n.flags |= e->flags & WR_FD_DIRECT ? WR_TRACE_DIRECT : 0;
        if (off == WR_TAP_UNKNOWN)
            n.off = position(fd, e, r > 0 ? r : 0);
    }
    wr_tap_put_lasting(&n, duration);
}

void wr_tap_on_range(unsigned op, int fd, uint64_t start, long r,
                     const uint64_t range[2])
{
    struct wr_tap_note n = {
        .start = start, .off = range[0], .len = range[1], .op = (uint8_t)op};
    uint64_t duration = wr_tap_clock() - start;

    n.error = (uint8_t)wr_tap_errno(r);
    n.flags = n.error ? WR_TRACE_FAILED : 0;
    n.handle = wr_tap_fd_handle(fd);
    wr_tap_put_lasting(&n, duration);
}

void wr_tap_on_fd(unsigned op, int fd, uint64_t start, long r)
{
    wr_tap_on_range(op, fd, start, r, (const uint64_t[2]){WR_TAP_UNKNOWN, 0});
}

static uint32_t folder_of(int dirfd, const char *path)
{
    if (dirfd == AT_FDCWD || *path == '/')
        return 0;
    return wr_tap_fd_handle(dirfd);
}

/* Over the budget the name is written once, and the note has its handle. */
static void settle_name(struct wr_tap_note *n)
{
    bool is_new;

    if (!wr_tap_self.counting || !n->path)
        return;
    n->handle = wr_tap_intern(n->path, n->dir, &is_new);
    if (n->handle && is_new) {
        struct wr_tap_note name = *n;

        name.op = WR_TAP_NAME;
        wr_tap_put_lasting(&name, 0);
    }
    n->path = NULL;
    n->off = WR_TAP_UNKNOWN;
}

void wr_tap_on_path(unsigned op, int dirfd, const char *path, uint64_t start,
                    long r)
{
    struct wr_tap_note n = {.start = start, .op = (uint8_t)op};
    uint64_t duration = wr_tap_clock() - start;

    n.error = (uint8_t)wr_tap_errno(r);
    n.flags = n.error ? WR_TRACE_FAILED : 0;
    n.path = wr_tap_name(path, n.error);
    if (n.path == path && !*path) { /* AT_EMPTY_PATH: the descriptor itself */
        wr_tap_on_fd(op, dirfd, start, r);
        return;
    }
    n.dir = folder_of(dirfd, n.path);
    settle_name(&n);
    wr_tap_put_lasting(&n, duration);
}

static uint8_t open_bits(int flags)
{
    return (uint8_t)((flags & O_CREAT ? WR_TRACE_CREATE : 0) |
                     (flags & O_TRUNC ? WR_TRACE_TRUNC : 0) |
                     (flags & O_DIRECT ? WR_TRACE_DIRECT : 0) |
                     ((flags & O_ACCMODE) != O_RDONLY ? WR_TRACE_WRITES : 0));
}

void wr_tap_opened(int fd, int dirfd, const char *path, int open_flags,
                   uint64_t start)
{
    struct wr_tap_note n = {.start = start, .op = WR_TRACE_OPEN};
    uint64_t duration = wr_tap_clock() - start;

    n.error = (uint8_t)wr_tap_errno(fd);
    n.flags = (uint8_t)(open_bits(open_flags) |
                        (n.error ? WR_TRACE_FAILED : 0));
    n.path = wr_tap_name(path, n.error);
    n.dir = folder_of(dirfd, n.path);
    settle_name(&n);
    if (fd >= 0) {
        if (!n.handle)
            n.handle = wr_tap_new_handle();
        wr_tap_fd_set(fd, n.handle, open_flags);
    }
    wr_tap_put_lasting(&n, duration);
}

void wr_tap_on_two_at(unsigned op, const int dirs[2],
                      const char *const names[2], uint64_t start, long r)
{
    uint64_t duration = wr_tap_clock() - start;
    struct wr_tap_note from = {
        .start = start, .op = WR_TAP_NAME, .handle = wr_tap_new_handle()};
    struct wr_tap_note to = {.start = start, .op = (uint8_t)op};

    if (r < 0 && errno == EFAULT)
        return;
    to.error = (uint8_t)wr_tap_errno(r);
    to.flags = to.error ? WR_TRACE_FAILED : 0;
    from.path = wr_tap_name(names[0], to.error);
    from.dir = folder_of(dirs[0], from.path);
    wr_tap_put_lasting(&from, 0);
    to.path = wr_tap_name(names[1], to.error);
    to.dir = folder_of(dirs[1], to.path);
    to.len = from.handle; /* the new name is the record's own */
    wr_tap_put_lasting(&to, duration);
}

void wr_tap_on_two(unsigned op, const char *from, const char *to,
                   uint64_t start, long r)
{
    wr_tap_on_two_at(op, (const int[2]){AT_FDCWD, AT_FDCWD},
                     (const char *const[2]){from, to}, start, r);
}
