/* inventory.h - what copies of steps a store has, merged from its tiers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CHECKPOINT_INVENTORY_H
#define WR_CHECKPOINT_INVENTORY_H

#include "checkpoint/store.h"

/* The copies of one step. */
struct wr_sides {
    struct wr_copy near, far;
};

/* Rising by step; without copies that were set aside. */
struct wr_inventory {
    weir_ckpt_entry *e;     /* owned */
    struct wr_sides *sides; /* owned; of each entry */
    size_t count, cap, sides_cap;
    bool two_tiers;
    bool stale;  /* the fast tier is: another machine went on without it */
    bool strict; /* a copy of which nothing is known fails it all */
};

/* The copy of a step that counts. */
const struct wr_copy *wr_sides_count(const weir_ckpt_entry *e,
                                     const struct wr_sides *s);
/* Whether there is a good one. */
static inline bool wr_entry_is_whole(const weir_ckpt_entry *e)
{
    return e->fast >= WEIR_COPY_COMPLETE || e->slow >= WEIR_COPY_COMPLETE;
}

/* Looks at one step: f->two_tiers and f->stale are known. An entry without
 * copies: it is not there. */
int wr_inventory_look(weir_ckpt *c, struct wr_inventory *f, uint64_t step,
                      weir_ckpt_entry *ret, struct wr_sides *ret_sides,
                      weir_err *err);

/* Zeroed before, but for `strict`; done takes it in any case. Which entries are
 * abandoned is not told. */
int wr_inventory_take(weir_ckpt *c, struct wr_inventory *f, weir_err *err);
void wr_inventory_done(struct wr_inventory *f);

#endif
