/* order.h - the order of an epoch: a function, not a list.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Maps a position of the epoch to a sample in O(1) time and memory, as a
 * bijection of [0, n) that depends on (seed, epoch) alone. */
#ifndef WR_PIPELINE_ORDER_H
#define WR_PIPELINE_ORDER_H

#include <stdint.h>

#include "base/perm.h"
#include "weir/pipeline.h"

struct wr_order {
    enum weir_order kind;
    uint64_t n, seed, epoch;
    struct wr_perm perm; /* shuffle: of samples; block: of full blocks */
    /* block: `full` blocks of `block` samples, and a short one of `rest`
     * samples (if any) that stands at place `rest_at` among them */
    uint64_t block, window, full, rest, rest_at;
};

void wr_order_init(struct wr_order *o, const weir_pipeline_config *cfg,
                   uint64_t n, uint64_t epoch);

/* Sample at `position` < n. */
uint64_t wr_order_at(const struct wr_order *o, uint64_t position);

/* A number that differs between configurations, and between versions of weir,
 * that order n samples differently. */
uint64_t wr_order_id(const weir_pipeline_config *cfg, uint64_t n);

#endif
