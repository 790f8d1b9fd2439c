/* heap.h - things by a rising number: what comes first, first.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times are in nanoseconds. A double holds them exactly for 104 days, and to a
 * few nanoseconds for years. */
#ifndef WR_PLAN_HEAP_H
#define WR_PLAN_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wr_plan_item {
    double key;
    uint64_t order; /* of equal keys, that of their coming */
    uint32_t id, kind;
};

struct wr_plan_heap {
    struct wr_plan_item *at; /* owned; at[0] is the first */
    size_t count, cap;
    uint64_t added;
};

/* A zeroed heap is empty. False: no memory. */
bool wr_plan_heap_add(struct wr_plan_heap *h, double key, uint32_t kind,
                      uint32_t id);
/* Takes the first; there must be one. */
struct wr_plan_item wr_plan_heap_pop(struct wr_plan_heap *h);
void wr_plan_heap_done(struct wr_plan_heap *h);

#endif
