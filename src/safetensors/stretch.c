/* stretch.c - bytes of a shard's data and the memory that they belong to.
 * SPDX-License-Identifier: Apache-2.0 */
#include "safetensors/stretch.h"

#include "base/mem.h"
#include "storage/storage.h"

#define PAGE ((uint64_t)WR_DIRECT_ALIGN)
/* Less than this is copied: a read or write of its own costs more. */
#define LEAST ((uint64_t)128 << 10)

static void *memory_at(const struct wr_stretch *x, uint64_t offset)
{
    return (uint8_t *)x->at + (offset - x->begin);
}

size_t wr_stretches_join(struct wr_stretch *x, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++) {
        struct wr_stretch *last = &x[n - (n > 0)];

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

struct wr_stretch wr_stretch_pages(const struct wr_stretch *x)
{
    uint64_t begin = WR_ALIGN_UP(x->begin, PAGE), end = x->end & ~(PAGE - 1);
    void *at;

    if (begin + LEAST > end)
        return (struct wr_stretch){0};
    at = memory_at(x, begin);
    if ((uintptr_t)at % PAGE)
        return (struct wr_stretch){0};
    return (struct wr_stretch){begin, end, at};
}
