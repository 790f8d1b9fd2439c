/* compute.h - what the layers of the reference engine compute with.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every layer is cut into parts by its shapes alone, and each sum is made by
 * one part, in one order: so the results have the same bits for any number of
 * threads. */
#ifndef WR_TRAIN_COMPUTE_H
#define WR_TRAIN_COMPUTE_H

#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/pool.h"

struct wr_compute {
    struct wr_pool *pool;
    uint32_t batch;
    float *shared;  /* of all threads, for one layer's call */
    float *scratch; /* `scratch_count` floats for each thread */
    size_t scratch_count;
};

/* How many blocks of `size` cover `count`. */
static inline size_t wr_blocks(size_t count, size_t size)
{
    return (count + size - 1) / size;
}

/* Floats rounded up to whole cache lines, which are panels of wr_gemm too. */
static inline size_t wr_lines(size_t floats)
{
    return WR_ALIGN_UP(floats, WR_CACHE_LINE / sizeof(float));
}

static inline float *wr_scratch(const struct wr_compute *c, unsigned thread)
{
    return c->scratch + thread * c->scratch_count;
}

#endif
