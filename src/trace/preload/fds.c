/* fds.c - which file each descriptor is, in two levels and without locks.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/tap.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEAF   1024
#define LEAVES 1024

static struct wr_tap_fd first_leaf[LEAF];
static struct wr_tap_fd *leaves[LEAVES] = {first_leaf};

/* A leaf is mapped when it is first needed; of two threads one keeps theirs. */
static struct wr_tap_fd *make_leaf(unsigned k)
{
    size_t len = LEAF * sizeof(struct wr_tap_fd);
    struct wr_tap_fd *seen = NULL;
    long r = wr_raw(SYS_mmap, 0, (long)len, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (r < 0 && r > -4096)
        return NULL;
    if (__atomic_compare_exchange_n(&leaves[k], &seen, (void *)r, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return (void *)r;
    WR_RAW2(SYS_munmap, r, len);
    return seen;
}

struct wr_tap_fd *wr_tap_fd_at(int fd)
{
    unsigned k = (unsigned)fd / LEAF;
    struct wr_tap_fd *leaf;

    if (WR_TAP_UNLIKELY(k >= LEAVES))
        return NULL;
    leaf = __atomic_load_n(&leaves[k], __ATOMIC_ACQUIRE);
    if (WR_TAP_UNLIKELY(!leaf))
        leaf = make_leaf(k);
    return leaf ? &leaf[(unsigned)fd % LEAF] : NULL;
}

static void put_number(char *to, unsigned n)
{
    char digits[10];
    int k = 0;

    do {
        digits[k++] = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    while (k)
        *to++ = digits[--k];
    *to = '\0';
}

static void note_name(uint32_t handle, const char *path)
{
    struct wr_tap_note n = {.start = wr_tap_clock(),
                            .handle = handle,
                            .op = WR_TAP_NAME,
                            .path = path};

    wr_tap_put_lasting(&n, 0);
}

static void settle(struct wr_tap_fd *e, uint32_t handle, uint32_t flags,
                   uint64_t pos)
{
    e->pos = pos;
    e->flags = flags;
    __atomic_store_n(&e->handle, handle, __ATOMIC_RELEASE);
}

/* Opened before the program began, by another process, or by a call that is not
 * seen: the kernel knows its name. */
static void resolve(int fd, struct wr_tap_fd *e)
{
    char path[32] = "/proc/self/fd/", name[WR_TAP_PATH + 1];
    long n, at, mode = WR_RAW2(SYS_fcntl, fd, F_GETFL);
    uint32_t handle, flags = WR_FD_KNOWN | WR_FD_SHARED;

    if (mode < 0)
        return; /* not open: the call has failed */
    put_number(path + 14, (unsigned)fd);
    n = WR_RAW4(SYS_readlinkat, AT_FDCWD, path, name, sizeof(name) - 1);
    if (n <= 0) {
        memcpy(name, "fd:", 3);
        put_number(name + 3, (unsigned)fd);
    } else {
        name[n] = '\0';
    }
    at = WR_RAW3(SYS_lseek, fd, 0, SEEK_CUR);
    flags |= at < 0 ? WR_FD_STREAM : 0;
    flags |= mode & O_DIRECT ? WR_FD_DIRECT : 0;
    handle = wr_tap_new_handle();
    note_name(handle, name);
    settle(e, handle, flags, at < 0 ? 0 : (uint64_t)at);
}

struct wr_tap_fd *wr_tap_fd_of(int fd)
{
    struct wr_tap_fd *e = fd < 0 ? NULL : wr_tap_fd_at(fd);

    if (e && WR_TAP_UNLIKELY(!__atomic_load_n(&e->handle, __ATOMIC_ACQUIRE)))
        resolve(fd, e);
    return e && e->handle ? e : NULL;
}

uint32_t wr_tap_fd_handle(int fd)
{
    struct wr_tap_fd *e = wr_tap_fd_of(fd);

    return e ? e->handle : 0;
}

void wr_tap_fd_set(int fd, uint32_t handle, int open_flags)
{
    struct wr_tap_fd *e = wr_tap_fd_at(fd);
    uint32_t flags = WR_FD_KNOWN;

    if (!e)
        return;
    flags |= open_flags & O_DIRECT ? WR_FD_DIRECT : 0;
    flags |= open_flags & O_APPEND ? WR_FD_SHARED : 0;
    settle(e, handle, flags, 0);
}

void wr_tap_fd_clear(int fd)
{
    struct wr_tap_fd *e = fd < 0 ? NULL : wr_tap_fd_at(fd);

    if (e)
        __atomic_store_n(&e->handle, 0, __ATOMIC_RELEASE);
}

void wr_tap_fd_clear_range(unsigned first, unsigned last)
{
    for (unsigned k = first / LEAF; k < LEAVES && k <= last / LEAF; k++) {
        struct wr_tap_fd *leaf = __atomic_load_n(&leaves[k], __ATOMIC_ACQUIRE);

        for (unsigned i = 0; leaf && i < LEAF; i++)
            if (k * LEAF + i >= first && k * LEAF + i <= last)
                __atomic_store_n(&leaf[i].handle, 0, __ATOMIC_RELEASE);
    }
}

/* Both have one offset in the kernel from now on. */
void wr_tap_fd_copy(int from, int to)
{
    struct wr_tap_fd *a = wr_tap_fd_of(from), *b = wr_tap_fd_at(to);

    if (!b)
        return;
    if (!a) {
        wr_tap_fd_clear(to);
        return;
    }
    a->flags |= WR_FD_SHARED;
    settle(b, a->handle, a->flags, a->pos);
}
