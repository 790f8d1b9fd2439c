/* wrap_open.c - wrappers: descriptors that come and go.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/tap.h"

#include <errno.h>
#include <linux/close_range.h>
#include <string.h>

static bool has_mode(int flags)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

WR_TAP_EXPORT int open(const char *path, int flags, ...)
{
    uint64_t start = wr_tap_begin();
    mode_t mode = 0;
    va_list ap;
    int fd;

    if (has_mode(flags)) {
        va_start(ap, flags);
        mode = va_arg(ap, mode_t);
        va_end(ap);
    }
    fd = WR_REAL(open)(path, flags, mode);
    if (start)
        wr_tap_opened(fd, AT_FDCWD, path, flags, start);
    return fd;
}

WR_TAP_EXPORT int openat(int dirfd, const char *path, int flags, ...)
{
    uint64_t start = wr_tap_begin();
    mode_t mode = 0;
    va_list ap;
    int fd;

    if (has_mode(flags)) {
        va_start(ap, flags);
        mode = va_arg(ap, mode_t);
        va_end(ap);
    }
    fd = WR_REAL(openat)(dirfd, path, flags, mode);
    if (start)
        wr_tap_opened(fd, dirfd, path, flags, start);
    return fd;
}

WR_TAP_EXPORT int __open_2(const char *path, int flags)
{
    uint64_t start = wr_tap_begin();
    int fd = WR_REAL(__open_2)(path, flags);

    if (start)
        wr_tap_opened(fd, AT_FDCWD, path, flags, start);
    return fd;
}

WR_TAP_EXPORT int __openat_2(int dirfd, const char *path, int flags)
{
    uint64_t start = wr_tap_begin();
    int fd = WR_REAL(__openat_2)(dirfd, path, flags);

    if (start)
        wr_tap_opened(fd, dirfd, path, flags, start);
    return fd;
}

WR_TAP_EXPORT int creat(const char *path, mode_t mode)
{
    uint64_t start = wr_tap_begin();
    int fd = WR_REAL(creat)(path, mode);

    if (start)
        wr_tap_opened(fd, AT_FDCWD, path, O_CREAT | O_TRUNC | O_WRONLY, start);
    return fd;
}

int open64(const char *path, int flags, ...) WR_TAP_ALIAS(open);
int openat64(int dirfd, const char *path, int flags, ...) WR_TAP_ALIAS(openat);
int __open64_2(const char *path, int flags) WR_TAP_ALIAS(__open_2);
int __openat64_2(int dirfd, const char *path, int flags)
    WR_TAP_ALIAS(__openat_2);
int creat64(const char *path, mode_t mode) WR_TAP_ALIAS(creat);

/* --- temporary files: the name is known when they are there --- */

static int opened_temporary(int fd, const char *name, uint64_t start)
{
    if (start)
        wr_tap_opened(fd, AT_FDCWD, name, O_CREAT | O_RDWR, start);
    return fd;
}

WR_TAP_EXPORT int mkstemp(char *name)
{
    uint64_t start = wr_tap_begin();

    return opened_temporary(WR_REAL(mkstemp)(name), name, start);
}

WR_TAP_EXPORT int mkostemp(char *name, int flags)
{
    uint64_t start = wr_tap_begin();

    return opened_temporary(WR_REAL(mkostemp)(name, flags), name, start);
}

WR_TAP_EXPORT int mkstemps(char *name, int suffix)
{
    uint64_t start = wr_tap_begin();

    return opened_temporary(WR_REAL(mkstemps)(name, suffix), name, start);
}

WR_TAP_EXPORT int mkostemps(char *name, int suffix, int flags)
{
    uint64_t start = wr_tap_begin();

    return opened_temporary(WR_REAL(mkostemps)(name, suffix, flags), name,
                            start);
}

int mkstemp64(char *name) WR_TAP_ALIAS(mkstemp);
int mkostemp64(char *name, int flags) WR_TAP_ALIAS(mkostemp);
int mkstemps64(char *name, int suffix) WR_TAP_ALIAS(mkstemps);
int mkostemps64(char *name, int suffix, int flags) WR_TAP_ALIAS(mkostemps);

/* --- what is no file on storage --- */

/* `prefix` and a name, cut where it is too long. */
static void prefixed(char *buf, size_t cap, const char *prefix,
                     const char *name)
{
    size_t at = strlen(prefix), n = strnlen(name, cap - at - 1);

    memcpy(buf, prefix, at);
    memcpy(buf + at, name, n);
    buf[at + n] = '\0';
}

WR_TAP_EXPORT int memfd_create(const char *name, unsigned flags)
{
    uint64_t start = wr_tap_begin();
    int fd = WR_REAL(memfd_create)(name, flags);
    char path[272];

    if (start && fd >= 0) {
        prefixed(path, sizeof(path), "/memfd:", name);
        wr_tap_opened(fd, AT_FDCWD, path, O_RDWR, start);
    }
    return fd;
}

WR_TAP_EXPORT int shm_open(const char *name, int flags, mode_t mode)
{
    uint64_t start = wr_tap_begin();
    int fd = WR_REAL(shm_open)(name, flags, mode);
    char path[272];

    if (start) {
        prefixed(path, sizeof(path), "/dev/shm/", name + (*name == '/'));
        wr_tap_opened(fd, AT_FDCWD, path, flags, start);
    }
    return fd;
}

/* Named by the kernel when it is used. */
WR_TAP_EXPORT int open_by_handle_at(int mount, struct file_handle *handle,
                                    int flags)
{
    int fd = WR_REAL(open_by_handle_at)(mount, handle, flags);

    if (fd >= 0)
        wr_tap_fd_clear(fd);
    return fd;
}

/* Numbers may come back after a close that was not seen. */
static int fresh(int fd)
{
    if (fd >= 0 && !wr_tap_self.in_vfork)
        wr_tap_fd_clear(fd);
    return fd;
}

static int fresh_pair(int r, const int fds[2])
{
    if (r == 0) {
        fresh(fds[0]);
        fresh(fds[1]);
    }
    return r;
}

WR_TAP_EXPORT int pipe(int fds[2])
{
    return fresh_pair(WR_REAL(pipe)(fds), fds);
}

WR_TAP_EXPORT int pipe2(int fds[2], int flags)
{
    return fresh_pair(WR_REAL(pipe2)(fds, flags), fds);
}

WR_TAP_EXPORT int socketpair(int domain, int type, int protocol, int fds[2])
{
    return fresh_pair(WR_REAL(socketpair)(domain, type, protocol, fds), fds);
}

WR_TAP_EXPORT int socket(int domain, int type, int protocol)
{
    return fresh(WR_REAL(socket)(domain, type, protocol));
}

WR_TAP_EXPORT int accept(int fd, struct sockaddr *addr, socklen_t *len)
{
    return fresh(WR_REAL(accept)(fd, addr, len));
}

WR_TAP_EXPORT int accept4(int fd, struct sockaddr *addr, socklen_t *len,
                          int flags)
{
    return fresh(WR_REAL(accept4)(fd, addr, len, flags));
}

/* --- copies and ends --- */

/* Forgotten before the call: another thread may get the number at once. */
WR_TAP_EXPORT int close(int fd)
{
    uint64_t start = wr_tap_begin();
    struct wr_tap_fd *e = start && fd >= 0 ? wr_tap_fd_at(fd) : NULL;
    struct wr_tap_note n = {
        .start = start, .off = WR_TAP_UNKNOWN, .op = WR_TRACE_CLOSE};
    int r;

    if (!e)
        return WR_REAL(close)(fd);
    n.handle = __atomic_exchange_n(&e->handle, 0, __ATOMIC_ACQ_REL);
    r = WR_REAL(close)(fd);
    n.error = (uint8_t)wr_tap_errno(r);
    n.flags = n.error ? WR_TRACE_FAILED : 0;
    if (n.handle) /* others were never used */
        wr_tap_put(&n);
    return r;
}

WR_TAP_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    if (wr_tap_begin() && !(flags & (int)CLOSE_RANGE_CLOEXEC))
        wr_tap_fd_clear_range(first, last);
    return WR_REAL(close_range)(first, last, flags);
}

WR_TAP_EXPORT void closefrom(int first)
{
    if (wr_tap_begin())
        wr_tap_fd_clear_range(first < 0 ? 0 : (unsigned)first, UINT32_MAX);
    WR_REAL(closefrom)(first);
}

static int copied(int from, int to, bool seen)
{
    if (seen && to >= 0)
        wr_tap_fd_copy(from, to);
    return to;
}

WR_TAP_EXPORT int dup(int fd)
{
    bool seen = wr_tap_begin();

    return copied(fd, WR_REAL(dup)(fd), seen);
}

WR_TAP_EXPORT int dup2(int from, int to)
{
    bool seen = wr_tap_begin();
    int r = WR_REAL(dup2)(from, to);

    return from == to ? r : copied(from, r, seen);
}

WR_TAP_EXPORT int dup3(int from, int to, int flags)
{
    bool seen = wr_tap_begin();

    return copied(from, WR_REAL(dup3)(from, to, flags), seen);
}

WR_TAP_EXPORT int fcntl(int fd, int command, ...)
{
    bool seen = wr_tap_begin();
    struct wr_tap_fd *e;
    va_list ap;
    void *arg;
    int r;

    va_start(ap, command);
    arg = va_arg(ap, void *);
    va_end(ap);
    r = WR_REAL(fcntl)(fd, command, arg);
    if (!seen || r < 0)
        return r;
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
        return copied(fd, r, true);
    e = command == F_SETFL ? wr_tap_fd_at(fd) : NULL;
    if (e)
        e->flags = (e->flags & ~(uint32_t)WR_FD_DIRECT) |
                   ((long)arg & O_DIRECT ? WR_FD_DIRECT : 0);
    return r;
}

int fcntl64(int fd, int command, ...) WR_TAP_ALIAS(fcntl);
