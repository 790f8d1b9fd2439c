/* retention.h - which steps may go. A function of what is there.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Steps are ordered as they were saved. A step is wanted when it is pinned, or
 * when it is of the chain (chain.h) and a multiple of keep_every, or has fewer
 * than keep_last good steps of the chain above it (keep_last 0: always).
 * Abandoned ones, which the run has left by going back, are wanted while no step
 * of the chain that was saved later is verified, and then the keep_abandoned
 * newest of them. Good means a whole copy on some tier; a damaged step takes no
 * place among the last ones, and goes when as many good ones are above it.
 *
 * The last tier keeps what is wanted, its newest good and its newest verified
 * copy, and every step that the fast tier keeps whole: otherwise that copy
 * would count as not drained again.
 *
 * The fast tier before a slow one is a buffer. It keeps what is not drained, the
 * keep_fast newest drained ones, and its newest verified copy while the slow one
 * of that step is not verified. A damaged copy goes as soon as the slow one is
 * safe, or when its step is no longer wanted. */
#ifndef WR_CHECKPOINT_RETENTION_H
#define WR_CHECKPOINT_RETENTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/ckpt_manage.h"

struct wr_retention {
    uint32_t keep_last;  /* 0: all */
    uint64_t keep_every; /* 0: none */
    uint32_t keep_fast, keep_abandoned;
    uint64_t after; /* everything newer goes; WEIR_LATEST: no step has to */
    bool two_tiers;
    bool verify; /* drained means verified on the slow tier, not only there */
};

/* One step, as retention sees it. */
struct wr_stock_step {
    uint64_t step, bytes;
    enum weir_copy fast, slow; /* as weir_ckpt_entry's */
    bool pinned, abandoned;
};

/* What is to be done with one step; false for a copy that is not there. */
struct wr_fate {
    bool fast_goes, slow_goes;
};

/* `steps` are as they were saved, the oldest first; `ret` has as many places.
 * Returns how many steps lose a copy. */
size_t wr_retention_judge(const struct wr_retention *r,
                          const struct wr_stock_step *steps, size_t count,
                          struct wr_fate *ret);

/* Whether the fast copy of a step is safe on the slow tier. */
static inline bool wr_retention_drained(const struct wr_retention *r,
                                        const struct wr_stock_step *e)
{
    return e->slow >= (r->verify ? WEIR_COPY_VERIFIED : WEIR_COPY_COMPLETE);
}

#endif
