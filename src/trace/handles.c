/* handles.c - tables of the walk: open files, threads, what ranks read.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

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

struct wr_handle *wr_handle_of(struct wr_trace_walk *w, uint32_t process,
                               uint32_t file, bool make)
{
    struct wr_handle *h = wr_map_find(&w->handles, pair_key(process, file));

    if (h || !make || w->handles.count >= OPEN_MAX)
        return h;
    h = wr_map_add(&w->handles, pair_key(process, file));
    w->no_memory |= !h;
    return h;
}

void wr_handle_drop(struct wr_trace_walk *w, struct wr_handle *h)
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
void wr_pair_add(struct wr_trace_walk *w, const struct wr_trace_event *e,
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
