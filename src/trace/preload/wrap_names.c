/* wrap_names.c - wrappers: attributes, names and folders.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/tap.h"

#include <errno.h>

/* A call on a path that returns 0 or -1: X(name, op, dirfd, path, parameters,
 * arguments). */
#define PATH_CALLS(X)                                                          \
    X(stat, STAT, AT_FDCWD, path, (const char *path, struct stat *st),         \
      (path, st))                                                              \
    X(lstat, STAT, AT_FDCWD, path, (const char *path, struct stat *st),        \
      (path, st))                                                              \
    X(fstatat, STAT, dir, path,                                                \
      (int dir, const char *path, struct stat *st, int flags),                 \
      (dir, path, st, flags))                                                  \
    X(statx, STAT, dir, path,                                                  \
      (int dir, const char *path, int flags, unsigned mask, struct statx *st), \
      (dir, path, flags, mask, st))                                            \
    X(__xstat, STAT, AT_FDCWD, path,                                           \
      (int version, const char *path, struct stat *st), (version, path, st))   \
    X(__lxstat, STAT, AT_FDCWD, path,                                          \
      (int version, const char *path, struct stat *st), (version, path, st))   \
    X(__fxstatat, STAT, dir, path,                                             \
      (int version, int dir, const char *path, struct stat *st, int flags),    \
      (version, dir, path, st, flags))                                         \
    X(statfs, STAT, AT_FDCWD, path, (const char *path, struct statfs *st),     \
      (path, st))                                                              \
    X(statvfs, STAT, AT_FDCWD, path, (const char *path, struct statvfs *st),   \
      (path, st))                                                              \
    X(access, ACCESS, AT_FDCWD, path, (const char *path, int mode),            \
      (path, mode))                                                            \
    X(euidaccess, ACCESS, AT_FDCWD, path, (const char *path, int mode),        \
      (path, mode))                                                            \
    X(faccessat, ACCESS, dir, path,                                            \
      (int dir, const char *path, int mode, int flags),                        \
      (dir, path, mode, flags))                                                \
    X(truncate, TRUNCATE, AT_FDCWD, path, (const char *path, off_t len),       \
      (path, len))                                                             \
    X(unlink, UNLINK, AT_FDCWD, path, (const char *path), (path))              \
    X(remove, UNLINK, AT_FDCWD, path, (const char *path), (path))              \
    X(mkdir, MKDIR, AT_FDCWD, path, (const char *path, mode_t mode),           \
      (path, mode))                                                            \
    X(mkdirat, MKDIR, dir, path, (int dir, const char *path, mode_t mode),     \
      (dir, path, mode))                                                       \
    X(rmdir, RMDIR, AT_FDCWD, path, (const char *path), (path))

#define PATH_CALL(name, op, dirfd, path, parameters, arguments)                \
    WR_TAP_EXPORT int name parameters                                          \
    {                                                                          \
        uint64_t start = wr_tap_begin();                                       \
        int r = WR_REAL(name) arguments;                                       \
                                                                               \
        if (start)                                                             \
            wr_tap_on_path(WR_TRACE_##op, dirfd, path, start, r);              \
        return r;                                                              \
    }
PATH_CALLS(PATH_CALL)

int stat64(const char *path, struct stat64 *st)
    __attribute__((visibility("default"), alias("stat")));
int lstat64(const char *path, struct stat64 *st) WR_TAP_ALIAS(lstat);
int fstatat64(int dir, const char *path, struct stat64 *st, int flags)
    WR_TAP_ALIAS(fstatat);
int __xstat64(int version, const char *path, struct stat64 *st)
    WR_TAP_ALIAS(__xstat);
int __lxstat64(int version, const char *path, struct stat64 *st)
    WR_TAP_ALIAS(__lxstat);
int __fxstatat64(int version, int dir, const char *path, struct stat64 *st,
                 int flags) WR_TAP_ALIAS(__fxstatat);
int statfs64(const char *path, struct statfs64 *st) WR_TAP_ALIAS(statfs);
int statvfs64(const char *path, struct statvfs64 *st) WR_TAP_ALIAS(statvfs);
int eaccess(const char *path, int mode) WR_TAP_ALIAS(euidaccess);
int truncate64(const char *path, off_t len) WR_TAP_ALIAS(truncate);

/* A call on a descriptor: X(name, op, fd, parameters, arguments). */
#define FD_CALLS(X)                                                            \
    X(fstat, STAT, (int fd, struct stat *st), (fd, st))                        \
    X(__fxstat, STAT, (int version, int fd, struct stat *st),                  \
      (version, fd, st))                                                       \
    X(fstatfs, STAT, (int fd, struct statfs *st), (fd, st))                    \
    X(fstatvfs, STAT, (int fd, struct statvfs *st), (fd, st))                  \
    X(ftruncate, TRUNCATE, (int fd, off_t len), (fd, len))                     \
    X(fsync, SYNC, (int fd), (fd))                                             \
    X(fdatasync, DATASYNC, (int fd), (fd))                                     \
    X(syncfs, SYNC_ALL, (int fd), (fd))

#define FD_CALL(name, op, parameters, arguments)                               \
    WR_TAP_EXPORT int name parameters                                          \
    {                                                                          \
        uint64_t start = wr_tap_begin();                                       \
        int r = WR_REAL(name) arguments;                                       \
                                                                               \
        if (start)                                                             \
            wr_tap_on_fd(WR_TRACE_##op, fd, start, r);                         \
        return r;                                                              \
    }
FD_CALLS(FD_CALL)

int fstat64(int fd, struct stat64 *st) WR_TAP_ALIAS(fstat);
int __fxstat64(int version, int fd, struct stat64 *st) WR_TAP_ALIAS(__fxstat);
int fstatfs64(int fd, struct statfs64 *st) WR_TAP_ALIAS(fstatfs);
int fstatvfs64(int fd, struct statvfs64 *st) WR_TAP_ALIAS(fstatvfs);
int ftruncate64(int fd, off_t len) WR_TAP_ALIAS(ftruncate);

/* A call on a range of a descriptor; the first group returns -1 and errno, the
 * second an error number. */
#define RANGE_CALLS(X)                                                         \
    X(sync_file_range, SYNC_ALL, -1,                                           \
      (int fd, off64_t off, off64_t len, unsigned flags),                      \
      (fd, off, len, flags))                                                   \
    X(fallocate, ALLOCATE, -1, (int fd, int mode, off_t off, off_t len),       \
      (fd, mode, off, len))                                                    \
    X(posix_fallocate, ALLOCATE, 1, (int fd, off_t off, off_t len),            \
      (fd, off, len))                                                          \
    X(posix_fadvise, ADVISE, 1, (int fd, off_t off, off_t len, int advice),    \
      (fd, off, len, advice))

#define RANGE_CALL(name, op, sign, parameters, arguments)                      \
    WR_TAP_EXPORT int name parameters                                          \
    {                                                                          \
        uint64_t start = wr_tap_begin();                                       \
        int r = WR_REAL(name) arguments;                                       \
                                                                               \
        if (start)                                                             \
            on_range(WR_TRACE_##op, fd, start, (sign) * (r),                   \
                     (const uint64_t[2]){(uint64_t)off, (uint64_t)len});       \
        return r;                                                              \
    }

/* failed > 0: the number of an error. */
static void on_range(unsigned op, int fd, uint64_t start, int failed,
                     const uint64_t range[2])
{
    int kept = errno;

    if (failed > 1)
        errno = failed;
    wr_tap_on_range(op, fd, start, failed > 0 ? -1 : 0, range);
    errno = kept;
}
RANGE_CALLS(RANGE_CALL)

int fallocate64(int fd, int mode, off_t off, off_t len) WR_TAP_ALIAS(fallocate);
int posix_fallocate64(int fd, off_t off, off_t len)
    WR_TAP_ALIAS(posix_fallocate);
int posix_fadvise64(int fd, off_t off, off_t len, int advice)
    WR_TAP_ALIAS(posix_fadvise);

WR_TAP_EXPORT ssize_t readahead(int fd, off64_t off, size_t len)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(readahead)(fd, off, len);

    if (start)
        wr_tap_on_range(WR_TRACE_ADVISE, fd, start, r,
                        (const uint64_t[2]){(uint64_t)off, len});
    return r;
}

WR_TAP_EXPORT void sync(void)
{
    struct wr_tap_note n = {.start = wr_tap_begin(),
                            .off = WR_TAP_UNKNOWN,
                            .op = WR_TRACE_SYNC_ALL};

    WR_REAL(sync)();
    if (n.start)
        wr_tap_put(&n);
}

/* --- links --- */

WR_TAP_EXPORT ssize_t readlink(const char *path, char *buf, size_t len)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(readlink)(path, buf, len);

    if (start)
        wr_tap_on_path(WR_TRACE_STAT, AT_FDCWD, path, start, r);
    return r;
}

WR_TAP_EXPORT ssize_t readlinkat(int dir, const char *path, char *buf,
                                 size_t len)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(readlinkat)(dir, path, buf, len);

    if (start)
        wr_tap_on_path(WR_TRACE_STAT, dir, path, start, r);
    return r;
}

WR_TAP_EXPORT char *realpath(const char *path, char *resolved)
{
    uint64_t start = wr_tap_begin();
    char *r = WR_REAL(realpath)(path, resolved);

    if (start)
        wr_tap_on_path(WR_TRACE_STAT, AT_FDCWD, path, start, r ? 0 : -1);
    return r;
}

WR_TAP_EXPORT char *__realpath_chk(const char *path, char *resolved,
                                   size_t room)
{
    uint64_t start = wr_tap_begin();
    char *r = WR_REAL(__realpath_chk)(path, resolved, room);

    if (start)
        wr_tap_on_path(WR_TRACE_STAT, AT_FDCWD, path, start, r ? 0 : -1);
    return r;
}

WR_TAP_EXPORT int unlinkat(int dir, const char *path, int flags)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(unlinkat)(dir, path, flags);

    if (start)
        wr_tap_on_path(flags & AT_REMOVEDIR ? WR_TRACE_RMDIR : WR_TRACE_UNLINK,
                       dir, path, start, r);
    return r;
}

WR_TAP_EXPORT int rename(const char *from, const char *to)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(rename)(from, to);

    if (start)
        wr_tap_on_two(WR_TRACE_RENAME, from, to, start, r);
    return r;
}

WR_TAP_EXPORT int link(const char *from, const char *to)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(link)(from, to);

    if (start)
        wr_tap_on_two(WR_TRACE_LINK, from, to, start, r);
    return r;
}

WR_TAP_EXPORT int symlink(const char *from, const char *to)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(symlink)(from, to);

    if (start)
        wr_tap_on_two(WR_TRACE_LINK, from, to, start, r);
    return r;
}

WR_TAP_EXPORT int renameat(int dir1, const char *from, int dir2, const char *to)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(renameat)(dir1, from, dir2, to);

    if (start)
        wr_tap_on_two_at(WR_TRACE_RENAME, (const int[2]){dir1, dir2},
                         (const char *const[2]){from, to}, start, r);
    return r;
}

WR_TAP_EXPORT int renameat2(int dir1, const char *from, int dir2,
                            const char *to, unsigned flags)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(renameat2)(dir1, from, dir2, to, flags);

    if (start)
        wr_tap_on_two_at(WR_TRACE_RENAME, (const int[2]){dir1, dir2},
                         (const char *const[2]){from, to}, start, r);
    return r;
}

WR_TAP_EXPORT int linkat(int dir1, const char *from, int dir2, const char *to,
                         int flags)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(linkat)(dir1, from, dir2, to, flags);

    if (start)
        wr_tap_on_two_at(WR_TRACE_LINK, (const int[2]){dir1, dir2},
                         (const char *const[2]){from, to}, start, r);
    return r;
}

WR_TAP_EXPORT int symlinkat(const char *from, int dir, const char *to)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(symlinkat)(from, dir, to);

    if (start)
        wr_tap_on_two_at(WR_TRACE_LINK, (const int[2]){AT_FDCWD, dir},
                         (const char *const[2]){from, to}, start, r);
    return r;
}

/* --- the working directory, which relative names begin at --- */

static void moved_to(uint64_t start)
{
    char cwd[WR_TAP_PATH + 1];
    struct wr_tap_note n = {.start = start, .op = WR_TAP_CHDIR, .path = cwd};

    if (WR_RAW2(SYS_getcwd, cwd, sizeof(cwd)) > 0)
        wr_tap_put_lasting(&n, 0);
}

WR_TAP_EXPORT int chdir(const char *path)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(chdir)(path);

    if (start && r == 0)
        moved_to(start);
    return r;
}

WR_TAP_EXPORT int fchdir(int fd)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(fchdir)(fd);

    if (start && r == 0)
        moved_to(start);
    return r;
}
