/* mem.c - checked sizes, growing arrays and big aligned buffers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

bool wr_grow(void *array, size_t *cap, size_t need, size_t elem_size)
{
    size_t new_cap = *cap ? *cap : 8;
    size_t bytes;
    void *old, *grown;

    if (need <= *cap)
        return true;
    while (new_cap < need)
        if (!wr_mul_ok(new_cap, 2, &new_cap))
            return false;
    if (!wr_mul_ok(new_cap, elem_size, &bytes))
        return false;
    memcpy(&old, array, sizeof(old));
    grown = realloc(old, bytes);
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof(grown));
    *cap = new_cap;
    return true;
}

/* Maps `size` (a multiple of HUGE_PAGE) aligned to HUGE_PAGE: maps one page
 * more and gives the ends back. */
static void *map_aligned(size_t size)
{
    size_t span = size + HUGE_PAGE;
    uint8_t *base, *start;
    size_t head;

    base = mmap(NULL, span, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    start = (uint8_t *)WR_ALIGN_UP((uintptr_t)base, HUGE_PAGE);
    head = (size_t)(start - base);
    if (head)
        munmap(base, head);
    if (HUGE_PAGE - head)
        munmap(start + size, HUGE_PAGE - head);
    madvise(start, size, MADV_HUGEPAGE); /* advice: failing is fine */
    return start;
}

void *wr_big_alloc(size_t size)
{
    void *p;

    if (size >= HUGE_PAGE)
        return size > SIZE_MAX - 2 * HUGE_PAGE
                   ? NULL
                   : map_aligned(WR_ALIGN_UP(size, HUGE_PAGE));
    size = WR_ALIGN_UP(WR_MAX(size, (size_t)1), (size_t)WR_CACHE_LINE);
    if (posix_memalign(&p, WR_CACHE_LINE, size))
        return NULL;
    memset(p, 0, size);
    return p;
}

void wr_big_free(void *p, size_t size)
{
    if (!p)
        return;
    if (size >= HUGE_PAGE)
        munmap(p, WR_ALIGN_UP(size, HUGE_PAGE));
    else
        free(p);
}

void *wr_big_grow(void *p, size_t size, size_t larger)
{
    void *to;

    if (size < HUGE_PAGE || larger < size)
        return NULL;
    to = wr_big_alloc(larger);
    if (!to)
        return NULL;
    size = WR_ALIGN_UP(size, HUGE_PAGE);
    /* Fails before Linux 6.17 for what was grown once already. */
    if (mremap(p, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to)
        return to;
    wr_big_free(to, larger);
    return NULL;
}
