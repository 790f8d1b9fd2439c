/* wrap_dirs.c - wrappers: folders, one note for a whole one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/tap.h"

#include <errno.h>

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

struct dirent64 *readdir64(DIR *dir) WR_TAP_ALIAS(readdir);

WR_TAP_EXPORT ssize_t getdents64(int fd, void *buf, size_t n)
{
    uint64_t start = wr_tap_begin();
    ssize_t r = WR_REAL(getdents64)(fd, buf, n);

    if (start)
        wr_tap_on_fd(WR_TRACE_READDIR, fd, start, r);
    return r;
}

/* Their inner calls are libc's own: one note for all of them. */
WR_TAP_EXPORT int scandir(const char *path, struct dirent ***list,
                          int (*filter)(const struct dirent *),
                          int (*compare)(const struct dirent **,
                                         const struct dirent **))
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(scandir)(path, list, filter, compare);

    if (start)
        wr_tap_on_path(WR_TRACE_READDIR, AT_FDCWD, path, start, r);
    return r;
}

WR_TAP_EXPORT int nftw(const char *path, __nftw_func_t fn, int fds, int flags)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(nftw)(path, fn, fds, flags);

    if (start)
        wr_tap_on_path(WR_TRACE_READDIR, AT_FDCWD, path, start, r < 0 ? r : 0);
    return r;
}

WR_TAP_EXPORT int glob(const char *pattern, int flags,
                       int (*on_error)(const char *, int), glob_t *found)
{
    uint64_t start = wr_tap_begin();
    int r = WR_REAL(glob)(pattern, flags, on_error, found);

    if (start)
        wr_tap_on_path(WR_TRACE_READDIR, AT_FDCWD, pattern, start,
                       r < 0 ? r : 0);
    return r;
}

int scandir64(const char *path, struct dirent64 ***list,
              int (*filter)(const struct dirent64 *),
              int (*compare)(const struct dirent64 **,
                             const struct dirent64 **)) WR_TAP_ALIAS(scandir);
int nftw64(const char *path, __nftw64_func_t fn, int fds, int flags)
    WR_TAP_ALIAS(nftw);
int glob64(const char *pattern, int flags, int (*on_error)(const char *, int),
           glob64_t *found) WR_TAP_ALIAS(glob);
