/* special.c - wrappers that do more than to note a call.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/tap.h"

#include <errno.h>
#include <linux/close_range.h>
#include <string.h>

/* --- descriptors that come and go --- */

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
        wr_tap_fd_copy(fd, r);
    e = command == F_SETFL ? wr_tap_fd_at(fd) : NULL;
    if (e)
        e->flags = (e->flags & ~(uint32_t)WR_FD_DIRECT) |
                   ((long)arg & O_DIRECT ? WR_FD_DIRECT : 0);
    return r;
}

WR_TAP_ALIAS(open64, open);
WR_TAP_ALIAS(openat64, openat);
WR_TAP_ALIAS(fcntl64, fcntl);

WR_TAP_EXPORT void sync(void)
{
    struct wr_tap_note n = {.start = wr_tap_begin(),
                            .off = WR_TAP_UNKNOWN,
                            .op = WR_TRACE_SYNC_ALL};

    WR_REAL(sync)();
    if (n.start)
        wr_tap_put(&n);
}

/* --- files mapped into memory --- */

#define MAPPED 1024

/* Where files are mapped: memory that is not of a file is unmapped far more
 * often, and that is no news. */
struct wr_tap_mapped {
    void *at; /* NULL: free */
    uint32_t handle;
};

static struct wr_tap_mapped mapped[MAPPED];

static struct wr_tap_mapped *slot_of(const void *at)
{
    uint64_t h = ((uintptr_t)at >> 12) * UINT64_C(0x9e3779b97f4a7c15);

    return &mapped[h >> 54];
}

static void remember(void *at, uint32_t handle)
{
    struct wr_tap_mapped *m = slot_of(at);

    m->handle = handle;
    __atomic_store_n(&m->at, at, __ATOMIC_RELEASE);
}

/* The handle of the file that is mapped there; 0: none. */
static uint32_t mapped_at(const void *at)
{
    struct wr_tap_mapped *m = slot_of(at);

    return __atomic_load_n(&m->at, __ATOMIC_ACQUIRE) == at ? m->handle : 0;
}

/* The address goes in front: faults are named by it. */
static void note_address(const void *at)
{
    struct wr_tap_note n = {.off = (uint64_t)(uintptr_t)at,
                            .op = WR_TAP_ADDRESS};

    wr_tap_put_lasting(&n, 0);
}

WR_TAP_EXPORT void *mmap(void *at, size_t len, int prot, int flags, int fd,
                         off_t off)
{
    uint64_t start;
    void *r;

    if (fd < 0 || flags & MAP_ANONYMOUS) /* before anything else: allocators */
        return WR_REAL(mmap)(at, len, prot, flags, fd, off);
    start = wr_tap_begin();
    r = WR_REAL(mmap)(at, len, prot, flags, fd, off);
    if (!start)
        return r;
    if (r != MAP_FAILED) {
        remember(r, wr_tap_fd_handle(fd));
        note_address(r);
    }
    wr_tap_on_range(WR_TRACE_MMAP, fd, start, r == MAP_FAILED ? -1 : 0,
                    (const uint64_t[2]){(uint64_t)off, len});
    return r;
}

WR_TAP_ALIAS(mmap64, mmap);

static void on_memory(unsigned op, const void *at, size_t len, int r,
                      uint64_t start)
{
    struct wr_tap_note n = {.start = start,
                            .off = WR_TAP_UNKNOWN,
                            .len = len,
                            .op = (uint8_t)op,
                            .handle = mapped_at(at)};

    if (!n.handle)
        return;
    n.error = (uint8_t)wr_tap_errno(r);
    n.flags = n.error ? WR_TRACE_FAILED : 0;
    if (op != WR_TRACE_MSYNC)
        note_address(at);
    wr_tap_put(&n);
}

WR_TAP_EXPORT int munmap(void *at, size_t len)
{
    uint64_t start = mapped_at(at) ? wr_tap_begin() : 0;
    int r = WR_REAL(munmap)(at, len);

    if (start) {
        on_memory(WR_TRACE_MUNMAP, at, len, r, start);
        __atomic_store_n(&slot_of(at)->at, NULL, __ATOMIC_RELEASE);
    }
    return r;
}

WR_TAP_EXPORT void *mremap(void *at, size_t len, size_t new_len, int flags, ...)
{
    uint32_t handle = mapped_at(at);
    va_list ap;
    void *to, *r;

    va_start(ap, flags);
    to = va_arg(ap, void *);
    va_end(ap);
    r = WR_REAL(mremap)(at, len, new_len, flags, to);
    if (handle && r != MAP_FAILED) {
        __atomic_store_n(&slot_of(at)->at, NULL, __ATOMIC_RELEASE);
        remember(r, handle);
    }
    return r;
}

WR_TAP_EXPORT int msync(void *at, size_t len, int flags)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(msync)(at, len, flags);

    if (start)
        on_memory(WR_TRACE_MSYNC, at, len, r, start);
    return r;
}

WR_TAP_EXPORT int madvise(void *at, size_t len, int advice)
{
    uint64_t start = mapped_at(at) ? wr_tap_begin() : 0;
    int r = WR_REAL(madvise)(at, len, advice);

    if (start)
        on_memory(WR_TRACE_ADVISE, at, len, r, start);
    return r;
}

/* The real one is a madvise that returns the error. */
WR_TAP_EXPORT int posix_madvise(void *at, size_t len, int advice)
{
    int kept = errno, r = 0;

    if (advice != POSIX_MADV_DONTNEED) /* it does nothing there */
        r = madvise(at, len, advice) < 0 ? errno : 0;
    errno = kept;
    return r;
}

/* --- folders: one note for a whole one --- */

#define OPEN_DIRS 64

/* Entries are counted per folder: a note for each would say nothing. A folder
 * that finds no place here is noted without its number of entries. */
struct wr_tap_dir {
    DIR *dir; /* NULL: free */
    uint64_t start, spent, entries;
};

static struct wr_tap_dir dirs[OPEN_DIRS];

static struct wr_tap_dir *find(DIR *dir)
{
    for (unsigned i = 0; i < OPEN_DIRS; i++)
        if (__atomic_load_n(&dirs[i].dir, __ATOMIC_ACQUIRE) == dir)
            return &dirs[i];
    return NULL;
}

static void begin_dir(DIR *dir)
{
    for (unsigned i = 0; i < OPEN_DIRS; i++) {
        DIR *none = NULL;

        if (__atomic_compare_exchange_n(&dirs[i].dir, &none, dir, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            dirs[i].start = dirs[i].spent = dirs[i].entries = 0;
            return;
        }
    }
}

WR_TAP_EXPORT DIR *opendir(const char *path)
{
    uint64_t start = wr_tap_begin();
    DIR *dir = WR_REAL(opendir)(path);
    struct wr_tap_note n = {.start = start, .op = WR_TRACE_OPENDIR};

    if (!start)
        return dir;
    n.error = (uint8_t)wr_tap_errno(dir ? 0 : -1);
    n.flags = n.error ? WR_TRACE_FAILED : 0;
    n.path = wr_tap_name(path, n.error);
    if (dir) {
        n.handle = wr_tap_new_handle();
        wr_tap_fd_set(dirfd(dir), n.handle, 0);
        begin_dir(dir);
    }
    wr_tap_put(&n);
    return dir;
}

WR_TAP_EXPORT DIR *fdopendir(int fd)
{
    uint64_t start = wr_tap_begin();
    DIR *dir = WR_REAL(fdopendir)(fd);

    if (start && dir) {
        wr_tap_on_fd(WR_TRACE_OPENDIR, fd, start, 0);
        begin_dir(dir);
    }
    return dir;
}

/* "." and ".." are no entries that a program could read. */
static bool is_entry(const struct dirent *e)
{
    const char *n = e ? e->d_name : ".";

    return !(n[0] == '.' && (!n[1] || (n[1] == '.' && !n[2])));
}

WR_TAP_EXPORT struct dirent *readdir(DIR *dir)
{
    uint64_t start = wr_tap_begin();
    struct dirent *e = WR_REAL(readdir)(dir);
    struct wr_tap_dir *d = start ? find(dir) : NULL;

    if (d) {
        if (!d->start)
            d->start = start;
        d->spent += wr_tap_clock() - start;
        d->entries += is_entry(e);
    }
    return e;
}

WR_TAP_EXPORT int closedir(DIR *dir)
{
    uint64_t start = wr_tap_begin();
    struct wr_tap_dir *d = start && dir ? find(dir) : NULL;
    struct wr_tap_note n = {.off = WR_TAP_UNKNOWN, .op = WR_TRACE_READDIR};
    int fd = start && dir ? dirfd(dir) : -1;

    if (start && dir)
        n.handle = wr_tap_fd_handle(fd);
    if (d) {
        n.start = d->start ? d->start : start;
        n.len = d->entries;
        wr_tap_put_lasting(&n, d->spent);
        __atomic_store_n(&d->dir, NULL, __ATOMIC_RELEASE);
    }
    wr_tap_fd_clear(fd);
    return WR_REAL(closedir)(dir);
}

WR_TAP_ALIAS(readdir64, readdir);
