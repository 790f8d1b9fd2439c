/* due.c - a heap of things that are due at a time, the earliest first.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/due.h"

#include <stdlib.h>

#include "base/mem.h"

static bool is_before(const struct wr_due *a, const struct wr_due *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

void wr_due_done(struct wr_due_heap *h)
{
    free(h->items);
    *h = (struct wr_due_heap){0};
}

bool wr_due_reserve(struct wr_due_heap *h, size_t count)
{
    return wr_grow(&h->items, &h->cap, count, sizeof(*h->items));
}

bool wr_due_push(struct wr_due_heap *h, struct wr_due *item)
{
    size_t i = h->count, up;

    if (!wr_due_reserve(h, h->count + 1))
        return false;
    item->order = h->pushed++;
    for (; i > 0; i = up) {
        up = (i - 1) / 2;
        if (!is_before(item, h->items[up]))
            break;
        h->items[i] = h->items[up];
    }
    h->items[i] = item;
    h->count++;
    return true;
}

/* Puts the last one where the first was taken out, and mends the order. */
static void refill_top(struct wr_due_heap *h)
{
    struct wr_due *last = h->items[--h->count];
    size_t i = 0, down;

    for (;; i = down) {
        down = 2 * i + 1;
        if (down >= h->count)
            break;
        if (down + 1 < h->count &&
            is_before(h->items[down + 1], h->items[down]))
            down++;
        if (!is_before(h->items[down], last))
            break;
        h->items[i] = h->items[down];
    }
    h->items[i] = last;
}

struct wr_due *wr_due_pop(struct wr_due_heap *h, uint64_t now_ns)
{
    struct wr_due *first;

    if (h->count == 0 || h->items[0]->at_ns > now_ns)
        return NULL;
    first = h->items[0];
    refill_top(h);
    return first;
}

uint64_t wr_due_next(const struct wr_due_heap *h)
{
    return h->count ? h->items[0]->at_ns : WR_DUE_NEVER;
}
