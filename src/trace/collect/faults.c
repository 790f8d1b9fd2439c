/* faults.c - major page faults of a process tree, by perf events.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/collect/faults.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

#define RING (64 << 10) /* bytes of each core's ring, a power of two */

/* A ring follows one core: only so may children share it. */
struct wr_faults_core {
    int fd;
    struct perf_event_mmap_page *page; /* NULL: none */
};

struct wr_faults {
    unsigned count;
    long page_size;
    struct wr_faults_core cores[];
};

static int open_core(pid_t pid, int core)
{
    struct perf_event_attr a = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(a),
        .config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
        .disabled = 1,
        .inherit = 1,
        .enable_on_exec = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };

    return (int)syscall(SYS_perf_event_open, &a, pid, core, -1,
                        PERF_FLAG_FD_CLOEXEC);
}

static int start_core(struct wr_faults *f, unsigned k, pid_t pid, weir_err *err)
{
    struct wr_faults_core *c = &f->cores[k];
    void *page;

    c->fd = open_core(pid, (int)k);
    if (c->fd < 0)
        return wr_fail_errno(err, errno, "major faults of the command");
    page = mmap(NULL, (size_t)f->page_size + RING, PROT_READ | PROT_WRITE,
                MAP_SHARED, c->fd, 0);
    if (page == MAP_FAILED)
        return wr_fail_errno(err, errno, "major faults of the command");
    c->page = page;
    return 0;
}

int wr_faults_open(struct wr_faults **ret, pid_t pid, weir_err *err)
{
    long cores = sysconf(_SC_NPROCESSORS_CONF);
    struct wr_faults *f;
    int r = 0;

    if (cores < 1)
        cores = 1;
    f = calloc(1, sizeof(*f) + (size_t)cores * sizeof(f->cores[0]));
    if (!f)
        return wr_fail(err, WEIR_ENOMEM, "major faults of the command");
    f->count = (unsigned)cores;
    f->page_size = sysconf(_SC_PAGESIZE);
    for (unsigned k = 0; k < f->count; k++)
        f->cores[k].fd = -1;
    for (unsigned k = 0; k < f->count && r == 0; k++)
        r = start_core(f, k, pid, err);
    if (r < 0) {
        wr_faults_close(f);
        return r;
    }
    *ret = f;
    return 0;
}

void wr_faults_close(struct wr_faults *f)
{
    if (!f)
        return;
    for (unsigned k = 0; k < f->count; k++) {
        if (f->cores[k].page)
            munmap(f->cores[k].page, (size_t)f->page_size + RING);
        if (f->cores[k].fd >= 0)
            close(f->cores[k].fd);
    }
    free(f);
}

/* Bytes of the ring from `at` on, which may begin anew at its start. */
static void copy_out(const char *ring, uint64_t at, void *to, size_t len)
{
    for (size_t i = 0; i < len; i++)
        ((char *)to)[i] = ring[(at + i) & (RING - 1)];
}

static void drain_core(struct wr_faults *f, struct wr_faults_core *c,
                       wr_fault_fn *fn, void *arg)
{
    const char *ring = (const char *)c->page + f->page_size;
    uint64_t head = __atomic_load_n(&c->page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = c->page->data_tail;
    struct wr_fault fault;

    while (tail + sizeof(struct perf_event_header) <= head) {
        struct perf_event_header h;

        copy_out(ring, tail, &h, sizeof(h));
        if (h.size < sizeof(h))
            break;
        if (h.type == PERF_RECORD_SAMPLE &&
            h.size >= sizeof(h) + sizeof(fault)) {
            copy_out(ring, tail + sizeof(h), &fault, sizeof(fault));
            fn(arg, &fault);
        }
        tail += h.size;
    }
    __atomic_store_n(&c->page->data_tail, head, __ATOMIC_RELEASE);
}

void wr_faults_drain(struct wr_faults *f, wr_fault_fn *fn, void *arg)
{
    for (unsigned k = 0; k < f->count; k++)
        drain_core(f, &f->cores[k], fn, arg);
}
