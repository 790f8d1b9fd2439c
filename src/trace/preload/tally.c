/* tally.c - exact counts of what is not kept as records.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/tap.h"

#include <string.h>

#define PAGE     4096
#define PER_PAGE (PAGE / sizeof(struct wr_tap_tally))
#define INTERNED 65536
#define LONGEST  512 /* slots that are tried */

/* Paths seen over the budget, by hash: opens of one file share a handle. */
struct wr_tap_interned {
    uint64_t hash; /* 0: free */
    uint32_t handle;
    uint32_t spare;
};

static struct wr_tap_interned interned[INTERNED];
/* Pages of tallies whose memory is there. */
static uint8_t populated[WR_TAP_TALLIES / PER_PAGE];

static uint64_t hash_path(const char *s, uint32_t dir)
{
    uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ dir;

    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    h ^= h >> 29;
    return h ? h : 1;
}

uint32_t wr_tap_intern(const char *path, uint32_t dir, bool *ret_new)
{
    uint64_t hash = hash_path(path, *path == '/' ? 0 : dir);

    for (unsigned i = 0; i < LONGEST; i++) {
        struct wr_tap_interned *e = &interned[(hash + i) % INTERNED];
        uint64_t seen = __atomic_load_n(&e->hash, __ATOMIC_ACQUIRE);
        uint32_t handle;

        if (!seen &&
            __atomic_compare_exchange_n(&e->hash, &seen, hash, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            handle = wr_tap_new_handle();
            __atomic_store_n(&e->handle, handle, __ATOMIC_RELEASE);
            *ret_new = true;
            return handle;
        }
        handle = __atomic_load_n(&e->handle, __ATOMIC_ACQUIRE);
        if (seen == hash && handle) {
            *ret_new = false;
            return handle;
        }
    }
    return 0;
}

/* In a child: handles of the parent mean the same there, tallies do not. */
void wr_tap_tally_reset(void)
{
    memset(populated, 0, sizeof(populated));
}

static bool has_memory(unsigned k)
{
    unsigned page = k / PER_PAGE;

    if (__atomic_load_n(&populated[page], __ATOMIC_ACQUIRE))
        return true;
    if (!wr_tap_populate(wr_tap_tally_at(wr_tap.head, page * PER_PAGE), PAGE))
        return false;
    __atomic_store_n(&populated[page], 1, __ATOMIC_RELEASE);
    return true;
}

/* The tally of a handle; all without one, and those without room, share that of
 * UINT32_MAX. */
static struct wr_tap_tally *find(uint32_t handle)
{
    uint32_t h = handle * UINT32_C(2654435761);

    for (unsigned i = 0; i < LONGEST; i++) {
        unsigned k = (h + i) % WR_TAP_TALLIES;
        struct wr_tap_tally *t = wr_tap_tally_at(wr_tap.head, k);
        uint32_t seen;

        if (!has_memory(k))
            return NULL;
        seen = __atomic_load_n(&t->handle, __ATOMIC_ACQUIRE);
        if (!seen)
            __atomic_compare_exchange_n(&t->handle, &seen, handle, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        if (t->handle == handle)
            return t;
    }
    return handle == WR_TAP_NONE ? NULL : find(WR_TAP_NONE);
}

static void raise_to(uint64_t *high, uint64_t value)
{
    if (__atomic_load_n(high, __ATOMIC_RELAXED) < value)
        __atomic_store_n(high, value, __ATOMIC_RELAXED);
}

/* Threads that read one file at the same moment may disturb each other's order
 * and maxima; counts and bytes are exact. */
static void add_read(struct wr_tap_tally *t, const struct wr_tap_note *n,
                     uint64_t duration)
{
    struct wr_trace_counts *c = &t->counts;
    bool stdio = n->flags & WR_TRACE_STDIO;

    WR_TAP_ADD(*(stdio ? &c->stdio_reads : &c->reads), 1);
    WR_TAP_ADD(*(stdio ? &c->stdio_bytes_read : &c->bytes_read), n->len);
    WR_TAP_ADD(c->read_ns, duration);
    raise_to(&c->max_read_ns, duration);
    if (stdio)
        return;
    WR_TAP_ADD(c->size_reads[wr_tap_size_class(n->len)], 1);
    if (!n->len)
        WR_TAP_ADD(c->zero_reads, 1);
    if (n->off == WR_TAP_UNKNOWN || !n->len)
        return;
    if (n->off >= t->next_read && c->reads > 1)
        WR_TAP_ADD(c->sequential_reads, 1);
    if (n->off == t->next_read && c->reads > 1)
        WR_TAP_ADD(c->consecutive_reads, 1);
    t->next_read = n->off + n->len;
    raise_to(&c->max_offset_read, n->off + n->len - 1);
}

static void add_write(struct wr_tap_tally *t, const struct wr_tap_note *n,
                      uint64_t duration)
{
    struct wr_trace_counts *c = &t->counts;
    bool stdio = n->flags & WR_TRACE_STDIO;

    WR_TAP_ADD(*(stdio ? &c->stdio_writes : &c->writes), 1);
    WR_TAP_ADD(*(stdio ? &c->stdio_bytes_written : &c->bytes_written), n->len);
    WR_TAP_ADD(c->write_ns, duration);
    raise_to(&c->max_write_ns, duration);
    if (stdio)
        return;
    WR_TAP_ADD(c->size_writes[wr_tap_size_class(n->len)], 1);
    if (n->off == WR_TAP_UNKNOWN || !n->len)
        return;
    if (n->off >= t->next_write && c->writes > 1)
        WR_TAP_ADD(c->sequential_writes, 1);
    if (n->off == t->next_write && c->writes > 1)
        WR_TAP_ADD(c->consecutive_writes, 1);
    t->next_write = n->off + n->len;
    raise_to(&c->max_offset_written, n->off + n->len - 1);
}

static uint64_t *counter_of(struct wr_trace_counts *c, unsigned op)
{
    switch (op) {
    case WR_TRACE_OPEN:
        return &c->opens;
    case WR_TRACE_CLOSE:
        return &c->closes;
    case WR_TRACE_SEEK:
        return &c->seeks;
    case WR_TRACE_STAT:
    case WR_TRACE_ACCESS:
        return &c->stats;
    case WR_TRACE_SYNC:
    case WR_TRACE_DATASYNC:
    case WR_TRACE_SYNC_ALL:
    case WR_TRACE_MSYNC:
        return &c->syncs;
    case WR_TRACE_MMAP:
        return &c->mmaps;
    default:
        return &c->others;
    }
}

static void add(struct wr_tap_tally *t, const struct wr_tap_note *n,
                uint64_t duration)
{
    struct wr_trace_counts *c = &t->counts;

    if (!c->first_ns)
        c->first_ns = n->start;
    raise_to(&c->last_ns, n->start + duration);
    if (n->op == WR_TRACE_READ || n->op == WR_TRACE_COPY_IN ||
        n->op == WR_TRACE_AIO_READ) {
        add_read(t, n, duration);
    } else if (n->op == WR_TRACE_WRITE || n->op == WR_TRACE_COPY_OUT ||
               n->op == WR_TRACE_AIO_WRITE) {
        add_write(t, n, duration);
    } else {
        WR_TAP_ADD(*counter_of(c, n->op), 1);
        WR_TAP_ADD(c->meta_ns, duration);
    }
}

void wr_tap_tally(const struct wr_tap_note *n, uint64_t duration)
{
    struct wr_tap_tally *t = find(n->handle ? n->handle : WR_TAP_NONE);

    if (t)
        add(t, n, duration);
}
