/* extent.c - bytes of a shard's data and the memory that they belong to.
 * SPDX-License-Identifier: Apache-2.0 */
#include "checkpoint/extent.h"

#include "base/mem.h"
#include "storage/storage.h"

#define PAGE ((uint64_t)WR_DIRECT_ALIGN)

static void *memory_at(const struct wr_extent *x, uint64_t offset)
{
    return (uint8_t *)x->at + (offset - x->begin);
}

size_t wr_extents_join(struct wr_extent *x, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        struct wr_extent *last = &x[n - (n > 0)];

        if (x[i].begin == x[i].end)
            continue;
        if (n && last->end == x[i].begin &&
            memory_at(last, last->end) == x[i].at)
            last->end = x[i].end;
        else
            x[n++] = x[i];
    }
    return n;
}

struct wr_extent wr_extent_pages(const struct wr_extent *x)
{
    uint64_t begin = WR_ALIGN_UP(x->begin, PAGE), end = x->end & ~(PAGE - 1);
    void *at;

    if (begin >= end)
        return (struct wr_extent){0};
    at = memory_at(x, begin);
    if ((uintptr_t)at % PAGE)
        return (struct wr_extent){0};
    return (struct wr_extent){begin, end, at};
}
