/* lineage.h - which tiers belong together, and which of two saves is newer.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing here asks a clock: generations and saves are counted
 * (docs/decisions/0015-lineage.md). */
#ifndef WR_CHECKPOINT_LINEAGE_H
#define WR_CHECKPOINT_LINEAGE_H

#include "checkpoint/store.h"

/* Opens the tiers of c->cfg for its role, after looking whether they belong
 * together; makes what is missing where a store may be made. Nothing has changed
 * when they do not: WEIR_ENOENT when the slow tier (or, with must_exist, the
 * store) is not there, WEIR_ESTATE when it is another store's. `given` are
 * stores of a test, near and far; taken, also on failure. */
int wr_lineage_open(weir_ckpt *c, struct wr_store *given[2], weir_err *err);

/* Rank 0 of a role that saves, after claiming: the store gets its id, this writer
 * its generation, and the fast tier is linked to the slow one. What a stale fast
 * tier has alone is set aside. */
int wr_lineage_begin(weir_ckpt *c, weir_err *err);

/* Sets aside all good steps that only the fast tier has; for its writer. */
int wr_lineage_set_aside(weir_ckpt *c, weir_err *err);

/* Whether the slow tier has a step of a higher generation than that of the fast
 * tier's last writer: another machine went on without it. */
int wr_lineage_is_stale(weir_ckpt *c, bool *ret, weir_err *err);
/* WEIR_EFENCED when another writer has taken a higher generation since. */
int wr_lineage_check(weir_ckpt *c, weir_err *err);

#endif
