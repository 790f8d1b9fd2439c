/* arena.h - memory for encoded samples in flight: a ring, by bytes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Samples differ a hundredfold in size; a ring of bytes holds `depth` of them
 * in the memory that they really need. One thread allocates, any thread
 * frees; space comes back in the order it was given out. */
#ifndef WR_PIPELINE_ARENA_H
#define WR_PIPELINE_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of the ring that was given out and not yet taken back. */
struct wr_piece {
    atomic_bool in_use;
    size_t end; /* ring offset behind it */
};

struct wr_block {
    void *mem;
    struct wr_piece *piece; /* borrowed from the arena; NULL: from the heap */
    struct wr_arena *arena; /* borrowed; counts `heap_bytes`; may be NULL */
    size_t heap_bytes;
};

struct wr_arena {
    uint8_t *mem;            /* owned */
    size_t cap;              /* bytes of mem */
    size_t size, head, tail; /* used of it; head == tail: empty */
    size_t want;             /* what `size` becomes as soon as it can grow */
    struct wr_piece *pieces; /* owned: in ring order, a ring itself */
    unsigned piece_cap, piece_head, piece_count;
    size_t heap_limit;        /* for blocks that do not fit into the ring */
    atomic_size_t heap_bytes; /* they have now */
};

/* For about `blocks` blocks at once. */
bool wr_arena_init(struct wr_arena *a, size_t size, unsigned blocks,
                   size_t heap_limit);
void wr_arena_done(struct wr_arena *a);

/* Fills *b with `size` bytes aligned to 4096; false when there is no room
 * now. Blocks larger than half of the ring come from the heap, up to
 * heap_limit bytes at once and what the process has (base/shares.h); one of
 * them is always granted. */
bool wr_arena_alloc(struct wr_arena *a, size_t size, struct wr_block *b);

/* The same from the heap, whatever it has already. */
bool wr_arena_alloc_heap(struct wr_arena *a, size_t size, struct wr_block *b);

/* Any thread. */
void wr_block_free(struct wr_block *b);

#endif
