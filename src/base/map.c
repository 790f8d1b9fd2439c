/* map.c - entries by a key of 64 bits: what changes the map.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 64 /* places: a power of two */

/* The free place where an entry of this key belongs. */
static void *free_place(const struct wr_map *m, uint64_t key)
{
    size_t k = wr_map_home(m, key);

    while (wr_map_at(m, k & (m->cap - 1)))
        k++;
    return m->at + (k & (m->cap - 1)) * m->size;
}

static bool grow(struct wr_map *m)
{
    struct wr_map larger = *m;

    larger.cap = m->cap ? m->cap * 2 : LEAST;
    larger.at = calloc(larger.cap, m->size);
    if (!larger.at)
        return false;
    for (size_t k = 0; k < m->cap; k++) {
        const uint64_t *e = wr_map_at(m, k);

        if (e)
            memcpy(free_place(&larger, *e), e, m->size);
    }
    free(m->at);
    *m = larger;
    return true;
}

void *wr_map_add(struct wr_map *m, uint64_t key)
{
    uint64_t *e;

    assert(key && m->size);
    /* Three quarters full: longer rows would cost more than the memory. */
    if ((m->count + 1) * 4 > m->cap * 3 && !grow(m))
        return NULL;
    e = free_place(m, key);
    memset(e, 0, m->size);
    *e = key;
    m->count++;
    return e;
}

/* Those after it in the row move up, as far as their own place allows: nothing
 * marks where an entry was. */
void wr_map_drop(struct wr_map *m, void *entry)
{
    size_t mask = m->cap - 1, k = (size_t)((char *)entry - m->at) / m->size;
    size_t hole = k;
    const uint64_t *e;

    while ((e = wr_map_at(m, k = (k + 1) & mask)))
        if (((k - wr_map_home(m, *e)) & mask) >= ((k - hole) & mask)) {
            memcpy(m->at + hole * m->size, e, m->size);
            hole = k;
        }
    memset(m->at + hole * m->size, 0, sizeof(uint64_t));
    m->count--;
}

void wr_map_done(struct wr_map *m)
{
    free(m->at);
    *m = (struct wr_map){.size = m->size};
}
