/* residency.c - how much of one open file is in the page cache.
 * SPDX-License-Identifier: Apache-2.0 */
#include "monitor/residency.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

/* The number is the same on every architecture but alpha. */
#ifndef __NR_cachestat
#define __NR_cachestat 451
#endif

#define MINCORE_PAGES 16384 /* asked about at once: 64 MiB of 4 KiB pages */

/* As the kernel's ABI has them; older headers do not. */
struct cachestat_range {
    uint64_t off, len;
};
struct cachestat_counts {
    uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

static int by_cachestat(int fd, uint64_t page, struct wr_residency *r)
{
    struct cachestat_range all = {0, 0}; /* length 0: to the end */
    struct cachestat_counts c = {0};

    if (syscall(__NR_cachestat, fd, &all, &c, 0))
        return -errno;
    r->resident_bytes = WR_MIN(c.cached * page, r->bytes);
    r->dirty_bytes = WR_MIN((c.dirty + c.writeback) * page, r->bytes);
    r->means = WR_RESIDENCY_CACHESTAT;
    return 0;
}

static bool may_ask_mincore(int fd, const struct stat *st)
{
    char self[32];

    if (geteuid() == 0 || st->st_uid == geteuid())
        return true;
    snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
    return access(self, W_OK) == 0;
}

/* Resident pages of `len` bytes at `off` (page-aligned); negative errno. */
static int64_t mincore_range(int fd, uint64_t off, size_t len, uint64_t page)
{
    unsigned char map[MINCORE_PAGES];
    size_t pages = (len + page - 1) / page;
    int64_t resident = 0;
    void *p = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, (off_t)off);
    int e;

    if (p == MAP_FAILED)
        return -errno;
    e = mincore(p, len, map) ? errno : 0;
    munmap(p, len);
    if (e)
        return -e;
    for (size_t i = 0; i < pages; i++)
        resident += map[i] & 1;
    return resident;
}

static int by_mincore(int fd, uint64_t page, struct wr_residency *r)
{
    uint64_t step = MINCORE_PAGES * page, pages = 0;

    for (uint64_t off = 0; off < r->bytes; off += step) {
        size_t len = (size_t)WR_MIN(step, r->bytes - off);
        int64_t n = mincore_range(fd, off, len, page);

        if (n < 0)
            return (int)n;
        pages += (uint64_t)n;
    }
    r->resident_bytes = WR_MIN(pages * page, r->bytes);
    r->dirty_bytes = 0;
    r->means = WR_RESIDENCY_MINCORE;
    return 0;
}

/* cachestat looks at the file that was opened. On a stacked file system
 * (overlayfs) the pages belong to the file below, and cachestat finds none;
 * mincore looks through a mapping, which leads there. So "none" counts only
 * when mincore agrees. */
static int ask(int fd, uint64_t page, bool may_mincore, struct wr_residency *r)
{
    struct wr_residency other = *r;
    int e = by_cachestat(fd, page, r);

    if (e || r->resident_bytes || !r->bytes || !may_mincore)
        return e;
    if (by_mincore(fd, page, &other) == 0 && other.resident_bytes)
        *r = other;
    return 0;
}

int wr_residency_of(int fd, bool mincore_only, struct wr_residency *ret,
                    weir_err *err)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct wr_residency r = {0};
    struct stat st;
    bool may_mincore;
    int e;

    if (fstat(fd, &st))
        return wr_fail_errno(err, errno, "cannot stat");
    if (!S_ISREG(st.st_mode))
        return wr_fail(err, WEIR_EINVAL, "not a regular file");
    r.bytes = (uint64_t)st.st_size;
    may_mincore = may_ask_mincore(fd, &st);
    e = mincore_only ? -ENOSYS : ask(fd, page, may_mincore, &r);
    if (e && may_mincore)
        e = by_mincore(fd, page, &r);
    else if (e)
        r.means = WR_RESIDENCY_UNKNOWN;
    if (e && r.means != WR_RESIDENCY_UNKNOWN)
        return wr_fail_errno(err, -e, "cannot ask for residency");
    *ret = r;
    return 0;
}
