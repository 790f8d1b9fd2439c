/* aside.h - copies of a fast tier that were set aside.
 * SPDX-License-Identifier: Apache-2.0
 *
 * When a fast tier is opened for saving and another machine has gone on without
 * it, what it has alone is renamed to `.stale-STEP-ID`: it is no step any more,
 * and its number is free. Somebody decides what becomes of it (weir_ckpt_adopt,
 * weir_ckpt_discard). */
#ifndef WR_TIER_ASIDE_H
#define WR_TIER_ASIDE_H

#include <stdint.h>

#include "tier/tier.h"

struct wr_aside {
    uint64_t step;
    char dir[WR_TIER_PATH];
    struct wr_gist gist; /* zeroed when its manifest cannot be read */
};

/* Rising by step, of each the newest first; free(). */
int wr_aside_list(struct wr_tier *t, struct wr_aside **ret, size_t *ret_count,
                  weir_err *err);
/* Renames `step-N`; for the tier's writer; not synced. */
int wr_aside_put(struct wr_tier *t, uint64_t step, weir_err *err);
/* Renames it back, durably. WEIR_EEXIST: the tier has that step. */
int wr_aside_take(struct wr_tier *t, const struct wr_aside *a, weir_err *err);
/* And sets it aside again. */
int wr_aside_return(struct wr_tier *t, const struct wr_aside *a, weir_err *err);
/* Removes it. */
int wr_aside_drop(struct wr_tier *t, const struct wr_aside *a, weir_err *err);

#endif
