/* candidates.h - the copies that a restore may take, best first.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Newest step first, and of a step the near copy first. A copy that is damaged
 * is passed over, and why is kept. Another process may take steps away
 * meanwhile: then what there is is looked at anew. */
#ifndef WR_CHECKPOINT_CANDIDATES_H
#define WR_CHECKPOINT_CANDIDATES_H

#include <stddef.h>
#include <stdint.h>

#include "checkpoint/store.h"

struct wr_candidate {
    uint64_t step;
    uint32_t tier; /* 0: near, 1: far */
};

struct wr_candidates {
    const weir_ckpt *c;       /* borrowed */
    uint64_t wanted;          /* WEIR_LATEST: any */
    struct wr_candidate *all; /* owned */
    size_t count, at;         /* the next one to look at */
    unsigned restarts;
    char *passed; /* owned: texts, each with its NUL */
    size_t passed_len, passed_cap;
    size_t damaged; /* passed over */
};

struct wr_tier *wr_ckpt_tier(const weir_ckpt *c, uint32_t tier); /* or NULL */

/* `wanted` is a step or WEIR_LATEST. */
int wr_candidates_init(struct wr_candidates *k, const weir_ckpt *c,
                       uint64_t wanted, weir_err *err);
void wr_candidates_done(struct wr_candidates *k);

/* The next copy whose manifest is good: 1. 0: there is nothing at all (and any
 * step would do). WEIR_ENOENT: the wanted step is not there. WEIR_EDAMAGED: all
 * were passed over. */
int wr_candidates_next(struct wr_candidates *k, struct wr_candidate *ret,
                       struct wr_manifest *ret_m, weir_err *err);
/* The copy that was given last, with that id, cannot be read, and why; or it
 * has been taken away. */
int wr_candidates_pass(struct wr_candidates *k, const char *id,
                       const weir_err *why, weir_err *err);

#endif
