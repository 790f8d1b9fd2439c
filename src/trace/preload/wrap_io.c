/* wrap_io.c - wrappers: bytes that are read and written.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/tap.h"

WR_TAP_EXPORT ssize_t read(int fd, void *buf, size_t n)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(read)(fd, buf, n);

    if (start)
        wr_tap_moved(WR_TRACE_READ, fd, start, r, WR_TAP_UNKNOWN);
    return r;
}

WR_TAP_EXPORT ssize_t pread(int fd, void *buf, size_t n, off_t off)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(pread)(fd, buf, n, off);

    if (start)
        wr_tap_moved(WR_TRACE_READ, fd, start, r, (uint64_t)off);
    return r;
}

WR_TAP_EXPORT ssize_t __read_chk(int fd, void *buf, size_t n, size_t room)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(__read_chk)(fd, buf, n, room);

    if (start)
        wr_tap_moved(WR_TRACE_READ, fd, start, r, WR_TAP_UNKNOWN);
    return r;
}

WR_TAP_EXPORT ssize_t __pread_chk(int fd, void *buf, size_t n, off_t off,
                                  size_t room)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(__pread_chk)(fd, buf, n, off, room);

    if (start)
        wr_tap_moved(WR_TRACE_READ, fd, start, r, (uint64_t)off);
    return r;
}

WR_TAP_EXPORT ssize_t readv(int fd, const struct iovec *v, int n)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(readv)(fd, v, n);

    if (start)
        wr_tap_moved(WR_TRACE_READ, fd, start, r, WR_TAP_UNKNOWN);
    return r;
}

WR_TAP_EXPORT ssize_t preadv(int fd, const struct iovec *v, int n, off_t off)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(preadv)(fd, v, n, off);

    if (start)
        wr_tap_moved(WR_TRACE_READ, fd, start, r, (uint64_t)off);
    return r;
}

/* An offset of -1 means the descriptor's position, as WR_TAP_UNKNOWN does. */
WR_TAP_EXPORT ssize_t preadv2(int fd, const struct iovec *v, int n, off_t off,
                              int flags)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(preadv2)(fd, v, n, off, flags);

    if (start)
        wr_tap_moved(WR_TRACE_READ, fd, start, r, (uint64_t)off);
    return r;
}

WR_TAP_EXPORT ssize_t write(int fd, const void *buf, size_t n)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(write)(fd, buf, n);

    if (start)
        wr_tap_moved(WR_TRACE_WRITE, fd, start, r, WR_TAP_UNKNOWN);
    return r;
}

WR_TAP_EXPORT ssize_t pwrite(int fd, const void *buf, size_t n, off_t off)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(pwrite)(fd, buf, n, off);

    if (start)
        wr_tap_moved(WR_TRACE_WRITE, fd, start, r, (uint64_t)off);
    return r;
}

WR_TAP_EXPORT ssize_t writev(int fd, const struct iovec *v, int n)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(writev)(fd, v, n);

    if (start)
        wr_tap_moved(WR_TRACE_WRITE, fd, start, r, WR_TAP_UNKNOWN);
    return r;
}

WR_TAP_EXPORT ssize_t pwritev(int fd, const struct iovec *v, int n, off_t off)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(pwritev)(fd, v, n, off);

    if (start)
        wr_tap_moved(WR_TRACE_WRITE, fd, start, r, (uint64_t)off);
    return r;
}

WR_TAP_EXPORT ssize_t pwritev2(int fd, const struct iovec *v, int n, off_t off,
                               int flags)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(pwritev2)(fd, v, n, off, flags);

    if (start)
        wr_tap_moved(WR_TRACE_WRITE, fd, start, r, (uint64_t)off);
    return r;
}

ssize_t pread64(int fd, void *buf, size_t n, off_t off) WR_TAP_ALIAS(pread);
ssize_t __pread64_chk(int fd, void *buf, size_t n, off_t off, size_t room)
    WR_TAP_ALIAS(__pread_chk);
ssize_t preadv64(int fd, const struct iovec *v, int n, off_t off)
    WR_TAP_ALIAS(preadv);
ssize_t preadv64v2(int fd, const struct iovec *v, int n, off_t off, int flags)
    WR_TAP_ALIAS(preadv2);
ssize_t pwrite64(int fd, const void *buf, size_t n, off_t off)
    WR_TAP_ALIAS(pwrite);
ssize_t pwritev64(int fd, const struct iovec *v, int n, off_t off)
    WR_TAP_ALIAS(pwritev);
ssize_t pwritev64v2(int fd, const struct iovec *v, int n, off_t off, int flags)
    WR_TAP_ALIAS(pwritev2);

WR_TAP_EXPORT off_t lseek(int fd, off_t off, int whence)
{
    uint64_t start = wr_tap_begin();
    off_t r = WR_REAL(lseek)(fd, off, whence);
    struct wr_tap_fd *e;

    if (!start)
        return r;
    e = wr_tap_fd_of(fd);
    if (e && r >= 0)
        __atomic_store_n(&e->pos, (uint64_t)r, __ATOMIC_RELAXED);
    wr_tap_on_range(
        WR_TRACE_SEEK, fd, start, r,
        (const uint64_t[2]){r < 0 ? WR_TAP_UNKNOWN : (uint64_t)r, 0});
    return r;
}

off_t lseek64(int fd, off_t off, int whence) WR_TAP_ALIAS(lseek);

/* --- from one descriptor to another: one note for each --- */

/* A call moves *off behind what it copied. */
static uint64_t begun_at(const off_t *off, long r)
{
    return off && r > 0 ? (uint64_t)(*off - r) : WR_TAP_UNKNOWN;
}

static void copied(const int fds[2], const off_t *const off[2], uint64_t start,
                   long r)
{
    wr_tap_moved(WR_TRACE_COPY_IN, fds[0], start, r, begun_at(off[0], r));
    if (r >= 0)
        wr_tap_moved(WR_TRACE_COPY_OUT, fds[1], start, r, begun_at(off[1], r));
}

WR_TAP_EXPORT ssize_t sendfile(int out, int in, off_t *off, size_t n)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(sendfile)(out, in, off, n);

    if (start)
        copied((const int[2]){in, out}, (const off_t *const[2]){off, NULL},
               start, r);
    return r;
}

WR_TAP_EXPORT ssize_t copy_file_range(int in, off64_t *off_in, int out,
                                      off64_t *off_out, size_t n,
                                      unsigned flags)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(copy_file_range)(in, off_in, out, off_out, n, flags);

    if (start)
        copied((const int[2]){in, out},
               (const off_t *const[2]){off_in, off_out}, start, r);
    return r;
}

WR_TAP_EXPORT ssize_t splice(int in, off64_t *off_in, int out, off64_t *off_out,
                             size_t n, unsigned flags)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(splice)(in, off_in, out, off_out, n, flags);

    if (start)
        copied((const int[2]){in, out},
               (const off_t *const[2]){off_in, off_out}, start, r);
    return r;
}

WR_TAP_EXPORT ssize_t tee(int in, int out, size_t n, unsigned flags)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(tee)(in, out, n, flags);

    if (start)
        copied((const int[2]){in, out}, (const off_t *const[2]){NULL, NULL},
               start, r);
    return r;
}

ssize_t sendfile64(int out, int in, off_t *off, size_t n)
    WR_TAP_ALIAS(sendfile);
