/* core.c - writing one record.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/preload/tap.h"

#include <string.h>

__thread struct wr_tap_thread wr_tap_self;
struct wr_tap_global wr_tap;

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
    return wr_tap_chunk_take(t) && (size_t)(t->end - t->at) >= need;
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
