/* map.h - entries by a key of 64 bits.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The key is the first member of an entry and is never 0. It is the number that
 * is looked for, or the hash of a text: then several entries may have the same
 * key, and the caller compares what they stand for:
 *
 *     for (e = wr_map_find(m, key); e && !is_it(e); e = wr_map_next(m, e))
 *         ;
 *
 * Entries lie in the map itself (open addressing), so that most are found
 * within a line of cache; they move when one is added or dropped. */
#ifndef WR_BASE_MAP_H
#define WR_BASE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"

/* Zeroed but for `size`: empty. */
struct wr_map {
    size_t size; /* of an entry */
    char *at;    /* owned: `cap` entries, key 0: free */
    size_t cap;  /* a power of two, or 0 */
    size_t count;
};

/* The common entries. */
struct wr_map_number {
    uint64_t key;
    uint32_t number;
};

struct wr_map_pointer {
    uint64_t key;
    void *value;
};

static inline uint64_t wr_map_hashed(uint64_t hash)
{
    return hash ? hash : 1;
}

/* Place `k` below `cap`, for a walk over all of them: NULL is a free one. */
static inline void *wr_map_at(const struct wr_map *m, size_t k)
{
    char *e = m->at + k * m->size;

    return *(const uint64_t *)(void *)e ? e : NULL;
}

static inline size_t wr_map_home(const struct wr_map *m, uint64_t key)
{
    return (size_t)wr_mix64(key) & (m->cap - 1);
}

/* The first entry of the key from place `k` on. */
static inline void *wr_map_from(const struct wr_map *m, uint64_t key, size_t k)
{
    for (;; k++) {
        uint64_t *e = wr_map_at(m, k & (m->cap - 1));

        if (!e || *e == key)
            return e;
    }
}

/* NULL: there is none. */
static inline void *wr_map_find(const struct wr_map *m, uint64_t key)
{
    return m->cap ? wr_map_from(m, key, wr_map_home(m, key)) : NULL;
}

/* Another one of the same key. */
static inline void *wr_map_next(const struct wr_map *m, const void *entry)
{
    size_t k = (size_t)((const char *)entry - m->at) / m->size;

    return wr_map_from(m, *(const uint64_t *)entry, k + 1);
}

/* One more, zeroed but for its key; NULL: out of memory, nothing has changed. */
void *wr_map_add(struct wr_map *m, uint64_t key);
void wr_map_drop(struct wr_map *m, void *entry);
/* Empty again, and without memory. */
void wr_map_done(struct wr_map *m);

#endif
