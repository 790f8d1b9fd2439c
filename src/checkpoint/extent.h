/* extent.h - bytes of a shard's data and the memory that they belong to.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Direct I/O moves whole pages, from and to whole pages. Where a tensor's
 * memory lies as its bytes do in the file, they need no copy in between. */
#ifndef WR_CHECKPOINT_EXTENT_H
#define WR_CHECKPOINT_EXTENT_H

#include <stddef.h>
#include <stdint.h>

struct wr_extent {
    uint64_t begin, end; /* in the data */
    void *at;            /* borrowed; of byte `begin` */
};

/* Extents that adjoin in the data and in memory become one. They rise and do
 * not overlap; those without bytes go. Returns how many are left. */
size_t wr_extents_join(struct wr_extent *x, size_t count);

/* The part of it that direct I/O can move without a copy; no bytes when there
 * is none. The data of the file start at a page. */
struct wr_extent wr_extent_pages(const struct wr_extent *x);

#endif
