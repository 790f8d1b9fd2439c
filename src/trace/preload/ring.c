/* ring.c - the process's file, chunks of it for threads, and records in them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/tap.h"

#include <errno.h>
#include <linux/mman.h>
#include <string.h>
#include <sys/mman.h>

#define WR_POPULATE_WRITE 23 /* MADV_POPULATE_WRITE, Linux 5.14 */

__thread struct wr_tap_thread wr_tap_self;
struct wr_tap_global wr_tap;

/* --- the file --- */

static long raw_mmap(void *at, size_t len, int flags, int fd)
{
    return wr_raw(SYS_mmap, (long)at, (long)len, PROT_READ | PROT_WRITE, flags,
                  fd, 0);
}

/* FOLDER/pNUMBER */
static void file_name(uint32_t number, char *buf, size_t cap)
{
    char digits[10];
    size_t n = 0, at = 0;

    while (wr_tap.folder[at] && at < cap - 14) {
        buf[at] = wr_tap.folder[at];
        at++;
    }
    buf[at++] = '/';
    buf[at++] = 'p';
    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (n)
        buf[at++] = digits[--n];
    buf[at] = '\0';
}

/* On kernels without MADV_POPULATE_WRITE. The descriptor is not kept: programs
 * close all they find and use its number for files of theirs. */
static bool allocate(size_t from, size_t len)
{
    char path[288];
    long fd, r;

    file_name(wr_tap.alive->process, path, sizeof(path));
    fd = WR_RAW4(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0)
        return false;
    r = WR_RAW4(SYS_fallocate, fd, 1, from, len); /* keep the size */
    WR_RAW1(SYS_close, fd);
    return r == 0;
}

/* Memory of the file that can be written without a signal: where the folder has
 * no room left this fails, and a touched page would be SIGBUS. */
bool wr_tap_populate(void *at, size_t len)
{
    long r = WR_RAW3(SYS_madvise, at, len, WR_POPULATE_WRITE);

    if (r == -EINVAL && wr_tap.alive && wr_tap.alive->process)
        return allocate((size_t)((char *)at - (char *)wr_tap.head), len);
    return r == 0;
}

/* At the place of the parent's, which the child does not have: what a handler
 * interrupted there goes on safely. */
static void *map_file(int fd, void *near)
{
    long r = -1;

    if (near)
        r = raw_mmap(near, WR_TAP_SIZE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd);
    if (near && r > 0 && (void *)r != near) { /* an old kernel: a hint */
        WR_RAW2(SYS_munmap, r, WR_TAP_SIZE);
        r = -1;
    }
    if (r < 0 && r > -4096)
        r = raw_mmap(NULL, WR_TAP_SIZE, MAP_SHARED, fd);
    return r < 0 && r > -4096 ? NULL : (void *)r;
}

struct wr_tap_process *wr_tap_file_make(uint32_t number, void *near)
{
    char path[288];
    void *base = NULL;
    long fd, r;

    file_name(number, path, sizeof(path));
    fd = WR_RAW4(SYS_openat, AT_FDCWD, path,
                 O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    r = WR_RAW2(SYS_ftruncate, fd, WR_TAP_SIZE);
    if (r == 0)
        r = WR_RAW4(SYS_fallocate, fd, 1, 0, WR_TAP_HEAD + WR_TAP_CHUNK);
    if (r == 0)
        base = map_file((int)fd, near);
    WR_RAW1(SYS_close, fd);
    if (!base)
        return NULL;
    WR_RAW3(SYS_madvise, base, WR_TAP_SIZE, MADV_DONTFORK);
    return base;
}

/* --- chunks --- */

/* The lowest free slot: its memory is the warmest. */
static int claim_slot(struct wr_tap_process *head)
{
    for (unsigned k = 0; k < WR_TAP_CHUNKS; k++) {
        uint8_t is_free = WR_TAP_FREE;

        if (__atomic_load_n(&head->state[k], __ATOMIC_RELAXED) == WR_TAP_FREE &&
            __atomic_compare_exchange_n(&head->state[k], &is_free,
                                        WR_TAP_CLAIMED, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return (int)k;
    }
    return -1;
}

static void raise_to(uint32_t *high, uint32_t value)
{
    uint32_t seen = __atomic_load_n(high, __ATOMIC_RELAXED);

    while (seen < value &&
           !__atomic_compare_exchange_n(high, &seen, value, false,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
}

static void give_back(struct wr_tap_thread *t)
{
    if (t->process && t->process == wr_tap.alive->process)
        __atomic_store_n(&wr_tap.head->state[t->slot], WR_TAP_FULL,
                         __ATOMIC_RELEASE);
    t->process = 0;
    t->at = t->end = NULL;
}

/* Another one. Apart from what each record runs through. */
__attribute__((noinline, cold)) static bool take_chunk(struct wr_tap_thread *t)
{
    struct wr_tap_process *head = wr_tap.head;
    struct wr_tap_chunk *c;
    bool is_new = t->process != wr_tap.alive->process;
    int slot;

    give_back(t);
    if (__atomic_load_n(&wr_tap.control->closed, __ATOMIC_RELAXED)) {
        wr_tap.on = 0; /* nobody reads it now */
        return false;
    }
    slot = claim_slot(head);
    if (slot < 0)
        return false;
    c = wr_tap_chunk_at(head, (unsigned)slot);
    if (!wr_tap_populate(c, WR_TAP_CHUNK)) {
        __atomic_store_n(&head->state[slot], WR_TAP_FREE, __ATOMIC_RELEASE);
        return false;
    }
    c->tid = (uint32_t)WR_RAW1(SYS_gettid, 0);
    raise_to(&head->chunks, (uint32_t)slot + 1);
    __atomic_store_n(&head->state[slot], WR_TAP_ACTIVE, __ATOMIC_RELEASE);
    t->counting = WR_TAP_ADD(head->bytes, WR_TAP_CHUNK) >=
                  wr_tap.control->budget_bytes;
    t->chunk = c;
    t->at = (unsigned char *)(c + 1);
    t->end = (unsigned char *)c + WR_TAP_CHUNK;
    t->slot = (uint32_t)slot;
    t->process = wr_tap.alive->process;
    if (is_new)
        WR_TAP_ADD(head->threads, 1);
    return true;
}

void wr_tap_thread_done(void)
{
    struct wr_tap_thread *t = &wr_tap_self;

    if (wr_tap.alive && !t->busy)
        give_back(t);
}

/* --- records --- */

uint32_t wr_tap_new_handle(void)
{
    return WR_TAP_ADD(wr_tap.next_handle, 1) + 1;
}

/* A chunk with room for so many bytes; the thread is busy already. */
static bool make_room(struct wr_tap_thread *t, size_t need)
{
    if (!wr_tap.alive->process && !wr_tap_child())
        return false;
    if (t->process == wr_tap.alive->process && (size_t)(t->end - t->at) >= need)
        return true;
    return take_chunk(t) && (size_t)(t->end - t->at) >= need;
}

static inline bool has_room(const struct wr_tap_thread *t, size_t need)
{
    return t->process == wr_tap.alive->process &&
           (size_t)(t->end - t->at) >= need && t->process;
}

/* The collector sees what was written before this. */
static inline void commit(struct wr_tap_thread *t, size_t len)
{
    t->at += len;
    __atomic_store_n(&t->chunk->committed,
                     (uint32_t)(t->at - (unsigned char *)(t->chunk + 1)),
                     __ATOMIC_RELEASE);
}

static size_t path_units(const char *path, size_t *ret_len)
{
    size_t n = strnlen(path, WR_TAP_PATH);

    *ret_len = n;
    return (n + WR_TAP_UNIT - 1) / WR_TAP_UNIT;
}

/* Padded by zeros to whole units. */
static void write_path(unsigned char *to, const char *path, size_t len,
                       size_t units)
{
    memset(to + (units - 1) * WR_TAP_UNIT, 0, WR_TAP_UNIT);
    memcpy(to, path, len);
}

static void write_wide(unsigned char *to, uint64_t duration, uint64_t len)
{
    struct wr_tap_record r = {.op = WR_TAP_WIDE, .off = duration, .stamp = len};

    memcpy(to, &r, sizeof(r));
}

/* Writes the record; false: there is no room. */
static bool write_record(struct wr_tap_thread *t, const struct wr_tap_note *n,
                         uint64_t duration)
{
    bool wide = (duration | n->len) >> 32;
    size_t path_len = 0, units = 1 + wide;
    size_t extra = n->path && *n->path ? path_units(n->path, &path_len) : 0;
    struct wr_tap_record *r;

    units += extra;
    if (WR_TAP_UNLIKELY(!has_room(t, units * WR_TAP_UNIT)) &&
        !make_room(t, units * WR_TAP_UNIT))
        return false;
    r = (void *)t->at;
    if (WR_TAP_UNLIKELY(wide))
        write_wide((unsigned char *)r++, duration, n->len);
    r->stamp = n->start;
    r->off = n->path ? n->dir : n->off;
    r->duration = (uint32_t)duration;
    r->len = (uint32_t)n->len;
    r->handle = n->handle;
    r->op = n->op;
    r->flags = n->flags;
    r->error = n->error;
    r->extra = (uint8_t)extra;
    if (extra)
        write_path((unsigned char *)(r + 1), n->path, path_len, extra);
    commit(t, units * WR_TAP_UNIT);
    return true;
}

/* Over the budget: counted, and one of several is kept. */
static void sample(struct wr_tap_thread *t, const struct wr_tap_note *n,
                   uint64_t duration)
{
    struct wr_tap_note some = *n;

    wr_tap_tally(n, duration);
    if (++t->skipped < wr_tap.control->sample_every) {
        WR_TAP_ADD(wr_tap.head->lost_events, 1);
        return;
    }
    t->skipped = 0;
    some.flags |= WR_TRACE_SAMPLED;
    if (!write_record(t, &some, duration))
        WR_TAP_ADD(wr_tap.head->lost_events, 1);
}

/* Processes and marks are few and always kept; so are names. */
static bool is_kept(unsigned op)
{
    return op >= WR_TRACE_FORK;
}

static void put(struct wr_tap_thread *t, const struct wr_tap_note *n,
                uint64_t duration)
{
    bool kept = is_kept(n->op);

    if (WR_TAP_UNLIKELY(t->counting) && !kept &&
        t->process == wr_tap.alive->process && t->process) {
        sample(t, n, duration);
        return;
    }
    if (write_record(t, n, duration) || !wr_tap.alive->process)
        return;
    WR_TAP_ADD(wr_tap.head->lost_events, 1);
    if (n->path && n->handle)
        WR_TAP_ADD(wr_tap.head->lost_names, 1);
    if (!kept)
        wr_tap_tally(n, duration);
}

void wr_tap_put_lasting(const struct wr_tap_note *n, uint64_t duration)
{
    struct wr_tap_thread *t = &wr_tap_self;

    if (WR_TAP_UNLIKELY(t->busy)) { /* a signal handler, at a bad moment */
        if (wr_tap.alive->process)
            WR_TAP_ADD(wr_tap.head->nested_events, 1);
        return;
    }
    t->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    put(t, n, duration);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->busy = 0;
}

void wr_tap_put(const struct wr_tap_note *n)
{
    uint64_t now = wr_tap_clock();

    wr_tap_put_lasting(n, now > n->start ? now - n->start : 0);
}
