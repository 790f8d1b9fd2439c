/* arena.c - memory for encoded samples in flight: a ring, by bytes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/arena.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/shares.h"

#define ALIGN ((size_t)4096) /* O_DIRECT, and no cache line shared */

bool wr_arena_init(struct wr_arena *a, size_t size, unsigned blocks,
                   size_t heap_limit)
{
    *a = (struct wr_arena){.cap = WR_ALIGN_UP(size, ALIGN),
                           .want = size,
                           .heap_limit = heap_limit};
    a->size = a->cap;
    /* Pieces that are free but not yet taken back need places too. */
    a->piece_cap = 4 * blocks;
    a->pieces = calloc(a->piece_cap, sizeof(*a->pieces));
    a->mem = wr_big_alloc(WR_MAX(a->cap, (size_t)2 << 20));
    return a->pieces && a->mem;
}

void wr_arena_done(struct wr_arena *a)
{
    wr_big_free(a->mem, WR_MAX(a->cap, (size_t)2 << 20));
    free(a->pieces);
    *a = (struct wr_arena){0};
}

static void reclaim(struct wr_arena *a)
{
    while (a->piece_count) {
        struct wr_piece *p = &a->pieces[a->piece_head];

        if (atomic_load_explicit(&p->in_use, memory_order_acquire))
            return;
        a->tail = p->end;
        a->piece_head = (a->piece_head + 1) % a->piece_cap;
        a->piece_count--;
    }
    a->head = a->tail = 0;
}

/* Offset of `size` free bytes in one piece, or SIZE_MAX. One byte at least
 * stays free, so that a full ring does not look empty. */
static size_t find_room(const struct wr_arena *a, size_t size)
{
    if (a->head >= a->tail) {
        if (a->size - a->head >= size && (a->tail || a->head + size < a->size))
            return a->head;
        return size < a->tail ? 0 : SIZE_MAX;
    }
    return a->tail - a->head > size ? a->head : SIZE_MAX;
}

/* Its bytes are the process's already. */
static bool heap_block(struct wr_arena *a, size_t size, struct wr_block *b)
{
    if (posix_memalign(&b->mem, ALIGN, size)) {
        wr_share_give(WR_SHARE_MEMORY, size);
        return false;
    }
    b->piece = NULL;
    b->arena = a;
    b->heap_bytes = size;
    atomic_fetch_add(&a->heap_bytes, size);
    return true;
}

bool wr_arena_alloc_heap(struct wr_arena *a, size_t size, struct wr_block *b)
{
    size = WR_ALIGN_UP(size, ALIGN);
    wr_share_take_anyway(WR_SHARE_MEMORY, size);
    return heap_block(a, size, b);
}

/* The only one is always granted. */
static bool alloc_beside(struct wr_arena *a, size_t size, struct wr_block *b)
{
    size_t now = atomic_load(&a->heap_bytes);

    if (!now)
        return wr_arena_alloc_heap(a, size, b);
    return size <= a->heap_limit && now <= a->heap_limit - size &&
           wr_share_take(WR_SHARE_MEMORY, size) && heap_block(a, size, b);
}

/* The ring ends earlier or later, when nothing lies there. */
static void resize(struct wr_arena *a)
{
    size_t want = WR_MIN(WR_ALIGN_UP(a->want, ALIGN), a->cap);

    if (want != a->size && a->head >= a->tail && want > a->head)
        a->size = want;
}

bool wr_arena_alloc(struct wr_arena *a, size_t size, struct wr_block *b)
{
    struct wr_piece *p;
    size_t at;

    size = WR_ALIGN_UP(size, ALIGN);
    resize(a);
    if (size > a->size / 2)
        return alloc_beside(a, size, b);
    reclaim(a);
    at = a->piece_count < a->piece_cap ? find_room(a, size) : SIZE_MAX;
    if (at == SIZE_MAX)
        return false;
    p = &a->pieces[(a->piece_head + a->piece_count) % a->piece_cap];
    a->piece_count++;
    p->end = a->head = at + size;
    atomic_store_explicit(&p->in_use, true, memory_order_relaxed);
    b->mem = a->mem + at;
    b->piece = p;
    return true;
}

void wr_block_free(struct wr_block *b)
{
    if (b->piece) {
        atomic_store_explicit(&b->piece->in_use, false, memory_order_release);
    } else if (b->mem) {
        free(b->mem);
        atomic_fetch_sub(&b->arena->heap_bytes, b->heap_bytes);
        wr_share_give(WR_SHARE_MEMORY, b->heap_bytes);
    }
    b->mem = NULL;
    b->piece = NULL;
}
