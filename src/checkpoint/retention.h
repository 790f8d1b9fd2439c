/* retention.h - which steps may go. A function of what is there.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CHECKPOINT_RETENTION_H
#define WR_CHECKPOINT_RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/checkpoint.h"

struct wr_retention {
    uint32_t keep_last;  /* 0: all */
    uint64_t keep_every; /* 0: none */
    uint32_t keep_fast;
    uint64_t after; /* WEIR_LATEST: no step has to go */
    bool two_tiers;
    bool verify; /* a drained copy counts when it is verified */
};

/* What is to be done with one step. */
struct wr_verdict {
    bool fast_goes, slow_goes;
};

/* `steps` rise. A damaged copy never counts as the last good one and never goes
 * by itself: it goes with its step's turn. */
void wr_retention_judge(const struct wr_retention *r,
                        const weir_ckpt_entry *steps, size_t count,
                        struct wr_verdict *ret);

#endif
