/* stock.h - the steps of a store as retention knows them, from save to save.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Retention is asked after every save, and looking at every step that there is
 * costs more with each of them. So the steps are looked at once, and then those
 * that this process has changed, those of a fast tier that another process
 * saves to, and now and then a pin, which any process may set or remove. What
 * another process does to the last tier without its claim is not seen before the
 * store is opened again.
 *
 * It belongs to whoever applies retention: the thread that writes (one tier) or
 * drains, or a call while those are paused. */
#ifndef WR_CHECKPOINT_STOCK_H
#define WR_CHECKPOINT_STOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "checkpoint/chain.h"
#include "checkpoint/retention.h"

struct wr_stock {
    struct wr_stock_step
        *kept;                 /* owned: as they were saved, the oldest first */
    struct wr_origin *origins; /* owned: of each */
    size_t count, cap;
    size_t unused;    /* places of both before the first one */
    size_t abandoned; /* of them */
    size_t pin_at;    /* where to look for a pin next */
    bool known;

    uint64_t *touched; /* owned; guarded by weir_ckpt.lock as the next ones */
    size_t touched_count, touched_cap;
    bool lost; /* what was touched is not known */
};

void wr_stock_done(struct wr_stock *s);

/* A step has come to a tier, left it, or was marked. Without the lock. */
void wr_stock_touch(weir_ckpt *c, uint64_t step);
/* Everything is looked at anew the next time. Without the lock. */
void wr_stock_forget(weir_ckpt *c);

/* Brings c->stock up to date. */
int wr_stock_bring(weir_ckpt *c, weir_err *err);
/* Steps have been taken away: those without a copy are dropped. */
void wr_stock_sweep(struct wr_stock *s);

#endif
