/* scenario.h - workloads of a checkpoint store, and the check of what is left.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the tests that cut the power and those that kill. A workload saves
 * tensors that are a function of step and salt, through the public functions,
 * and tells what it was promised. */
#ifndef SCENARIO_H
#define SCENARIO_H

#include "ledger.h"
#include "storage/storage.h"

/* Where the tiers are. */
struct scn_place {
    /* Opens the store of "fast" or "slow" anew; NULL when it cannot. */
    struct wr_store *(*open)(void *arg, const char *tier);
    void *arg;
};

struct scn_listener {
    void (*tell)(void *arg, const struct scn_event *e);
    void *arg;
};

struct scn_action;

struct scenario {
    const char *name;
    bool two_tiers;
    bool drain; /* by a thread of the saving store; else by another store */
    unsigned keep_last, keep_fast;
    uint64_t keep_every;
    const struct scn_action *script;
};

/* All of them; the last one has no name. */
extern const struct scenario scn_all[];
/* Short ones that tell SCN_GO before what matters. */
extern const struct scenario scn_short[];

/* Runs a workload to its end. */
int scn_run(const struct scenario *s, const struct scn_place *at,
            const struct scn_listener *to, weir_err *err);

/* --- the check --- */

enum scn_trouble {
    SCN_FINE = 0,
    SCN_LOST,  /* a promise is broken */
    SCN_TORN,  /* something that is not whole is presented as a step */
    SCN_OTHER, /* cannot be opened, cannot go on, leftovers */
};

struct scn_verdict {
    enum scn_trouble trouble;
    uint64_t found; /* the step that was restored; 0: none */
    char text[700]; /* what is wrong */
};

enum scn_part {
    SCN_WHOLE, /* all tiers */
    SCN_FAR,   /* the slow tier alone: the fast one is gone for good */
};

/* Opens the store as a trainer does that starts again, restores, checks
 * everything that is there, saves one more step (told to `to`, may be NULL) and
 * looks for leftovers. */
struct scn_verdict scn_check(const struct scenario *s,
                             const struct scn_place *at,
                             const struct scn_ledger *l, enum scn_part part,
                             const struct scn_listener *to);

/* --- what both use --- */

#define SCN_TENSORS 4
#define SCN_FIXED   3 /* the first ones have the same shape in every step */

struct scn_state {
    weir_tensor tensors[SCN_TENSORS];
    uint8_t *memory; /* owned */
};

/* Memory for the tensors of a step, not filled. */
void scn_state_make(struct scn_state *s, uint64_t step);
void scn_state_fill(struct scn_state *s, uint64_t step, uint64_t salt);
/* The first tensor that is not what it should be; NULL: all are right. */
const char *scn_state_differs(const struct scn_state *s, size_t count,
                              uint64_t step, uint64_t salt);
void scn_state_done(struct scn_state *s);

/* Saves (step, salt) and tells so. */
int scn_save(weir_ckpt *c, const struct scn_event *what,
             const struct scn_listener *to, weir_err *err);

/* The configuration of a workload's store. */
void scn_config(const struct scenario *s, weir_ckpt_config *cfg);

#endif
