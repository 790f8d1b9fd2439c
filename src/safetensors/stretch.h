/* stretch.h - bytes of a shard's data and the memory that they belong to.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Direct I/O moves whole pages, from and to whole pages. Where a tensor's
 * memory lies as its bytes do in the file, they need no copy in between. */
#ifndef WR_SAFETENSORS_STRETCH_H
#define WR_SAFETENSORS_STRETCH_H

#include <stddef.h>
#include <stdint.h>

struct wr_stretch {
    uint64_t begin, end; /* in the data */
    void *at;            /* borrowed; of byte `begin` */
};

/* Stretches that adjoin in the data and in memory become one. They rise and do
 * not overlap; those without bytes go. Returns how many are left. */
size_t wr_stretches_join(struct wr_stretch *x, size_t count);

/* The part of it that direct I/O can move without a copy; no bytes when there
 * is none, or too little to be worth it. The data of the file start at a
 * page. */
struct wr_stretch wr_stretch_pages(const struct wr_stretch *x);

#endif
