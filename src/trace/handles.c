/* handles.c - tables of the walk: open files, threads, what ranks read.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "trace/analysis_private.h"

#define FIRST     256               /* places of a new table: a power of two */
#define PAIRS_MAX ((size_t)1 << 21) /* more are not followed */
#define OPEN_MAX  ((size_t)1 << 20) /* so many files open at once */

/* What is kept of a thread. */
#define THREAD_BYTES (sizeof(struct wr_trace_thread) + sizeof(struct wr_gaps))

static size_t place(uint32_t a, uint32_t b, size_t cap)
{
    return (size_t)wr_mix64((uint64_t)a << 32 | b) & (cap - 1);
}

/* --- open files --- */

static struct wr_handle *find_handle(struct wr_handle *list, size_t cap,
                                     uint32_t process, uint32_t file)
{
    size_t k = place(process, file, cap);

    while (list[k].process &&
           (list[k].process != process + 1 || list[k].file != file))
        k = (k + 1) & (cap - 1);
    return &list[k];
}

static bool grow_handles(struct wr_trace_walk *w)
{
    size_t cap = w->handle_cap ? w->handle_cap * 2 : FIRST;
    struct wr_handle *list = calloc(cap, sizeof(*list));

    if (!list)
        return false;
    for (size_t k = 0; k < w->handle_cap; k++)
        if (w->handles[k].process)
            *find_handle(list, cap, w->handles[k].process - 1,
                         w->handles[k].file) = w->handles[k];
    free(w->handles);
    w->handles = list;
    w->handle_cap = cap;
    return true;
}

struct wr_handle *wr_handle_of(struct wr_trace_walk *w, uint32_t process,
                               uint32_t file, bool make)
{
    struct wr_handle *h;

    if (make && (w->handle_count + 1) * 2 > w->handle_cap &&
        w->handle_count < OPEN_MAX && !grow_handles(w)) {
        w->no_memory = true;
        return NULL;
    }
    if (!w->handle_cap)
        return NULL;
    h = find_handle(w->handles, w->handle_cap, process, file);
    if (h->process)
        return h;
    if (!make || (w->handle_count + 1) * 2 > w->handle_cap)
        return NULL;
    *h = (struct wr_handle){.process = process + 1, .file = file};
    w->handle_count++;
    return h;
}

/* Those behind it in the row move up, as far as their own place allows. */
void wr_handle_drop(struct wr_trace_walk *w, struct wr_handle *h)
{
    size_t mask = w->handle_cap - 1, hole = (size_t)(h - w->handles), k = hole;

    w->handle_count--;
    for (;;) {
        size_t home;

        k = (k + 1) & mask;
        if (!w->handles[k].process)
            break;
        home = place(w->handles[k].process - 1, w->handles[k].file,
                     w->handle_cap);
        if (((k - home) & mask) >= ((k - hole) & mask)) {
            w->handles[hole] = w->handles[k];
            hole = k;
        }
    }
    w->handles[hole].process = 0;
}

/* --- threads --- */

static uint32_t *find_thread(struct wr_trace_walk *w, uint32_t process,
                             uint32_t tid)
{
    size_t k = place(process, tid, w->thread_hash_cap);

    while (w->thread_hash[k]) {
        const struct wr_trace_thread *t = &w->a->threads[w->thread_hash[k] - 1];

        if (t->process == process && t->tid == tid)
            break;
        k = (k + 1) & (w->thread_hash_cap - 1);
    }
    return &w->thread_hash[k];
}

static bool grow_threads(struct wr_trace_walk *w)
{
    struct wr_trace_analysis *a = w->a;
    size_t cap = w->thread_hash_cap ? w->thread_hash_cap * 2 : FIRST;
    uint32_t *hash;

    w->no_room = wr_trace_file_take(a->file, cap / 4 * THREAD_BYTES, NULL) < 0;
    if (w->no_room)
        return false;
    hash = calloc(cap, sizeof(*hash));

    if (!hash || !wr_grow(&a->threads, &w->thread_cap, cap / 2 + 1,
                          sizeof(*a->threads))) {
        free(hash);
        return false;
    }
    free(w->thread_hash);
    w->thread_hash = hash;
    w->thread_hash_cap = cap;
    for (size_t k = 0; k < a->thread_count; k++)
        *find_thread(w, a->threads[k].process,
                     a->threads[k].tid) = (uint32_t)k + 1;
    return true;
}

struct wr_trace_thread *wr_thread_of(struct wr_trace_walk *w, uint32_t process,
                                     uint32_t tid)
{
    struct wr_trace_analysis *a = w->a;
    uint32_t *at;

    if (w->last_thread < a->thread_count &&
        a->threads[w->last_thread].process == process &&
        a->threads[w->last_thread].tid == tid)
        return &a->threads[w->last_thread];
    if ((a->thread_count + 1) * 2 > w->thread_hash_cap && !grow_threads(w)) {
        w->no_memory = true;
        return NULL;
    }
    at = find_thread(w, process, tid);
    if (!*at) {
        a->threads[a->thread_count] = (struct wr_trace_thread){
            .process = process,
            .tid = tid,
            .first_ns = UINT64_MAX,
            .first_set = UINT64_MAX};
        *at = (uint32_t)++a->thread_count;
    }
    w->last_thread = *at - 1;
    return &a->threads[w->last_thread];
}

/* --- what ranks read of files --- */

static struct wr_pair *find_pair(struct wr_pair *list, size_t cap,
                                 uint32_t file, uint32_t rank)
{
    size_t k = place(rank, file, cap);

    while (list[k].rank && (list[k].rank != rank + 1 || list[k].file != file))
        k = (k + 1) & (cap - 1);
    return &list[k];
}

static bool grow_pairs(struct wr_trace_walk *w)
{
    size_t cap = w->pair_cap ? w->pair_cap * 2 : FIRST;
    struct wr_pair *list = calloc(cap, sizeof(*list));

    if (!list)
        return false;
    for (size_t k = 0; k < w->pair_cap; k++)
        if (w->pairs[k].rank)
            *find_pair(list, cap, w->pairs[k].file,
                       w->pairs[k].rank - 1) = w->pairs[k];
    free(w->pairs);
    w->pairs = list;
    w->pair_cap = cap;
    return true;
}

/* The sum of hashes does not depend on the order of reads. */
void wr_pair_add(struct wr_trace_walk *w, const struct wr_trace_event *e,
                 uint32_t rank)
{
    struct wr_pair *p;

    if ((w->pair_count + 1) * 2 > w->pair_cap) {
        if (w->pair_count >= PAIRS_MAX)
            return;
        if (!grow_pairs(w)) {
            w->no_memory = true;
            return;
        }
    }
    p = find_pair(w->pairs, w->pair_cap, e->file, rank);
    if (!p->rank) {
        *p = (struct wr_pair){.file = e->file, .rank = rank + 1};
        w->pair_count++;
    }
    p->bytes += e->bytes;
    p->hash += wr_mix64(wr_mix64(e->offset) + e->bytes);
}

static int by_file(const void *a, const void *b)
{
    const struct wr_pair *x = a, *y = b;

    if (!x->rank != !y->rank)
        return !x->rank - !y->rank;
    return (x->file > y->file) - (x->file < y->file);
}

/* Files that several ranks read, and bytes that were read at the same places by
 * more than one. */
void wr_pairs_finish(struct wr_trace_walk *w)
{
    struct wr_trace_analysis *a = w->a;
    size_t n = w->pair_count;

    if (!n)
        return;
    qsort(w->pairs, w->pair_cap, sizeof(*w->pairs), by_file);
    for (size_t k = 0, end; k < n; k = end) {
        const struct wr_pair *first = &w->pairs[k];
        bool same = true;

        for (end = k + 1; end < n && w->pairs[end].file == first->file; end++)
            same &= w->pairs[end].hash == first->hash;
        if (end - k < 2)
            continue;
        a->shared_files++;
        if (same)
            a->same_bytes += first->bytes * (uint64_t)(end - k - 1);
    }
}
