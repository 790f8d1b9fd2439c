/* wrap_map.c - wrappers: files mapped into memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/tap.h"

#include <errno.h>

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

void *mmap64(void *at, size_t len, int prot, int flags, int fd, off_t off)
    WR_TAP_ALIAS(mmap);

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
