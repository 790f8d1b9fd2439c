/* mem.h - checked sizes, growing arrays and big aligned buffers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_MEM_H
#define WR_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WR_ARRAY_LEN(a)   (sizeof(a) / sizeof((a)[0]))
#define WR_ALIGN_UP(x, a) (((x) + (a)-1) & ~((a)-1))
#define WR_MIN(a, b)      ((a) < (b) ? (a) : (b))
#define WR_MAX(a, b)      ((a) > (b) ? (a) : (b))
#define WR_CACHE_LINE     64

/* False on overflow; *ret is written only on success. For sizes that come
 * from a file. */
static inline bool wr_mul_ok(size_t a, size_t b, size_t *ret)
{
    size_t product;

    if (__builtin_mul_overflow(a, b, &product))
        return false;
    *ret = product;
    return true;
}

static inline bool wr_add_ok(size_t a, size_t b, size_t *ret)
{
    size_t sum;

    if (__builtin_add_overflow(a, b, &sum))
        return false;
    *ret = sum;
    return true;
}

/* Grows `*array` (elements of `elem_size`) so that it holds at least `need`
 * elements, at least doubling; false when memory is short, then nothing has
 * changed. Start with NULL and cap 0; free() ends it. */
bool wr_grow(void *array, size_t *cap, size_t need, size_t elem_size);

/* A zeroed buffer aligned to 64 bytes at least; buffers of 2 MiB and more are
 * mapped on huge pages where the kernel grants them, because touching memory
 * for the first time page by page is what large batches spend their start on.
 * NULL when memory is short. Release with wr_big_free and the same size. */
void *wr_big_alloc(size_t size);
void wr_big_free(void *p, size_t size);
/* A larger one in place of `p`, with its bytes, where that can be had without
 * copying them; NULL: it cannot, and `p` is as it was. */
void *wr_big_grow(void *p, size_t size, size_t larger);

#endif
