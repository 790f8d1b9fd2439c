/* chain.h - which saved steps the newest one continues from.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A manifest says which save its run restored, or went on from. The chain is the
 * newest save, those of its run before it, what that run continued from, and so
 * on. All else was left by going back to an older step: it is abandoned. Where
 * retention has taken away what the chain passed through, and where a version
 * before wrote manifests that do not say, numbers tell: a step whose number is
 * not below those that were saved later was left. */
#ifndef WR_CHECKPOINT_CHAIN_H
#define WR_CHECKPOINT_CHAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "tier/step.h"

/* Where a save stands. */
struct wr_origin {
    bool
        own; /* of this store, as opposed to one that was adopted from another */
    bool continues; /* `from` is known */
    struct wr_ordinal turn, from;
};

struct wr_origin wr_origin_of(const struct wr_copy *c);

/* > 0: `a` was saved later than `b`. Those of other stores are older than all of
 * this one. */
int wr_origin_compare(const struct wr_origin *a, const struct wr_origin *b);
/* Whether two saves are of the same part of one run: neither went back since the
 * other. */
bool wr_origin_is_same_part(const struct wr_origin *a,
                            const struct wr_origin *b);

/* The saves are good and in the order in which they were saved; `ret` has as
 * many places. */
void wr_chain_find(const struct wr_origin *saves, size_t count,
                   bool *ret_abandoned);

#endif
