/* real.c - finds the functions that wrappers stand in front of.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/real.h"

#include <dlfcn.h>
#include <errno.h>

struct wr_tap_real wr_real;

static const char *const names[] = {
#define REAL(name) #name,
#include "trace/preload/calls.def"
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

/* X(name, system call, arguments of it): a to f are those of the call, with
 * anything in place of what it does not have, and in the upper half of an int:
 * the kernel looks there in those of mmap alone. */
#define EARLY_CALLS(X)                                                         \
    X(open, SYS_openat, AT_FDCWD, a, b, c, 0, 0)                               \
    X(openat, SYS_openat, a, b, c, d, 0, 0)                                    \
    X(read, SYS_read, a, b, c, 0, 0, 0)                                        \
    X(write, SYS_write, a, b, c, 0, 0, 0)                                      \
    X(pread, SYS_pread64, a, b, c, d, 0, 0)                                    \
    X(close, SYS_close, a, 0, 0, 0, 0, 0)                                      \
    X(lseek, SYS_lseek, a, b, c, 0, 0, 0)                                      \
    X(mmap, SYS_mmap, a, b, (int)c, (int)d, (int)e, f)                         \
    X(munmap, SYS_munmap, a, b, 0, 0, 0, 0)                                    \
    X(madvise, SYS_madvise, a, b, c, 0, 0, 0)                                  \
    X(readlink, SYS_readlinkat, AT_FDCWD, a, b, c, 0, 0)                       \
    X(access, SYS_faccessat, AT_FDCWD, a, b, 0, 0, 0)                          \
    X(fcntl, SYS_fcntl, a, b, c, 0, 0, 0)

#define EARLY_CALL(name, ...)                                                  \
    static long early_##name(long a, long b, long c, long d, long e, long f)   \
    {                                                                          \
        (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;                  \
        return answer(wr_raw(__VA_ARGS__));                                    \
    }
EARLY_CALLS(EARLY_CALL)

static long missing(void)
{
    errno = ENOSYS;
    return -1;
}

/* No table of them: it would need a relocation, and another library that is
 * being relocated may call. */
static void *early_of(enum wr_real_index which)
{
    void *found = NULL;

    switch ((int)which) {
#define EARLY_CASE(name, ...)                                                  \
    case WR_REAL_AT_##name:                                                    \
        found = (void *)early_##name;                                          \
        break;
        EARLY_CALLS(EARLY_CASE)
    default:
        break;
    }
    return found;
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
