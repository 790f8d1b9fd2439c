/* keyed.c - pointers by number: processes, threads, requests.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/collect/keyed.h"

void *wr_keyed_at(const struct wr_keyed *t, uint64_t key)
{
    const struct wr_map_pointer *e = wr_map_find(&t->map, key + 1);

    return e ? e->value : NULL;
}

bool wr_keyed_put(struct wr_keyed *t, uint64_t key, void *value)
{
    struct wr_map_pointer *e = wr_map_find(&t->map, key + 1);

    t->map.size = sizeof(*e);
    if (!e && key < UINT64_MAX)
        e = wr_map_add(&t->map, key + 1);
    if (e)
        e->value = value;
    return e != NULL;
}

void *wr_keyed_remove(struct wr_keyed *t, uint64_t key)
{
    struct wr_map_pointer *e = wr_map_find(&t->map, key + 1);
    void *value = e ? e->value : NULL;

    if (e)
        wr_map_drop(&t->map, e);
    return value;
}

void wr_keyed_done(struct wr_keyed *t)
{
    wr_map_done(&t->map);
}
