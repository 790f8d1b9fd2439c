/* order.h - the order of an epoch: a function, not a list.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Maps a position of the epoch to a sample in O(1) time and memory, as a
 * bijection from [0, n) to the samples of the part that is fed, which depends on
 * (seed, epoch) and the split alone. */
#ifndef WR_PIPELINE_ORDER_H
#define WR_PIPELINE_ORDER_H

#include <stdint.h>

#include "base/perm.h"
#include "pipeline/split.h"
#include "weir/pipeline.h"

struct wr_order {
    enum weir_order kind;
    struct wr_split split; /* of which part; n: samples of the part */
    uint64_t n, seed, epoch;
    struct wr_perm perm; /* shuffle: of samples; block: of full blocks */
    /* block: `full` blocks of `block` samples, and a short one of `rest`
     * samples (if any) that stands at place `rest_at` among them */
    uint64_t block, window, full, rest, rest_at;
};

/* Of the config's part of `samples` samples. */
void wr_order_init(struct wr_order *o, const weir_pipeline_config *cfg,
                   uint64_t samples, uint64_t epoch);

/* Sample at `position` < n. */
uint64_t wr_order_at(const struct wr_order *o, uint64_t position);

/* A number that differs between configurations, and between versions of weir,
 * that order n samples (of the part) differently. */
uint64_t wr_order_id(const weir_pipeline_config *cfg, uint64_t n);

#endif
