/* perf.c - perf events of a process tree, in the order in which they happened.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/collect/perf.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/procfs.h"

#define ALL_RINGS   ((size_t)256 << 20) /* bytes of all cores */
#define MOST_RING   ((size_t)8 << 20)
#define LEAST_RING  ((size_t)64 << 10)
#define MOST_EVENTS 8
#define MOST_RECORD ((size_t)64 << 10) /* perf_event_header.size has 16 bits */
#define PARANOID    "/proc/sys/kernel/perf_event_paranoid"

/* Where the program was when it made the call: the bit of its instruction
 * pointer among the registers. */
#if defined(__x86_64__)
#define IP_BIT (UINT64_C(1) << 8)
#elif defined(__aarch64__)
#define IP_BIT (UINT64_C(1) << 32)
#else
#define IP_BIT UINT64_C(0)
#endif

struct wr_ring {
    int fds[MOST_EVENTS + 1];          /* the last one: for output */
    struct perf_event_mmap_page *page; /* NULL: this core is off */
    uint64_t head, tail;               /* tail: read up to there */
    uint64_t time_ns;                  /* of the record at the tail */
    bool has_next;
};

struct wr_rings {
    unsigned cores;
    size_t events, size, page_size;
    uint8_t *record; /* owned: one record, unbroken */
    struct wr_ring ring[];
};

/* --- opening --- */

static struct perf_event_attr attributes(unsigned type, uint64_t config)
{
    return (struct perf_event_attr){
        .type = type,
        .size = sizeof(struct perf_event_attr),
        .config = config,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW |
                       (IP_BIT != 0 ? PERF_SAMPLE_REGS_USER : 0),
        .sample_regs_user = IP_BIT,
        .sample_id_all = 1,
        .watermark = 1,
        .wakeup_watermark = 1 << 30, /* nobody waits for it */
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
}

static int open_event(const struct wr_rings_event *e, bool is_first, pid_t pid,
                      int core)
{
    struct perf_event_attr a = attributes(PERF_TYPE_TRACEPOINT, e->id);
    int fd;

    a.disabled = a.inherit = a.enable_on_exec = 1;
    a.task = a.comm = a.comm_exec = is_first;
    fd = (int)syscall(SYS_perf_event_open, &a, pid, core, -1,
                      PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0 && e->filter &&
        ioctl(fd, PERF_EVENT_IOC_SET_FILTER, e->filter) < 0) {
        int why = errno;

        close(fd);
        errno = why;
        return -1;
    }
    return fd;
}

/* As much as the kernel lets this user lock, up to a size. */
static int map_ring(struct wr_rings *r, struct wr_ring *ring)
{
    void *page = MAP_FAILED;

    while (page == MAP_FAILED && r->size >= LEAST_RING) {
        page = mmap(NULL, r->page_size + r->size, PROT_READ | PROT_WRITE,
                    MAP_SHARED, ring->fds[0], 0);
        if (page == MAP_FAILED && errno != EPERM && errno != ENOMEM)
            return -1;
        if (page == MAP_FAILED)
            r->size /= 2;
    }
    ring->page = page == MAP_FAILED ? NULL : page;
    return ring->page ? 0 : -1;
}

/* 0: opened, or the core is off; -1: errno says why. */
static int open_core(struct wr_rings *r, unsigned core, pid_t pid,
                     const struct wr_rings_event *events)
{
    struct wr_ring *ring = &r->ring[core];

    for (size_t k = 0; k < r->events; k++) {
        ring->fds[k] = open_event(&events[k], k == 0, pid, (int)core);
        if (ring->fds[k] < 0)
            return k == 0 && errno == ENODEV ? 0 : -1;
        if (k == 0 && map_ring(r, ring) < 0)
            return -1;
        if (k &&
            ioctl(ring->fds[k], PERF_EVENT_IOC_SET_OUTPUT, ring->fds[0]) < 0)
            return -1;
    }
    return 0;
}

static int refused(int why, weir_err *err)
{
    char text[32];
    int n = wr_procfs_read_path(PARANOID, text, sizeof(text));

    if (why != EACCES && why != EPERM)
        return wr_fail_errno(err, why, "perf events of the command");
    if (n > 0)
        text[strcspn(text, "\n")] = '\0';
    return wr_fail(err, WEIR_EACCES,
                   "perf events of system calls are not permitted "
                   "(kernel.perf_event_paranoid is %s): run it as root (sudo), "
                   "give weir CAP_PERFMON (setcap cap_perfmon+ep), or 'sysctl "
                   "kernel.perf_event_paranoid=-1'",
                   n > 0 ? text : "not known");
}

/* A large machine has more cores than a process may have files at first. */
static void raise_limit(void)
{
    struct rlimit l;

    if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
        l.rlim_cur = l.rlim_max;
        setrlimit(RLIMIT_NOFILE, &l);
    }
}

static struct wr_rings *new_rings(size_t events)
{
    long cores = WR_MAX(sysconf(_SC_NPROCESSORS_CONF), 1);
    struct wr_rings *r = calloc(1, sizeof(*r) +
                                       (size_t)cores * sizeof(r->ring[0]));

    if (!r)
        return NULL;
    r->record = malloc(MOST_RECORD);
    if (!r->record) {
        free(r);
        return NULL;
    }
    r->cores = (unsigned)cores;
    r->events = events;
    r->page_size = (size_t)sysconf(_SC_PAGESIZE);
    for (r->size = MOST_RING;
         r->size > LEAST_RING && r->size * r->cores > ALL_RINGS;)
        r->size /= 2;
    for (unsigned c = 0; c < r->cores; c++)
        for (size_t k = 0; k <= MOST_EVENTS; k++)
            r->ring[c].fds[k] = -1;
    return r;
}

int wr_rings_open(struct wr_rings **ret, pid_t pid,
                  const struct wr_rings_event *events, size_t count,
                  weir_err *err)
{
    struct wr_rings *r = count <= MOST_EVENTS ? new_rings(count) : NULL;

    if (!r)
        return wr_fail(err, WEIR_ENOMEM, "rings of perf events");
    raise_limit();
    for (unsigned c = 0; c < r->cores; c++)
        if (open_core(r, c, pid, events) < 0) {
            int why = errno;

            wr_rings_close(r);
            return refused(why, err);
        }
    *ret = r;
    return 0;
}

void wr_rings_close(struct wr_rings *r)
{
    if (!r)
        return;
    for (unsigned c = 0; c < r->cores; c++) {
        if (r->ring[c].page)
            munmap(r->ring[c].page, r->page_size + r->size);
        for (size_t k = 0; k <= MOST_EVENTS; k++)
            if (r->ring[c].fds[k] >= 0)
                close(r->ring[c].fds[k]);
    }
    free(r->record);
    free(r);
}

static int give_output(struct wr_rings *r, unsigned core, int map_fd)
{
    struct perf_event_attr a = attributes(PERF_TYPE_SOFTWARE,
                                          PERF_COUNT_SW_BPF_OUTPUT);
    struct wr_ring *ring = &r->ring[core];
    uint32_t key = core, value;
    union bpf_attr set;
    int fd = (int)syscall(SYS_perf_event_open, &a, -1, core, -1,
                          PERF_FLAG_FD_CLOEXEC);

    if (fd < 0)
        return -1;
    ring->fds[MOST_EVENTS] = fd;
    value = (uint32_t)fd;
    memset(&set, 0, sizeof(set));
    set.map_fd = (uint32_t)map_fd;
    set.key = (uintptr_t)&key;
    set.value = (uintptr_t)&value;
    if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fds[0]) < 0)
        return -1;
    return (int)syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &set, sizeof(set));
}

int wr_rings_output(struct wr_rings *r, int map_fd, weir_err *err)
{
    for (unsigned c = 0; c < r->cores; c++)
        if (r->ring[c].page && give_output(r, c, map_fd) < 0)
            return wr_fail_errno(err, errno, "output of core %u", c);
    return 0;
}

unsigned wr_rings_cores(const struct wr_rings *r)
{
    return r->cores;
}

/* --- reading --- */

/* Bytes of the ring from `at` on, which may begin anew at its start. */
static void copy_out(const struct wr_rings *r, const struct wr_ring *ring,
                     uint64_t at, void *to, size_t len)
{
    const char *data = (const char *)ring->page + r->page_size;
    size_t from = (size_t)(at & (r->size - 1));
    size_t first = WR_MIN(len, r->size - from);

    memcpy(to, data + from, first);
    memcpy((char *)to + first, data, len - first);
}

static uint64_t word(const uint8_t *at)
{
    uint64_t v;

    memcpy(&v, at, sizeof(v));
    return v;
}

static uint32_t half(const uint8_t *at)
{
    uint32_t v;

    memcpy(&v, at, sizeof(v));
    return v;
}

/* Where a record has its time: samples behind the ids of their thread, forks
 * and exits behind those of both, all others at their end. */
static size_t time_at(const struct perf_event_header *h)
{
    if (h->type == PERF_RECORD_SAMPLE)
        return sizeof(*h) + 8;
    if (h->type == PERF_RECORD_FORK || h->type == PERF_RECORD_EXIT)
        return sizeof(*h) + 16;
    return h->size - sizeof(uint64_t);
}

/* Looks at the record at the tail; what makes no sense ends the round. */
static void peek(struct wr_rings *r, struct wr_ring *ring)
{
    struct perf_event_header h;

    ring->has_next = false;
    if (ring->head - ring->tail < sizeof(h))
        return;
    copy_out(r, ring, ring->tail, &h, sizeof(h));
    if (h.size < sizeof(h) + sizeof(uint64_t) ||
        h.size > ring->head - ring->tail || time_at(&h) + 8 > h.size) {
        ring->tail = ring->head;
        return;
    }
    copy_out(r, ring, ring->tail + time_at(&h), &ring->time_ns,
             sizeof(ring->time_ns));
    ring->has_next = true;
}

static bool parse_sample(const uint8_t *p, size_t len,
                         struct wr_ring_record *ret)
{
    size_t raw_len;

    if (len < 20)
        return false;
    raw_len = half(p + 16);
    if (raw_len > len - 20)
        return false;
    ret->kind = WR_RING_SAMPLE;
    ret->pid = half(p);
    ret->tid = half(p + 4);
    ret->raw = p + 20;
    ret->raw_len = raw_len;
    if (len - 20 - raw_len >= 16 && word(p + 20 + raw_len) != 0)
        ret->ip = word(p + 20 + raw_len + 8);
    return true;
}

/* False: a record that nobody asked for. */
static bool parse(const struct perf_event_header *h, const uint8_t *p,
                  struct wr_ring_record *ret)
{
    size_t len = h->size - sizeof(*h);

    switch (h->type) {
    case PERF_RECORD_SAMPLE:
        return parse_sample(p, len, ret);
    case PERF_RECORD_FORK:
    case PERF_RECORD_EXIT:
        if (len < 24)
            return false;
        ret->kind = h->type == PERF_RECORD_FORK ? WR_RING_FORK : WR_RING_EXIT;
        ret->pid = half(p);
        ret->parent_pid = half(p + 4);
        ret->tid = half(p + 8);
        return true;
    case PERF_RECORD_COMM:
        if (len < 16 || !(h->misc & PERF_RECORD_MISC_COMM_EXEC) ||
            !memchr(p + 8, 0, len - 8))
            return false;
        ret->kind = WR_RING_EXEC;
        ret->pid = half(p);
        ret->tid = half(p + 4);
        ret->comm = (const char *)p + 8;
        return true;
    case PERF_RECORD_LOST:
        if (len < 16)
            return false;
        ret->kind = WR_RING_LOST;
        ret->lost = word(p + 8);
        return true;
    default:
        return false;
    }
}

static void give(struct wr_rings *r, struct wr_ring *ring, wr_ring_fn *fn,
                 void *arg)
{
    struct wr_ring_record record = {.time_ns = ring->time_ns};
    struct perf_event_header h;

    copy_out(r, ring, ring->tail, &h, sizeof(h));
    copy_out(r, ring, ring->tail, r->record, h.size);
    ring->tail += h.size;
    __atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
    if (parse(&h, r->record + sizeof(h), &record))
        fn(arg, &record);
    peek(r, ring);
}

void wr_rings_drain(struct wr_rings *r, uint64_t until_ns, wr_ring_fn *fn,
                    void *arg)
{
    struct wr_ring *first;

    for (unsigned c = 0; c < r->cores; c++) {
        struct wr_ring *ring = &r->ring[c];

        if (!ring->page)
            continue;
        ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
        peek(r, ring);
    }
    do {
        first = NULL;
        for (unsigned c = 0; c < r->cores; c++) {
            struct wr_ring *ring = &r->ring[c];

            if (ring->has_next && ring->time_ns <= until_ns &&
                (!first || ring->time_ns < first->time_ns))
                first = ring;
        }
        if (first)
            give(r, first, fn, arg);
    } while (first);
}

/* --- major page faults --- */

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

static int faults_open_core(pid_t pid, int core)
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

    c->fd = faults_open_core(pid, (int)k);
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
static void faults_copy_out(const char *ring, uint64_t at, void *to, size_t len)
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

        faults_copy_out(ring, tail, &h, sizeof(h));
        if (h.size < sizeof(h))
            break;
        if (h.type == PERF_RECORD_SAMPLE &&
            h.size >= sizeof(h) + sizeof(fault)) {
            faults_copy_out(ring, tail + sizeof(h), &fault, sizeof(fault));
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
