/* keyed.h - pointers by number: processes, threads, requests.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_COLLECT_KEYED_H
#define WR_TRACE_COLLECT_KEYED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

/* Zeroed at first. What the pointers point at is the caller's. */
struct wr_keyed {
    struct wr_map map; /* keys are numbers + 1 */
};

void *wr_keyed_at(const struct wr_keyed *t, uint64_t key); /* NULL: none */
/* In place of what was there; false: no memory. */
bool wr_keyed_put(struct wr_keyed *t, uint64_t key, void *value);
void *wr_keyed_remove(struct wr_keyed *t, uint64_t key); /* what was there */
void wr_keyed_done(struct wr_keyed *t);

/* For a walk over all: NULL where place `k` below map.cap is free. */
static inline void *wr_keyed_in(const struct wr_keyed *t, size_t k)
{
    const struct wr_map_pointer *e = wr_map_at(&t->map, k);

    return e ? e->value : NULL;
}

#endif
