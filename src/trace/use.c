/* use.c - one event on an ordinary file: what it adds to the file, its thread
 * and its time; the tables of open files and threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"
#include "trace/analysis_private.h"

#define PAIRS_MAX     ((size_t)1 << 21) /* more are not followed */
#define OPEN_MAX      ((size_t)1 << 20) /* so many files open at once */
#define FIRST_THREADS ((size_t)128)

/* What is kept of a thread. */
#define THREAD_BYTES (sizeof(struct wr_trace_thread) + sizeof(struct wr_gaps))

static uint64_t pair_key(uint32_t a, uint32_t b)
{
    return ((uint64_t)a + 1) << 32 | b;
}

/* --- open files --- */

static struct wr_handle *handle_of(struct wr_trace_walk *w, uint32_t process,
                                   uint32_t file, bool make)
{
    struct wr_handle *h = wr_map_find(&w->handles, pair_key(process, file));

    if (h || !make || w->handles.count >= OPEN_MAX)
        return h;
    h = wr_map_add(&w->handles, pair_key(process, file));
    w->no_memory |= !h;
    return h;
}

static void drop_handle(struct wr_trace_walk *w, struct wr_handle *h)
{
    wr_map_drop(&w->handles, h);
}

/* --- threads --- */

/* Room for one more in the list: the file says how many there may be. */
static bool grow_threads(struct wr_trace_walk *w)
{
    struct wr_trace_analysis *a = w->a;
    size_t room = WR_MAX(2 * w->thread_cap, FIRST_THREADS);

    if (a->thread_count < w->thread_cap)
        return true;
    w->no_room = wr_trace_file_take(a->file, room / 2 * THREAD_BYTES, NULL) < 0;
    return !w->no_room &&
           wr_grow(&a->threads, &w->thread_cap, room, sizeof(*a->threads));
}

struct wr_trace_thread *wr_thread_of(struct wr_trace_walk *w, uint32_t process,
                                     uint32_t tid)
{
    const uint64_t key = pair_key(process, tid);
    struct wr_trace_analysis *a = w->a;
    struct wr_map_number *at;

    if (w->last_thread < a->thread_count &&
        a->threads[w->last_thread].process == process &&
        a->threads[w->last_thread].tid == tid)
        return &a->threads[w->last_thread];
    at = wr_map_find(&w->threads, key);
    if (!at) {
        at = grow_threads(w) ? wr_map_add(&w->threads, key) : NULL;
        if (!at) {
            w->no_memory = true;
            return NULL;
        }
        at->number = (uint32_t)a->thread_count++;
        a->threads[at->number] = (struct wr_trace_thread){
            .process = process,
            .tid = tid,
            .first_ns = UINT64_MAX,
            .first_set = UINT64_MAX};
    }
    w->last_thread = at->number;
    return &a->threads[w->last_thread];
}

/* --- what ranks read of files --- */

/* The sum of hashes does not depend on the order of reads. */
static void add_pair(struct wr_trace_walk *w, const struct wr_trace_event *e,
                     uint32_t rank)
{
    const uint64_t key = pair_key(e->file, rank);
    struct wr_pair *p = wr_map_find(&w->pairs, key);

    if (!p) {
        if (w->pairs.count >= PAIRS_MAX)
            return;
        p = wr_map_add(&w->pairs, key);
        if (!p) {
            w->no_memory = true;
            return;
        }
    }
    p->bytes += e->bytes;
    p->hash += wr_mix64(wr_mix64(e->offset) + e->bytes);
}

/* Free entries, whose key is 0, come last. */
static int by_file(const void *a, const void *b)
{
    uint64_t x = ((const struct wr_pair *)a)->key - 1;
    uint64_t y = ((const struct wr_pair *)b)->key - 1;

    return (x > y) - (x < y);
}

/* Files that several ranks read, and bytes that were read at the same places by
 * more than one. */
void wr_pairs_finish(struct wr_trace_walk *w)
{
    struct wr_pair *list = (struct wr_pair *)(void *)w->pairs.at;
    struct wr_trace_analysis *a = w->a;
    size_t n = w->pairs.count;

    if (!n)
        return;
    qsort(list, w->pairs.cap, sizeof(*list), by_file);
    for (size_t k = 0, end; k < n; k = end) {
        const struct wr_pair *first = &list[k];
        bool same = true;

        for (end = k + 1; end < n && list[end].key >> 32 == first->key >> 32;
             end++)
            same &= list[end].hash == first->hash;
        if (end - k < 2)
            continue;
        a->shared_files++;
        if (same)
            a->same_bytes += first->bytes * (uint64_t)(end - k - 1);
    }
}

static void latency(struct wr_trace_walk *w, int which, uint64_t ns)
{
    wr_hist_add(w->a->latency[which], ns);
}

/* --- the data set --- */

/* The 64ths of the file that a read touches. */
static uint64_t blocks_of(const struct wr_trace_event *e, uint64_t size)
{
    double step = (double)size / 64, end;
    unsigned first, last;

    if (e->offset == UINT64_MAX || e->bytes >= size)
        return UINT64_MAX;
    if (e->offset >= size)
        return 0;
    end = (double)e->offset + (double)e->bytes - 1;
    first = WR_MIN((unsigned)((double)e->offset / step), 63);
    last = end >= (double)size ? 63 : WR_MIN((unsigned)(end / step), 63);
    last = WR_MAX(first, last);
    return (UINT64_MAX >> (63 - last)) & (UINT64_MAX << first);
}

static bool pass_is_over(const struct wr_trace_use *u, uint64_t size)
{
    if (!u->passes)
        return true;
    return size && size != UINT64_MAX && u->covered == UINT64_MAX &&
           u->pass_bytes >= size - size / 500;
}

static void pass_begins(struct wr_trace_walk *w, struct wr_trace_use *u)
{
    u->covered = 0;
    u->pass_bytes = 0;
    u->pass_opens = 0;
    if (u->passes < WR_PASSES_MAX)
        u->passes++;
    w->pass_count = WR_MAX(w->pass_count, u->passes);
    w->passes[u->passes - 1].files++;
}

/* A file that is opened again after a good part of it was read: a pass of its
 * own, unless it is opened for each small part. */
static void set_opened(struct wr_trace_use *u, uint64_t size)
{
    if (!u->passes || !u->pass_bytes)
        return;
    if (size == UINT64_MAX ||
        u->pass_bytes / WR_MAX(1, u->pass_opens) >= size / 4) {
        u->covered = UINT64_MAX;
        u->pass_bytes = size == UINT64_MAX ? UINT64_MAX / 2 : size;
    }
}

static void count_pass(struct wr_trace_walk *w, const struct wr_trace_event *e,
                       struct wr_trace_use *u)
{
    uint64_t size = wr_trace_file_name(w->a->file, e->file)->size;
    struct wr_pass_stat *p;
    double t = (double)e->start_ns * 1e-9;

    if (pass_is_over(u, size) ||
        (size == UINT64_MAX && u->pass_bytes >= UINT64_MAX / 2))
        pass_begins(w, u);
    if (size && size != UINT64_MAX)
        u->covered |= blocks_of(e, size);
    u->pass_bytes += e->bytes;
    p = &w->passes[u->passes - 1];
    p->bytes += e->bytes;
    p->ns += e->dur_ns;
    p->reads++;
    p->weight += 1;
    p->time += t;
    p->time2 += t * t;
}

/* Misra and Gries: every size that is over 1/17 of all reads stays. */
static void count_size(struct wr_trace_walk *w, uint64_t bytes)
{
    struct wr_trace_common *free_one = NULL;

    for (size_t k = 0; k < WR_ARRAY_LEN(w->common); k++) {
        if (w->common[k].count && w->common[k].bytes == bytes) {
            w->common[k].count++;
            return;
        }
        if (!w->common[k].count)
            free_one = &w->common[k];
    }
    if (free_one) {
        *free_one = (struct wr_trace_common){bytes, 1};
        return;
    }
    for (size_t k = 0; k < WR_ARRAY_LEN(w->common); k++)
        w->common[k].count--;
}

static void size_add(struct wr_trace_size *sizes,
                     const struct wr_trace_event *e)
{
    struct wr_trace_size *s = &sizes[wr_trace_size_index(e->bytes)];

    s->count++;
    s->bytes += e->bytes;
    s->ns += e->dur_ns;
}

/* A read is sequential if it begins at or behind the end of the last one of the
 * process, consecutive if just there; the first one after an open is both at 0.
 * Returns whether it is consecutive. */
static bool count_order(struct wr_trace_walk *w, const struct wr_trace_event *e,
                        struct wr_trace_use *u)
{
    struct wr_handle *h = handle_of(w, e->process, e->file, true);
    bool consecutive;

    if (!h)
        return false;
    if (e->offset == UINT64_MAX) { /* without a place it goes on */
        consecutive = true;
        u->sequential++;
    } else {
        consecutive = e->offset == h->next_read;
        u->sequential += e->offset >= h->next_read;
        h->next_read = e->offset + e->bytes;
    }
    u->consecutive += consecutive;
    consecutive &= h->begun; /* the first one is small if the file is */
    u->pass_opens += !h->begun;
    h->begun = true;
    return consecutive;
}

/* How long a fault took is not known; from one to the next of a thread it was at
 * most so long, and hardly less where it does nothing else. */
static void count_fault(struct wr_trace_walk *w, const struct wr_trace_event *e,
                        struct wr_trace_thread *t)
{
    uint64_t gap = e->start_ns - WR_MIN(e->start_ns, t->last_fault);

    if (e->dur_ns)
        latency(w, WR_TRACE_LAT_FAULT, e->dur_ns);
    else if (t->last_fault && gap && gap < WR_FAULT_GAP_NS)
        latency(w, WR_TRACE_LAT_FAULT, gap);
    t->last_fault = WR_MAX(t->last_fault, e->start_ns);
}

static void set_read(struct wr_trace_walk *w, const struct wr_trace_event *e,
                     struct wr_trace_use *u, struct wr_trace_bin *bin)
{
    uint32_t group = w->groups[e->process];

    wr_trace_save_read(w, e);
    count_pass(w, e, u);
    if (count_order(w, e, u) && e->bytes < WR_SMALL_READ) {
        latency(w, WR_TRACE_LAT_SMALL_READ, e->dur_ns);
        u->small_reads++;
        u->small_ns += e->dur_ns;
    }
    count_size(w, e->bytes);
    size_add(w->a->read_sizes, e);
    u->groups |= UINT64_C(1) << (group % 64);
    u->last_group = group;
    if (w->a->ranks > 1 && w->a->actors[e->process].rank >= 0)
        add_pair(w, e, group);
    latency(w, WR_TRACE_LAT_SET_READ, e->dur_ns);
    wr_trace_meanwhile_read(w, e);
    bin->set_reads++;
    bin->set_bytes += e->bytes;
    bin->pass_sum += u->passes;
    if (u->evaluation)
        bin->eval_bytes += e->bytes;
    bin->max_read_ns = WR_MAX(bin->max_read_ns, e->dur_ns);
}

/* The pause before a sample begins, and time spent on the data set. */
static void set_thread(struct wr_trace_walk *w, const struct wr_trace_event *e,
                       struct wr_trace_thread *t, uint64_t size)
{
    bool big = size != UINT64_MAX && size >= WR_BIG_FILE;
    bool reads = wr_trace_op_class(e->op) == WR_TRACE_CLASS_READ;

    if (!t->gaps && !(t->gaps = calloc(1, sizeof(*t->gaps)))) {
        w->no_memory = true;
        return;
    }
    if (t->first_set == UINT64_MAX)
        t->first_set = e->start_ns;
    else if (e->start_ns > t->last_set &&
             (e->op == WR_TRACE_OPEN || (big && reads) ||
              (reads && e->start_ns - t->last_set >= WR_WORK_NS)))
        wr_gaps_add(t->gaps, e->start_ns - t->last_set);
    t->last_set = WR_MAX(t->last_set, e->start_ns + e->dur_ns);
    t->set_ns += e->dur_ns;
    t->set_opens += e->op == WR_TRACE_OPEN;
    if (reads) {
        t->set_reads++;
        t->set_bytes += e->bytes;
    }
}

static void set_actor(struct wr_trace_walk *w, const struct wr_trace_event *e)
{
    struct wr_trace_actor *p = &w->a->actors[e->process];

    p->set_ns += e->dur_ns;
    p->set_opens += e->op == WR_TRACE_OPEN;
    if (wr_trace_op_class(e->op) != WR_TRACE_CLASS_READ)
        return;
    p->set_bytes += e->bytes;
    p->first_set_ns = WR_MIN(p->first_set_ns, e->start_ns);
    p->last_set_ns = p->last_set_ns == UINT64_MAX
                         ? e->start_ns
                         : WR_MAX(p->last_set_ns, e->start_ns);
}

/* --- all files --- */

static void count_op(struct wr_trace_use *u, const struct wr_trace_event *e)
{
    switch (e->op) {
    case WR_TRACE_OPEN:
        u->opens++;
        break;
    case WR_TRACE_CLOSE:
        u->closes++;
        break;
    case WR_TRACE_SEEK:
        u->seeks++;
        break;
    case WR_TRACE_STAT:
    case WR_TRACE_ACCESS:
        u->stats++;
        break;
    case WR_TRACE_MMAP:
        u->mmaps++;
        break;
    case WR_TRACE_FAULT:
        u->faults++;
        u->fault_ns += e->dur_ns;
        break;
    case WR_TRACE_RENAME:
        u->renames++;
        break;
    case WR_TRACE_READDIR:
        u->entries = WR_MAX(u->entries, (uint32_t)WR_MIN(e->bytes, UINT32_MAX));
        break;
    default:
        u->others++;
    }
}

static void count_data(struct wr_trace_use *u, const struct wr_trace_event *e)
{
    uint64_t end = e->offset == UINT64_MAX ? 0 : e->offset + e->bytes;

    switch (wr_trace_op_class(e->op)) {
    case WR_TRACE_CLASS_READ:
        u->reads++;
        u->zero_reads += !e->bytes;
        u->bytes_read += e->bytes;
        u->read_ns += e->dur_ns;
        if (e->op == WR_TRACE_FAULT)
            count_op(u, e);
        if (e->bytes)
            u->end_read = WR_MAX(u->end_read, end);
        break;
    case WR_TRACE_CLASS_WRITE:
        u->writes++;
        u->bytes_written += e->bytes;
        u->write_ns += e->dur_ns;
        u->end_written = WR_MAX(u->end_written, end);
        break;
    case WR_TRACE_CLASS_SYNC:
        u->syncs++;
        u->sync_ns += e->dur_ns;
        break;
    default:
        count_op(u, e);
        u->meta_ns += e->dur_ns;
    }
}

static void count_bin(struct wr_trace_bin *bin, const struct wr_trace_event *e,
                      bool set)
{
    switch (wr_trace_op_class(e->op)) {
    case WR_TRACE_CLASS_READ:
        if (set)
            bin->set_ns += e->dur_ns;
        else
            bin->other_read_bytes += e->bytes;
        break;
    case WR_TRACE_CLASS_WRITE:
        bin->written_bytes += e->bytes;
        bin->write_ns += e->dur_ns;
        break;
    case WR_TRACE_CLASS_SYNC:
        bin->sync_ns += e->dur_ns;
        break;
    default:
        bin->meta_ops++;
        bin->meta_ns += e->dur_ns;
    }
}

static void count_latency(struct wr_trace_walk *w,
                          const struct wr_trace_event *e)
{
    enum wr_trace_class class = wr_trace_op_class(e->op);

    if (e->op == WR_TRACE_OPEN)
        latency(w, WR_TRACE_LAT_OPEN, e->dur_ns);
    else if (e->op == WR_TRACE_STAT)
        latency(w, WR_TRACE_LAT_STAT, e->dur_ns);
    else if (class == WR_TRACE_CLASS_WRITE)
        latency(w, WR_TRACE_LAT_WRITE, e->dur_ns);
    else if (class == WR_TRACE_CLASS_SYNC)
        latency(w, WR_TRACE_LAT_SYNC, e->dur_ns);
    if (class == WR_TRACE_CLASS_WRITE && e->bytes)
        size_add(w->a->write_sizes, e);
}

/* Opened once more, or closed for the last time. */
static void follow(struct wr_trace_walk *w, const struct wr_trace_event *e,
                   struct wr_trace_use *u)
{
    struct wr_handle *h = handle_of(w, e->process, e->file,
                                    e->op == WR_TRACE_OPEN);

    if (!h)
        return;
    if (e->op == WR_TRACE_OPEN) {
        h->opens++;
        h->next_read = 0;
        h->begun = false;
        if (!u->bytes_written)
            set_opened(u, wr_trace_file_name(w->a->file, e->file)->size);
    } else if (h->opens <= 1) {
        drop_handle(w, h);
    } else {
        h->opens--;
    }
}

static void outputs(struct wr_trace_walk *w, const struct wr_trace_event *e,
                    struct wr_trace_thread *t, struct wr_trace_use *u)
{
    enum wr_trace_class class = wr_trace_op_class(e->op);
    bool writes = class == WR_TRACE_CLASS_WRITE || class == WR_TRACE_CLASS_SYNC;

    wr_trace_save_event(w, e, u);
    if (!writes)
        return;
    t->output_ns += e->dur_ns;
    if (u->pass_bytes < WR_SAVE_BYTES && e->bytes < WR_SMALL_OUTPUT) {
        t->small_outputs++;
        t->small_output_ns += e->dur_ns;
    }
}

void wr_trace_use_event(struct wr_trace_walk *w, const struct wr_trace_event *e,
                        struct wr_trace_thread *t, struct wr_trace_bin *bin)
{
    struct wr_trace_use *u = &w->a->uses[e->file];
    bool failed = e->flags & WR_TRACE_FAILED;
    bool writing = wr_trace_op_class(e->op) == WR_TRACE_CLASS_WRITE ||
                   (e->op == WR_TRACE_OPEN && (e->flags & WR_TRACE_WRITES));
    bool set = !writing && !u->bytes_written && !failed;

    if (!failed && (e->op == WR_TRACE_OPEN || e->op == WR_TRACE_CLOSE))
        follow(w, e, u);
    if (writing || u->bytes_written)
        outputs(w, e, t, u);
    count_data(u, e);
    count_bin(bin, e, set);
    count_latency(w, e);
    u->failed += failed;
    u->first_ns = WR_MIN(u->first_ns, e->start_ns);
    u->last_ns = u->last_ns == UINT64_MAX
                     ? e->start_ns + e->dur_ns
                     : WR_MAX(u->last_ns, e->start_ns + e->dur_ns);
    if (!set || e->op == WR_TRACE_STAT || e->op == WR_TRACE_ACCESS ||
        e->op == WR_TRACE_OPENDIR || e->op == WR_TRACE_READDIR) {
        if (!writing && !u->bytes_written) {
            bin->scan_ops += e->op != WR_TRACE_OPEN;
            bin->scan_ns += e->op != WR_TRACE_OPEN ? e->dur_ns : 0;
        }
        return;
    }
    if (e->op == WR_TRACE_FAULT)
        count_fault(w, e, t);
    set_thread(w, e, t, wr_trace_file_name(w->a->file, e->file)->size);
    set_actor(w, e);
    if (wr_trace_op_class(e->op) == WR_TRACE_CLASS_READ && e->bytes)
        set_read(w, e, u, bin);
}
