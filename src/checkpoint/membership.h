/* membership.h - which store a tier belongs to, by its link and its manifests.
 * SPDX-License-Identifier: Apache-2.0
 *
 * `.weir/store` says it (tier/link.h). That file is a cache: where it is missing
 * or damaged, because a tier was copied without it, the manifests of the tier's
 * steps say the same. */
#ifndef WR_CHECKPOINT_MEMBERSHIP_H
#define WR_CHECKPOINT_MEMBERSHIP_H

#include "checkpoint/store.h"
#include "tier/link.h"
#include "tier/writers.h"

enum wr_member {
    WR_MEMBER_NEW,  /* missing, or without steps and unknown to any store */
    WR_MEMBER_OLD,  /* has steps of a version before, which knew no stores */
    WR_MEMBER_LAST, /* has the id of a store */
    WR_MEMBER_FAST, /* belongs to one */
};

struct wr_membership {
    enum wr_member is;
    bool derived; /* from manifests: the file is not there */
    bool reads;   /* for who changes nothing */
    struct wr_tier_link link;
    struct wr_generation highest; /* of the link and, on a last tier, of what it
                                     handed out; and of its manifests, where
                                     they were asked */
    struct wr_generation saved; /* the highest of a good step, as the manifests
                                     say */
    struct wr_generation twin;  /* another writer of that number; 0: none */
    size_t steps;               /* by their names */
    struct wr_writers *writers; /* borrowed: gets those of manifests that are
                                   asked; NULL */
};

/* What the tier is (NULL: missing), as the fast one of two or as the last.
 * Manifests are read only where the link is not there. With `reads` a link that
 * makes no sense is none. */
int wr_membership_look(struct wr_tier *t, bool fast, bool reads,
                       struct wr_membership *ret, weir_err *err);
/* Asks the manifests, too: for those who must not miss a writer. */
int wr_membership_ask(struct wr_tier *t, struct wr_membership *m,
                      weir_err *err);

/* Whether the tiers of c->cfg may be used together for its role; WEIR_ENOENT
 * when one is missing that must be there, WEIR_ESTATE when they are of different
 * stores, or the slow one is older than the fast one remembers. `far` is of no
 * interest with one tier. */
int wr_membership_judge(weir_ckpt *c, struct wr_membership *near,
                        struct wr_membership *far, weir_err *err);

#endif
