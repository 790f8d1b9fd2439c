/* barrier_page.c - the memory in which the ranks of one host wait.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comm/barrier_page.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#define MAGIC UINT64_C(0x7265697272616277)

static size_t head_bytes(uint32_t count)
{
    size_t n = sizeof(struct wr_page) + count * sizeof(struct wr_page_slot);

    return WR_ALIGN_UP(n, (size_t)4096);
}

/* Of the whole mapping. */
static size_t page_bytes(uint32_t count)
{
    return head_bytes(count) + 2 * WR_PAGE_HALF;
}

char *wr_page_half(struct wr_page *p, unsigned which)
{
    return (char *)p + head_bytes(p->count) + (which & 1) * WR_PAGE_HALF;
}

static int map_page(int fd, uint32_t count, struct wr_page **ret, weir_err *err)
{
    void *p = mmap(NULL, page_bytes(count), PROT_READ | PROT_WRITE, MAP_SHARED,
                   fd, 0);

    if (p == MAP_FAILED)
        return wr_fail_errno(err, errno, "cannot map shared memory");
    *ret = p;
    return 0;
}

int wr_page_make(uint32_t count, uint64_t token, struct wr_page **ret,
                 int *ret_fd, weir_err *err)
{
    int fd = memfd_create("weir-barrier", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    struct wr_page *p = NULL;
    int r;

    if (fd < 0)
        return wr_fail_errno(err, errno, "cannot make shared memory");
    /* Sealed: memory that shrinks would kill those who have it mapped. */
    if (ftruncate(fd, (off_t)page_bytes(count)) < 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0)
        r = wr_fail_errno(err, errno, "cannot make shared memory");
    else
        r = map_page(fd, count, &p, err);
    if (r < 0) {
        close(fd);
        return r;
    }
    p->magic = MAGIC;
    p->token = token;
    p->count = count;
    *ret = p;
    *ret_fd = fd;
    return 0;
}

/* Process numbers are used again: what was opened must be such a page, and of
 * this user: root could open anybody's. */
static int check_file(int fd, uint32_t count, weir_err *err)
{
    int seals = fcntl(fd, F_GET_SEALS);
    struct stat sb;

    if (fstat(fd, &sb) < 0)
        return wr_fail_errno(err, errno, "shared memory of another rank");
    if (!S_ISREG(sb.st_mode) || sb.st_uid != geteuid() ||
        (size_t)sb.st_size != page_bytes(count) || seals < 0 ||
        !(seals & F_SEAL_SHRINK))
        return wr_fail(err, WEIR_ESTATE, "not the shared memory of a rank");
    return 0;
}

int wr_page_find(int pid, int fd, uint32_t count, uint64_t token,
                 struct wr_page **ret, weir_err *err)
{
    struct wr_page *p = NULL;
    char path[64];
    int own, r;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
    own = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (own < 0)
        return wr_fail_errno(err, errno, "'%s': shared memory of another rank",
                             path);
    r = check_file(own, count, err);
    if (r == 0)
        r = map_page(own, count, &p, err);
    close(own);
    if (r < 0)
        return r;
    if (p->magic != MAGIC || p->token != token || p->count != count) {
        wr_page_unmap(p, count);
        return wr_fail(err, WEIR_ESTATE, "not the shared memory of a rank");
    }
    *ret = p;
    return 0;
}

void wr_page_unmap(struct wr_page *p, uint32_t count)
{
    if (p)
        munmap(p, page_bytes(count));
}

void wr_page_wait(atomic_uint *word, unsigned value, uint64_t ns)
{
    struct timespec ts = {.tv_sec = (time_t)(ns / WR_NS_PER_SEC),
                          .tv_nsec = (long)(ns % WR_NS_PER_SEC)};

    syscall(SYS_futex, word, FUTEX_WAIT, value, &ts, NULL, 0);
}

void wr_page_wake(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void wr_page_fail(struct wr_page *p, const weir_err *why)
{
    int none = 0;

    if (!atomic_compare_exchange_strong(&p->writing, &none, 1))
        return;
    snprintf(p->why, sizeof(p->why), "%s", why->msg);
    atomic_store(&p->failed, why->code);
    /* Who misses this wakes up by itself a little later. */
    wr_page_wake(&p->round);
    wr_page_wake(&p->come);
}
