/* real.c - finds the functions that wrappers stand in front of.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/real.h"

#include <dlfcn.h>
#include <errno.h>

#include "trace/preload/raw.h"

struct wr_tap_real wr_real;

static const char *const names[] = {
#define NAME(name) #name,
    WR_REAL_MAP(NAME)
#undef NAME
};

static long answer(long r)
{
    if (r < 0 && r > -4096) {
        errno = (int)-r;
        return -1;
    }
    return r;
}

/* --- for calls before the library is set up, when an allocator that is being
 * set up must not be asked for memory: dlsym may --- */

static long early_open(const char *path, int flags, int mode)
{
    return answer(WR_RAW4(SYS_openat, AT_FDCWD, path, flags, mode));
}

static long early_openat(int dirfd, const char *path, int flags, int mode)
{
    return answer(WR_RAW4(SYS_openat, dirfd, path, flags, mode));
}

static long early_read(int fd, void *buf, size_t n)
{
    return answer(WR_RAW3(SYS_read, fd, buf, n));
}

static long early_write(int fd, const void *buf, size_t n)
{
    return answer(WR_RAW3(SYS_write, fd, buf, n));
}

static long early_pread(int fd, void *buf, size_t n, off_t off)
{
    return answer(WR_RAW4(SYS_pread64, fd, buf, n, off));
}

static long early_close(int fd)
{
    return answer(WR_RAW1(SYS_close, fd));
}

static long early_lseek(int fd, off_t off, int whence)
{
    return answer(WR_RAW3(SYS_lseek, fd, off, whence));
}

static long early_mmap(void *at, size_t len, int prot, int flags, int fd,
                       off_t off)
{
    return answer(wr_raw(SYS_mmap, (long)at, (long)len, prot, flags, fd, off));
}

static long early_munmap(void *at, size_t len)
{
    return answer(WR_RAW2(SYS_munmap, at, len));
}

static long early_madvise(void *at, size_t len, int advice)
{
    return answer(WR_RAW3(SYS_madvise, at, len, advice));
}

static long early_readlink(const char *path, char *buf, size_t len)
{
    return answer(WR_RAW4(SYS_readlinkat, AT_FDCWD, path, buf, len));
}

static long early_access(const char *path, int mode)
{
    return answer(WR_RAW3(SYS_faccessat, AT_FDCWD, path, mode));
}

static long early_fcntl(int fd, int cmd, long arg)
{
    return answer(WR_RAW3(SYS_fcntl, fd, cmd, arg));
}

static long missing(void)
{
    errno = ENOSYS;
    return -1;
}

static void *early_of(enum wr_real_index which)
{
    switch ((int)which) {
    case WR_REAL_AT_open:
        return (void *)early_open;
    case WR_REAL_AT_openat:
        return (void *)early_openat;
    case WR_REAL_AT_read:
        return (void *)early_read;
    case WR_REAL_AT_write:
        return (void *)early_write;
    case WR_REAL_AT_pread:
        return (void *)early_pread;
    case WR_REAL_AT_close:
        return (void *)early_close;
    case WR_REAL_AT_lseek:
        return (void *)early_lseek;
    case WR_REAL_AT_mmap:
        return (void *)early_mmap;
    case WR_REAL_AT_munmap:
        return (void *)early_munmap;
    case WR_REAL_AT_madvise:
        return (void *)early_madvise;
    case WR_REAL_AT_readlink:
        return (void *)early_readlink;
    case WR_REAL_AT_access:
        return (void *)early_access;
    case WR_REAL_AT_fcntl:
        return (void *)early_fcntl;
    default:
        return NULL;
    }
}

void *wr_real_late(enum wr_real_index which)
{
    void *found = early_of(which);

    if (!found)
        found = dlsym(RTLD_NEXT, names[which]);
    return found ? found : (void *)missing;
}

void wr_real_resolve(void)
{
    void **fields = (void **)(void *)&wr_real;

    for (int i = 0; i < WR_REALS; i++)
        fields[i] = dlsym(RTLD_NEXT, names[i]);
}
