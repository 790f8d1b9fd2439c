/* counts.h - what one call adds to the exact counts of its file.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Counted in two places: by the collector, call by call, and by a process that is
 * over its budget, where several threads add at a time (`shared`). Threads that
 * read one file at the same moment may disturb each other's order and maxima;
 * counts and bytes are exact. */
#ifndef WR_TRACE_COUNTS_H
#define WR_TRACE_COUNTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/mem.h"
#include "trace/event.h"

/* Of wr_trace_counts, all but `process` and `file` are numbers of 64 bits in a
 * row; the file's format has them in that order. */
#define WR_COUNTS_FIRST offsetof(struct wr_trace_counts, opens)
#define WR_COUNTS_NUMBER                                                       \
    ((sizeof(struct wr_trace_counts) - WR_COUNTS_FIRST) / 8)

/* Those of reads, or those of writes. */
struct wr_counts_side {
    uint64_t *calls, *bytes, *stdio_calls, *stdio_bytes;
    uint64_t *ns, *max_ns, *sequential, *consecutive, *sizes, *max_offset;
    uint64_t *next; /* where the last one ended */
};

static inline void wr_counts_add(uint64_t *to, uint64_t n, bool shared)
{
    if (shared)
        __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
    else
        *to += n;
}

static inline void wr_counts_raise(uint64_t *high, uint64_t value)
{
    if (__atomic_load_n(high, __ATOMIC_RELAXED) < value)
        __atomic_store_n(high, value, __ATOMIC_RELAXED);
}

/* The classes of sizes of transfers are Darshan's: up to so many bytes. */
static inline uint64_t wr_counts_size_edge(size_t k)
{
    static const uint64_t edges[10] = {100,     1 << 10,   10 << 10, 100 << 10,
                                       1 << 20, 4 << 20,   10 << 20, 100 << 20,
                                       1 << 30, UINT64_MAX};

    return edges[k];
}

static inline size_t wr_counts_size_class(uint64_t bytes)
{
    size_t k = 0;

    while (bytes > wr_counts_size_edge(k))
        k++;
    return k;
}

/* Always inline: the pointers would go through memory. */
__attribute__((always_inline)) static inline void
wr_counts_transfer(const struct wr_counts_side *s,
                   const struct wr_trace_event *e, bool shared)
{
    bool stdio = e->flags & WR_TRACE_STDIO;
    uint64_t end = e->offset + e->bytes;

    wr_counts_add(stdio ? s->stdio_calls : s->calls, 1, shared);
    wr_counts_add(stdio ? s->stdio_bytes : s->bytes, e->bytes, shared);
    wr_counts_add(s->ns, e->dur_ns, shared);
    wr_counts_raise(s->max_ns, e->dur_ns);
    if (stdio)
        return;
    wr_counts_add(&s->sizes[wr_counts_size_class(e->bytes)], 1, shared);
    if (e->offset == UINT64_MAX || !e->bytes)
        return;
    if (*s->calls > 1 && e->offset >= *s->next)
        wr_counts_add(s->sequential, 1, shared);
    if (*s->calls > 1 && e->offset == *s->next)
        wr_counts_add(s->consecutive, 1, shared);
    *s->next = end;
    wr_counts_raise(s->max_offset, end - 1);
}

static inline uint64_t *wr_counts_of_op(struct wr_trace_counts *c, unsigned op)
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

/* All but when the first began and the last ended. next: where the last read and
 * the last write ended. */
static inline void wr_counts_event(struct wr_trace_counts *c, uint64_t next[2],
                                   const struct wr_trace_event *e, bool shared)
{
    switch (e->op) {
    case WR_TRACE_READ:
    case WR_TRACE_COPY_IN:
    case WR_TRACE_AIO_READ:
        wr_counts_transfer(
            &(struct wr_counts_side){&c->reads, &c->bytes_read, &c->stdio_reads,
                                     &c->stdio_bytes_read, &c->read_ns,
                                     &c->max_read_ns, &c->sequential_reads,
                                     &c->consecutive_reads, c->size_reads,
                                     &c->max_offset_read, &next[0]},
            e, shared);
        if (!e->bytes && !(e->flags & WR_TRACE_STDIO))
            wr_counts_add(&c->zero_reads, 1, shared);
        break;
    case WR_TRACE_WRITE:
    case WR_TRACE_COPY_OUT:
    case WR_TRACE_AIO_WRITE:
        wr_counts_transfer(
            &(struct wr_counts_side){
                &c->writes, &c->bytes_written, &c->stdio_writes,
                &c->stdio_bytes_written, &c->write_ns, &c->max_write_ns,
                &c->sequential_writes, &c->consecutive_writes, c->size_writes,
                &c->max_offset_written, &next[1]},
            e, shared);
        break;
    default:
        wr_counts_add(wr_counts_of_op(c, e->op), 1, shared);
        wr_counts_add(&c->meta_ns, e->dur_ns, shared);
    }
}

/* Adds counts to others: sums, and the outermost of maxima and times. */
static inline void wr_counts_merge(struct wr_trace_counts *to,
                                   const struct wr_trace_counts *more)
{
    struct wr_trace_counts old = *to;
    uint64_t *a = &to->opens;
    const uint64_t *b = &more->opens;

    for (size_t k = 0; k < WR_COUNTS_NUMBER; k++)
        a[k] += b[k];
    if (!old.last_ns || more->first_ns < old.first_ns)
        old.first_ns = more->first_ns;
    to->first_ns = old.first_ns;
    to->last_ns = WR_MAX(old.last_ns, more->last_ns);
    to->max_read_ns = WR_MAX(old.max_read_ns, more->max_read_ns);
    to->max_write_ns = WR_MAX(old.max_write_ns, more->max_write_ns);
    to->max_offset_read = WR_MAX(old.max_offset_read, more->max_offset_read);
    to->max_offset_written = WR_MAX(old.max_offset_written,
                                    more->max_offset_written);
}

#endif
