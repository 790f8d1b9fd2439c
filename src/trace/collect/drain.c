/* drain.c - turns the records of one process into events.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A name may lie in another thread's chunk than the calls that use it. Limits
 * are taken of all processes first; then names are read up to where they are
 * now, then events up to the limits: whatever an event uses was committed before
 * it, and so before the names were read. What a program may have overwritten is
 * checked here. */
#include "trace/collect/state.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "trace/counts.h"

#define ROOM (WR_TAP_CHUNK - sizeof(struct wr_tap_chunk))

/* What stands in front of a record and belongs to it. */
struct wr_drain_prefix {
    bool wide, placed;
    uint64_t duration, len, address;
};

static uint32_t committed(struct wr_tapped *t, unsigned slot)
{
    struct wr_tap_chunk *c = wr_tap_chunk_at(t->head, slot);
    uint32_t n = __atomic_load_n(&c->committed, __ATOMIC_ACQUIRE);

    return n > ROOM ? 0 : n / WR_TAP_UNIT * WR_TAP_UNIT;
}

static unsigned slots_of(const struct wr_tapped *t)
{
    uint32_t n = __atomic_load_n(&t->head->chunks, __ATOMIC_ACQUIRE);

    return WR_MIN(n, WR_TAP_CHUNKS);
}

static uint8_t state_of(const struct wr_tapped *t, unsigned slot)
{
    return __atomic_load_n(&t->head->state[slot], __ATOMIC_ACQUIRE);
}

static bool is_in_use(const struct wr_tapped *t, unsigned slot)
{
    return state_of(t, slot) >= WR_TAP_ACTIVE;
}

void wr_drain_limits(struct wr_tapped *t)
{
    for (unsigned s = 0; s < slots_of(t); s++)
        t->slots[s].limit = is_in_use(t, s) ? committed(t, s)
                                            : t->slots[s].drained;
}

/* The record at `at`, if it is whole; NULL: the chunk is of no use from here. */
static const struct wr_tap_record *record_at(struct wr_tapped *t, unsigned slot,
                                             uint32_t at, uint32_t limit)
{
    const struct wr_tap_record *r =
        (const void *)((const char *)(wr_tap_chunk_at(t->head, slot) + 1) + at);

    return at + (1 + (uint32_t)r->extra) * WR_TAP_UNIT <= limit ? r : NULL;
}

/* Whether the library can have written it, and its name. */
static bool is_known(const struct wr_tap_record *r)
{
    return r->extra <= WR_TAP_PATH / WR_TAP_UNIT &&
           (r->op < WR_TRACE_OPS || r->op == WR_TAP_NAME ||
            r->op == WR_TAP_CHDIR);
}

/* One that ends after now would be the end of the trace for every reader. */
static bool is_sound(const struct wr_collect *c, const struct wr_tap_record *r,
                     const struct wr_drain_prefix *p)
{
    return is_known(r) && p->len <= INT64_MAX &&
           (r->op >= WR_TRACE_OPS ||
            wr_collect_is_past(c, r->stamp,
                               p->wide ? p->duration : r->duration));
}

/* The path that follows a record, whole; "" where there is none. */
static void path_of(struct wr_collect *c, const struct wr_tapped *t,
                    const struct wr_tap_record *r, const char *cwd, char *buf)
{
    char rel[WR_TAP_PATH + 1];
    size_t n = WR_MIN((size_t)r->extra * WR_TAP_UNIT, (size_t)WR_TAP_PATH);
    uint32_t dir;

    memcpy(rel, r + 1, n);
    rel[n] = '\0';
    if (r->op == WR_TRACE_MARK ||
        (r->op == WR_TAP_NAME && rel[0] != '/' &&
         wr_names_classify(rel) == WR_TRACE_STREAM) ||
        (r->op == WR_TRACE_SPAWN && !strchr(rel, '/')) ||
        (r->op == WR_TRACE_EXEC && !strchr(rel, '/'))) {
        memcpy(buf, rel, n + 1);
        return;
    }
    dir = r->off ? wr_tapped_file(t, (uint32_t)r->off) : WR_TRACE_NO_FILE;
    wr_names_join(r->off ? wr_names_path(c->names, dir) : cwd, rel, buf,
                  2 * WR_TAP_PATH);
}

static void set_text(char **text, const char *to)
{
    char *own = strdup(to);

    if (!own)
        return;
    free(*text);
    *text = own;
}

static void name_record(struct wr_collect *c, struct wr_tapped *t,
                        const struct wr_tap_record *r)
{
    char path[2 * WR_TAP_PATH + 1];

    if (r->op == WR_TAP_CHDIR) {
        path_of(c, t, r, "/", path);
        set_text(&t->named_cwd, path);
    } else if (r->handle && r->extra) {
        path_of(c, t, r, t->named_cwd ? t->named_cwd : "/", path);
        wr_tapped_set_handle(t, r->handle, wr_collect_name(c, path));
    }
}

void wr_drain_names(struct wr_collect *c, struct wr_tapped *t)
{
    for (unsigned s = 0; s < slots_of(t); s++) {
        struct wr_tapped_slot *k = &t->slots[s];
        const struct wr_tap_record *r;
        uint32_t limit = is_in_use(t, s) ? committed(t, s) : k->named;

        while (k->named < limit) {
            r = record_at(t, s, k->named, limit);
            if (!r) {
                k->named = limit;
                break;
            }
            if (r->extra && is_known(r))
                name_record(c, t, r);
            k->named += (1 + (uint32_t)r->extra) * WR_TAP_UNIT;
        }
    }
}

/* --- events --- */

static void remember_map(struct wr_tapped *t, const struct wr_trace_event *e,
                         uint64_t address)
{
    if (e->op == WR_TRACE_MMAP && !e->error)
        wr_tapped_map_add(
            t, &(struct wr_tapped_map){address, e->bytes, e->offset, e->file});
    else if (e->op == WR_TRACE_MUNMAP)
        wr_tapped_map_remove(t, address);
}

static void event_files(struct wr_collect *c, struct wr_tapped *t,
                        const struct wr_tap_record *r, struct wr_trace_event *e)
{
    char path[2 * WR_TAP_PATH + 1];

    e->file = wr_tapped_file(t, r->handle);
    if (r->extra && !r->handle) {
        path_of(c, t, r, t->cwd ? t->cwd : "/", path);
        e->file = wr_collect_name(c, path);
    }
    if (r->op == WR_TRACE_RENAME || r->op == WR_TRACE_LINK) {
        e->file2 = e->file;
        e->file = wr_tapped_file(t, (uint32_t)e->bytes);
        e->bytes = 0;
    }
}

static void event_record(struct wr_collect *c, struct wr_tapped *t,
                         const struct wr_tap_record *r, uint32_t tid,
                         const struct wr_drain_prefix *p)
{
    uint64_t duration = p->wide ? p->duration : r->duration;
    struct wr_trace_event e = {
        .start_ns = wr_collect_ns(c, r->stamp),
        .dur_ns = (uint64_t)((double)duration * c->ns_per_stamp),
        .process = t->process,
        .thread = tid,
        .file = WR_TRACE_NO_FILE,
        .file2 = WR_TRACE_NO_FILE,
        .op = r->op,
        .flags = r->flags,
        .error = r->error,
        .offset = r->extra || r->op >= WR_TRACE_FORK ? UINT64_MAX : r->off,
        .bytes = p->wide ? p->len : r->len};

    event_files(c, t, r, &e);
    if (p->placed)
        remember_map(t, &e, p->address);
    if (!(e.flags & WR_TRACE_SAMPLED))
        wr_tapped_match(t, &e);
    wr_collect_event(c, &e);
}

static void take_record(struct wr_collect *c, struct wr_tapped *t,
                        const struct wr_tap_record *r, uint32_t tid,
                        struct wr_drain_prefix *p)
{
    char path[2 * WR_TAP_PATH + 1];

    if (r->op == WR_TAP_WIDE) {
        p->wide = true;
        p->duration = r->off;
        p->len = r->stamp;
        return;
    }
    if (r->op == WR_TAP_ADDRESS) {
        p->placed = true;
        p->address = r->off;
        return;
    }
    if (!is_sound(c, r, p)) {
        c->sum.bad_records++;
    } else if (r->op == WR_TAP_CHDIR && r->extra) {
        path_of(c, t, r, "/", path);
        set_text(&t->cwd, path);
    } else if (r->op < WR_TRACE_OPS) {
        event_record(c, t, r, tid, p);
    }
    *p = (struct wr_drain_prefix){0};
}

/* A chunk that its thread has left and that was read goes back to the process. */
static void recycle(struct wr_tapped *t, unsigned slot)
{
    struct wr_tapped_slot *k = &t->slots[slot];
    struct wr_tap_chunk *c = wr_tap_chunk_at(t->head, slot);

    if (state_of(t, slot) != WR_TAP_FULL || k->drained != committed(t, slot))
        return;
    *k = (struct wr_tapped_slot){0};
    __atomic_store_n(&c->committed, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&t->head->state[slot], WR_TAP_FREE, __ATOMIC_RELEASE);
}

static void drain_slot(struct wr_collect *c, struct wr_tapped *t, unsigned s)
{
    struct wr_tapped_slot *k = &t->slots[s];
    struct wr_drain_prefix p = {0};
    const struct wr_tap_record *r;
    uint32_t tid = wr_tap_chunk_at(t->head, s)->tid, whole = k->drained;
    bool is_full = state_of(t, s) == WR_TAP_FULL;

    for (uint32_t at = k->drained; at < k->limit;) {
        r = record_at(t, s, at, k->limit);
        if (!r) {
            whole = k->limit;
            break;
        }
        take_record(c, t, r, tid, &p);
        at += (1 + (uint32_t)r->extra) * WR_TAP_UNIT;
        whole = p.wide || p.placed ? whole : at; /* with its prefix */
    }
    k->drained = is_full ? k->limit : whole;
    recycle(t, s);
}

void wr_drain_events(struct wr_collect *c, struct wr_tapped *t)
{
    for (unsigned s = 0; s < slots_of(t); s++)
        if (is_in_use(t, s))
            drain_slot(c, t, s);
}

/* --- tallies --- */

static void add_tally(struct wr_collect *c, struct wr_tapped *t,
                      const struct wr_tap_tally *tally)
{
    struct wr_trace_counts k = tally->counts;
    struct wr_counted_file *f = wr_counted_of(&c->counted, t->process,
                                              wr_tapped_file(t, tally->handle));

    k.first_ns = wr_collect_ns(c, k.first_ns);
    k.last_ns = wr_collect_ns(c, k.last_ns);
    k.read_ns = (uint64_t)((double)k.read_ns * c->ns_per_stamp);
    k.write_ns = (uint64_t)((double)k.write_ns * c->ns_per_stamp);
    k.meta_ns = (uint64_t)((double)k.meta_ns * c->ns_per_stamp);
    k.max_read_ns = (uint64_t)((double)k.max_read_ns * c->ns_per_stamp);
    k.max_write_ns = (uint64_t)((double)k.max_write_ns * c->ns_per_stamp);
    t->read += k.bytes_read + k.stdio_bytes_read;
    t->written += k.bytes_written + k.stdio_bytes_written;
    c->sum.bytes_read += k.bytes_read + k.stdio_bytes_read;
    c->sum.bytes_written += k.bytes_written + k.stdio_bytes_written;
    c->sum.operations += k.reads + k.writes + k.stdio_reads + k.stdio_writes;
    if (f)
        wr_counts_merge(&f->counts, &k);
}

/* Read, not mapped: a hole of the file is no memory, and must not become some. */
void wr_drain_tallies(struct wr_collect *c, struct wr_tapped *t)
{
    struct wr_tap_tally block[8];
    uint64_t at = WR_TAP_HEAD + (uint64_t)WR_TAP_CHUNKS * WR_TAP_CHUNK;
    char path[300];
    int fd;

    if (!t->head->lost_events && t->head->bytes < c->control->budget_bytes)
        return;
    snprintf(path, sizeof(path), "%s/p%u", c->folder, t->number);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    for (off_t data = (off_t)at; (data = lseek(fd, data, SEEK_DATA)) >= 0;
         data += (off_t)sizeof(block)) {
        data -= (off_t)(((uint64_t)data - at) % sizeof(block));
        if (pread(fd, block, sizeof(block), data) != (ssize_t)sizeof(block))
            break;
        for (size_t k = 0; k < WR_ARRAY_LEN(block); k++)
            if (block[k].handle)
                add_tally(c, t, &block[k]);
    }
    close(fd);
}
