/* order.h - the order of an epoch: a function, not a list.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Maps a position of the epoch to a sample in O(1) time and memory, as a
 * bijection from [0, n) to the samples of the part that is fed, which depends on
 * (seed, epoch) and the split alone.
 *
 * Rank r of w has positions r, r + w, r + 2w and so on. The order `block`
 * depends on w so that these are samples of blocks that no other rank has: so
 * they can be read together. Only where an epoch's blocks cannot be dealt evenly
 * (around the short one, and at the end) do two ranks share one. */
#ifndef WR_PIPELINE_ORDER_H
#define WR_PIPELINE_ORDER_H

#include <stdint.h>

#include "base/perm.h"
#include "pipeline/custom.h"
#include "pipeline/split.h"
#include "weir/pipeline.h"

struct wr_order {
    enum weir_order kind;
    struct wr_split split; /* of which part; n: samples of the part */
    uint64_t n, seed, epoch;
    struct wr_perm perm; /* shuffle: of samples; block: of full blocks */
    /* block: `full` blocks of `block` samples, and a short one of `rest`
     * samples (if any) that stands at place `rest_at` among them */
    uint64_t block, full, rest, rest_at;
    uint64_t window; /* blocks that a rank mixes */
    uint32_t dealt;  /* block: ranks that blocks are dealt to; else 1 */
    const struct wr_custom *custom; /* borrowed: whose order it is, or NULL */
};

/* Of the config's part of `samples` samples. */
void wr_order_init(struct wr_order *o, const weir_pipeline_config *cfg,
                   uint64_t samples, uint64_t epoch);

/* Blocks are dealt to so many ranks, not to the config's: for the rest of an
 * epoch that began with them. Other orders take no notice. */
void wr_order_deal(struct wr_order *o, uint32_t ranks);

/* Sample at `position` < n. */
uint64_t wr_order_at(const struct wr_order *o, uint64_t position);

/* A number that differs between configurations, and between versions of weir,
 * that order n samples (of the part) differently. */
uint64_t wr_order_id(const weir_pipeline_config *cfg, uint64_t n);

#endif
