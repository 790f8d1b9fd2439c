/* sorted.h - searching arrays by a number that rises.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_SORTED_H
#define WR_BASE_SORTED_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How many of `count` elements of `size` bytes have a number below `limit`: a
 * uint64_t at `offset` in each, which never falls from one to the next. */
static inline size_t wr_count_below(const void *array, size_t size,
                                    size_t count, size_t offset, uint64_t limit)
{
    size_t lo = 0, hi = count;
    uint64_t number;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        memcpy(&number, (const char *)array + mid * size + offset,
               sizeof(number));
        if (number < limit)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

#endif
