/* heap.c - things by a rising number: what comes first, first.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan/heap.h"

#include <stdlib.h>

#include "base/mem.h"

static bool is_before(const struct wr_plan_item *a,
                      const struct wr_plan_item *b)
{
    return a->key < b->key || (a->key <= b->key && a->order < b->order);
}

bool wr_plan_heap_add(struct wr_plan_heap *h, double key, uint32_t kind,
                      uint32_t id)
{
    struct wr_plan_item item = {
        .key = key, .order = h->added, .id = id, .kind = kind};
    size_t k = h->count;

    if (!wr_grow(&h->at, &h->cap, h->count + 1, sizeof(*h->at)))
        return false;
    h->added++;
    h->count++;
    for (; k && is_before(&item, &h->at[(k - 1) / 2]); k = (k - 1) / 2)
        h->at[k] = h->at[(k - 1) / 2];
    h->at[k] = item;
    return true;
}

struct wr_plan_item wr_plan_heap_pop(struct wr_plan_heap *h)
{
    struct wr_plan_item first = h->at[0], last = h->at[--h->count];
    size_t k = 0, child;

    while ((child = 2 * k + 1) < h->count) {
        if (child + 1 < h->count && is_before(&h->at[child + 1], &h->at[child]))
            child++;
        if (!is_before(&h->at[child], &last))
            break;
        h->at[k] = h->at[child];
        k = child;
    }
    h->at[k] = last;
    return first;
}

void wr_plan_heap_done(struct wr_plan_heap *h)
{
    free(h->at);
    *h = (struct wr_plan_heap){0};
}
