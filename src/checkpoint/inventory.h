/* inventory.h - what copies of steps a store has, merged from its tiers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CHECKPOINT_INVENTORY_H
#define WR_CHECKPOINT_INVENTORY_H

#include "checkpoint/store.h"

/* Rising by step. The id tells whether two copies are of one save. */
struct wr_inventory {
    weir_ckpt_entry *e;          /* owned */
    char (*ids)[WR_MANIFEST_ID]; /* owned; of the fast copy */
    size_t count, cap, ids_cap;
    bool two_tiers;
    bool strict; /* a copy of which nothing is known fails it all */
};

/* Zeroed before, but for `strict`; done takes it in any case. */
int wr_inventory_take(weir_ckpt *c, struct wr_inventory *f, weir_err *err);
void wr_inventory_done(struct wr_inventory *f);

#endif
