/* top.h - the few entries with the highest scores, the highest first.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_BASE_TOP_H
#define WR_BASE_TOP_H

#include <stddef.h>

struct wr_top {
    void *list;     /* borrowed: room for `cap` entries of `size` bytes, */
    double *scores; /* borrowed: and for their scores */
    size_t size, cap;
    size_t count; /* 0 at first */
};

/* Room for one more entry at its rank, which the caller fills; NULL: `cap`
 * others have scores as high. Of equal scores the first one stays ahead. */
void *wr_top_add(struct wr_top *t, double score);

#endif
