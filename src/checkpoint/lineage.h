/* lineage.h - which tiers belong together, and which of two saves is newer.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing here asks a clock: generations and saves are counted
 * (docs/decisions/0015-lineage.md). */
#ifndef WR_CHECKPOINT_LINEAGE_H
#define WR_CHECKPOINT_LINEAGE_H

#include "checkpoint/store.h"
#include "tier/writers.h"

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

/* This run goes on from a save that was restored (rank 0). */
void wr_lineage_restored(weir_ckpt *c, const struct wr_ordinal *turn);
/* What the save of a step continues from: what was restored, and else the newest
 * save below it that was there when the store was opened. Whether that is
 * known. */
bool wr_lineage_from(weir_ckpt *c, uint64_t step, struct wr_ordinal *ret);

/* Adds the writers that either tier has noted; raises `highest` to the highest
 * number of those that are known then: it was handed out. */
int wr_lineage_ask_writers(weir_ckpt *c, struct wr_writers *known,
                           uint64_t *highest, weir_err *err);
/* Both tiers know from now on which writers there were, those in `known` and this
 * one; for their writer. */
int wr_lineage_note_writers(weir_ckpt *c, struct wr_writers *known,
                            const struct wr_generation *mine, weir_err *err);

/* Sets aside all good steps that only the fast tier has; for its writer. */
int wr_lineage_set_aside(weir_ckpt *c, weir_err *err);

/* Whether the slow tier has a step of a higher generation than that of the fast
 * tier's last writer, or its last step is of a writer that the fast tier has not
 * heard of: another machine went on without it. */
int wr_lineage_is_stale(weir_ckpt *c, bool *ret, weir_err *err);
/* Whether this process is still the writer of the tiers that it claimed; `c` is
 * a weir_ckpt. The fast tier of a drain is another's, and stays so. */
int wr_lineage_check_claims(void *c, weir_err *err);
/* WEIR_EFENCED when another writer has taken a higher generation since. */
int wr_lineage_check(weir_ckpt *c, weir_err *err);

#endif
