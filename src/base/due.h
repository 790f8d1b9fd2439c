/* due.h - a heap of things that are due at a time, the earliest first.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Knows no clock: `now` is given, so that its tests run in virtual time. */
#ifndef WR_BASE_DUE_H
#define WR_BASE_DUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WR_DUE_NEVER UINT64_MAX

/* First member of what is kept in the heap. */
struct wr_due {
    uint64_t at_ns;
    uint64_t order; /* set by push: equal times leave as they came */
};

struct wr_due_heap {
    struct wr_due **items; /* owned array of borrowed things */
    size_t count, cap;
    uint64_t pushed;
};

void wr_due_done(struct wr_due_heap *h); /* zeroed memory is an empty heap */

/* Memory for `count` things, so that pushing up to so many never fails. */
bool wr_due_reserve(struct wr_due_heap *h, size_t count);

/* False when memory is short: then it is not in the heap. */
bool wr_due_push(struct wr_due_heap *h, struct wr_due *item);

/* Takes out the earliest one that is due at `now_ns`; NULL: none is. */
struct wr_due *wr_due_pop(struct wr_due_heap *h, uint64_t now_ns);

/* When the earliest one is due; WR_DUE_NEVER when there is none. */
uint64_t wr_due_next(const struct wr_due_heap *h);

#endif
