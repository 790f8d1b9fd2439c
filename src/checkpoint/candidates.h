/* candidates.h - the copies that a restore may take, best first.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What was saved last goes first, as it was counted: what another machine has
 * saved later goes before what a stale fast tier still has, whatever its number. Of one save the
 * near copy goes first. A copy that is damaged is passed over, and why is kept.
 * Another process may take steps away meanwhile: then what there is is looked at
 * anew.
 *
 * A copy that cannot be read, for a reason that says nothing about it, is offered
 * a few times more. If that does not help only another copy of the same save
 * will do: nobody gets an older step because this process is short of
 * descriptors. */
#ifndef WR_CHECKPOINT_CANDIDATES_H
#define WR_CHECKPOINT_CANDIDATES_H

#include <stddef.h>
#include <stdint.h>

#include "checkpoint/store.h"

struct wr_candidate {
    uint64_t step;
    uint32_t rank; /* 2: of this store; 1: on a fast tier that another machine
                      went on without; 0: of another store */
    uint64_t generation, seq; /* a guess where it is not good */
    uint32_t tier;            /* 0: near, 1: far */
    bool good;                /* its manifest was */
    bool unread;              /* cannot be read, which says nothing of it */
};

struct wr_candidates {
    weir_ckpt *c;             /* borrowed */
    bool stale;               /* the near tier */
    uint64_t wanted;          /* WEIR_LATEST: any */
    struct wr_candidate *all; /* owned */
    size_t count, at;         /* the next one to look at */
    unsigned restarts;
    uint64_t lack_ns; /* since when this call runs out of memory or descriptors;
                         0: it does not */
    bool lacking;     /* for longer than is waited for, at this step */
    uint64_t lacking_step;
    char *passed; /* owned: texts, each with its NUL */
    size_t passed_len, passed_cap;
    size_t damaged;            /* passed over */
    unsigned tries;            /* of the copy that was given last */
    bool stuck;                /* a copy cannot be read: from here on... */
    char only[WR_MANIFEST_ID]; /* ...this save, "": not known which, */
    weir_err unread;           /* or this error */
};

struct wr_tier *wr_ckpt_tier(const weir_ckpt *c, uint32_t tier); /* or NULL */

/* `wanted` is a step or WEIR_LATEST. */
int wr_candidates_init(struct wr_candidates *k, weir_ckpt *c, uint64_t wanted,
                       weir_err *err);
void wr_candidates_done(struct wr_candidates *k);

/* The next copy whose manifest is good: 1. 0: there is nothing at all (and any
 * step would do). WEIR_ENOENT: the wanted step is not there. WEIR_EDAMAGED: all
 * were passed over. Else the error of a copy that cannot be read. */
int wr_candidates_next(struct wr_candidates *k, struct wr_candidate *ret,
                       struct wr_manifest *ret_m, weir_err *err);
/* The copy that was given last, with that id, is damaged, or could not be read,
 * and why; or it has been taken away. It may be given once more. */
int wr_candidates_pass(struct wr_candidates *k, const char *id,
                       const weir_err *why, weir_err *err);

#endif
