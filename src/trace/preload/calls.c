/* calls.c - wrappers that make a call and note it, by the table calls.def.
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

static void on_path(unsigned op, int dirfd, const char *path, uint64_t start,
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

static void on_two_at(unsigned op, const int dirs[2],
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

/* --- what the notes of the table say; each sees the call's arguments --- */

#define HERE WR_TAP_UNKNOWN /* the descriptor's position */
#define MOVED(op, off)                                                         \
    wr_tap_moved(WR_TRACE_##op, fd, start, r, (uint64_t)(off))
#define COPIED(off_in, off_out)                                                \
    copied((const int[2]){in, out}, (const off_t *const[2]){off_in, off_out},  \
           start, r)
#define OPENED(dir, flags) wr_tap_opened(r, dir, path, flags, start)
#define ON_FD(op)          wr_tap_on_fd(WR_TRACE_##op, fd, start, r)
#define ON_PATH(op, dir)   on_path(WR_TRACE_##op, dir, path, start, r)
#define ON_TWO(op, dir1, dir2)                                                 \
    on_two_at(WR_TRACE_##op, (const int[2]){dir1, dir2},                       \
              (const char *const[2]){from, to}, start, r)
#define RANGE        ((const uint64_t[2]){(uint64_t)off, (uint64_t)len})
#define ON_RANGE(op) wr_tap_on_range(WR_TRACE_##op, fd, start, r, RANGE)
#define STREAM(op, f, n, failed)                                               \
    wr_tap_stream_moved(WR_TRACE_##op, f, start, (long)(n), failed)
#define BEGIN_IF(condition) ((condition) ? wr_tap_begin() : 0)

/* A call moves *off behind what it copied. */
static uint64_t begun_at(const off_t *off, long r)
{
    return off && r > 0 ? (uint64_t)(*off - r) : WR_TAP_UNKNOWN;
}

/* One note for each of the two. */
static void copied(const int fds[2], const off_t *const off[2], uint64_t start,
                   long r)
{
    wr_tap_moved(WR_TRACE_COPY_IN, fds[0], start, r, begun_at(off[0], r));
    if (r >= 0)
        wr_tap_moved(WR_TRACE_COPY_OUT, fds[1], start, r, begun_at(off[1], r));
}

static void sought(int fd, uint64_t start, off_t r)
{
    struct wr_tap_fd *e = wr_tap_fd_of(fd);

    if (e && r >= 0)
        __atomic_store_n(&e->pos, (uint64_t)r, __ATOMIC_RELAXED);
    wr_tap_on_range(
        WR_TRACE_SEEK, fd, start, r,
        (const uint64_t[2]){r < 0 ? WR_TAP_UNKNOWN : (uint64_t)r, 0});
}

static void clear_pair(int r, const int fds[2])
{
    if (r == 0) {
        wr_tap_fd_clear(fds[0]);
        wr_tap_fd_clear(fds[1]);
    }
}

static void duplicated(int from, int to)
{
    if (to >= 0 && to != from)
        wr_tap_fd_copy(from, to);
}

/* `failed`: the number of an error, which errno does not have. */
static void on_posix_range(unsigned op, int fd, uint64_t start, int failed,
                           const uint64_t range[2])
{
    int kept = errno;

    errno = failed ? failed : kept;
    wr_tap_on_range(op, fd, start, failed ? -1 : 0, range);
    errno = kept;
}

/* The working directory, which relative names begin at. */
static void moved_to(uint64_t start, int r)
{
    char cwd[WR_TAP_PATH + 1];
    struct wr_tap_note n = {.start = start, .op = WR_TAP_CHDIR, .path = cwd};

    if (r == 0 && WR_RAW2(SYS_getcwd, cwd, sizeof(cwd)) > 0)
        wr_tap_put_lasting(&n, 0);
}

/* --- the wrappers --- */

#define CALL_FROM(begun, type, name, parameters, arguments, note)              \
    WR_TAP_EXPORT type name parameters                                         \
    {                                                                          \
        uint64_t start = begun;                                                \
        type r = WR_REAL(name) arguments;                                      \
                                                                               \
        if (start)                                                             \
            note;                                                              \
        return r;                                                              \
    }
#define CALL(type, name, parameters, arguments, note)                          \
    CALL_FROM(wr_tap_begin(), type, name, parameters, arguments, note)
#define ALIAS(name, of) WR_TAP_ALIAS(name, of);
#include "trace/preload/calls.def"
