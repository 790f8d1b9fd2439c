/* ckpt_manage.h - managing saved steps: list, verify, drain, pin, prune, copy
 * out.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_CKPT_MANAGE_H
#define WEIR_CKPT_MANAGE_H

#include "weir/checkpoint.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One copy of a step on a tier. */
enum weir_copy {
    WEIR_COPY_UNKNOWN = -2, /* cannot be read now (see `problem`), which says
                               nothing about the data */
    WEIR_COPY_STALE = -1,   /* intact but superseded: another machine went on
                               without it, or this step was saved again. Never
                               drained, outranks nothing; see weir_ckpt_adopt
                               and weir_ckpt_discard */
    WEIR_COPY_NONE = 0,
    WEIR_COPY_DAMAGED = 1, /* its manifest cannot be parsed, a file is missing
                              or has the wrong size, or the drain found it
                              damaged */
    WEIR_COPY_COMPLETE = 2,
    WEIR_COPY_VERIFIED = 3, /* and was read back once */
};

typedef struct weir_ckpt_entry {
    uint64_t step;
    uint64_t bytes;   /* of one copy */
    uint64_t time_ns; /* of the save, since 1970 */
    uint32_t world;
    enum weir_copy fast, slow; /* with one tier `fast` */
    int pinned;
    char problem[200]; /* of a damaged, unknown or stale copy */
    /* Saves are ordered by (generation, seq): counted, not timed. 0: of an
     * earlier version. */
    uint64_t generation; /* openings for saving of this store */
    uint64_t seq;        /* saves of that writer */
    int abandoned;       /* the run went back to an older step and on from
                            there, without this one */
} weir_ckpt_entry;

/* All steps, in ascending order; copies that were set aside (fast is
 * WEIR_COPY_STALE, slow WEIR_COPY_NONE) follow the step of the same number.
 * Free *ret with free(). */
WEIR_API int weir_ckpt_list_sized(weir_ckpt *c, weir_ckpt_entry **ret,
                                  size_t *ret_count, size_t size,
                                  weir_err *err);
static inline int weir_ckpt_list(weir_ckpt *c, weir_ckpt_entry **ret,
                                 size_t *ret_count, weir_err *err)
{
    return weir_ckpt_list_sized(c, ret, ret_count, sizeof(**ret), err);
}

/* One copy that was read and checked. */
typedef struct weir_ckpt_checked {
    uint64_t step;
    const char *tier; /* "fast" (the only one, too) or "slow" */
    uint64_t bytes;
    int code;         /* 0; WEIR_EDAMAGED and its relatives (EFORMAT, ELIMIT,
                         ECHANGED): it is damaged; else it could not be read,
                         which says nothing about it */
    const char *text; /* what is wrong, with file and offset; "" */
} weir_ckpt_checked;

typedef void (*weir_ckpt_checked_fn)(void *arg, const weir_ckpt_checked *c);

/* Reads every byte of `step` (WEIR_LATEST: of all steps), on all tiers, past
 * the page cache. Returns the number of damaged copies; if that is 0 but some
 * could not be read (permissions, descriptors, I/O errors), the error of the
 * first of those. A copy that a drain gave up as damaged and that turns out to
 * be good is drained again. `fn` may be NULL. */
WEIR_API int weir_ckpt_verify(weir_ckpt *c, uint64_t step,
                              weir_ckpt_checked_fn fn, void *arg,
                              weir_err *err);

/* Drains all steps present now, within this call (role DRAIN or SAVE). */
WEIR_API int weir_ckpt_drain(weir_ckpt *c, weir_err *err);

/* A pinned step stays until it is unpinned (on = 0). Any role: a pin is a
 * separate file and may be set while another process saves. */
WEIR_API int weir_ckpt_pin(weir_ckpt *c, uint64_t step, int on, weir_err *err);

/* All 0: only drained copies are removed, from the fast tier. */
typedef struct weir_ckpt_prune_plan {
    uint32_t keep_last; /* as in weir_ckpt_config */
    uint64_t keep_every;
    int go_back;    /* 1: remove everything newer than `after`, pinned or not,
                       drained or not */
    uint64_t after; /* 0 without go_back */
    int spare;      /* also free the space kept for later saves */
    int dry_run;
    /* Called for each copy that is (or would be) removed from tier "fast" (also
     * the only one) or "slow"; with `spare` also with step WEIR_LATEST. May be
     * NULL. */
    void (*gone)(void *arg, uint64_t step, const char *tier, uint64_t bytes);
    void *arg;
    uint32_t keep_abandoned; /* 0: as in the weir_ckpt_config that the store was
                                opened with */
} weir_ckpt_prune_plan;

/* Applies retention now (role SAVE or MANAGE). The newest step, the newest
 * verified copy, pinned steps and steps not yet drained stay. A step that cannot
 * be removed does not keep the others: its error is returned at the end. */
WEIR_API int weir_ckpt_prune_sized(weir_ckpt *c,
                                   const weir_ckpt_prune_plan *plan,
                                   size_t size, weir_err *err);
static inline int
weir_ckpt_prune(weir_ckpt *c, const weir_ckpt_prune_plan *plan, weir_err *err)
{
    return weir_ckpt_prune_sized(c, plan, sizeof(*plan), err);
}

/* Removes a step from tier "fast" (also the only one), "slow" or, with NULL,
 * both, whatever retention says (role MANAGE). A pinned step is refused with
 * WEIR_EBUSY; WEIR_ENOENT: it does not exist. */
WEIR_API int weir_ckpt_remove(weir_ckpt *c, uint64_t step, const char *tier,
                              weir_err *err);

/* A superseded copy on a fast tier (WEIR_COPY_STALE): the job went on elsewhere
 * before it was drained. It does no harm and stays until it is adopted or
 * discarded. */
typedef struct weir_ckpt_stale {
    uint64_t step, bytes;
    int code;         /* 0, or why it was not adopted */
    const char *text; /* the reason as text; "" */
} weir_ckpt_stale;

typedef void (*weir_ckpt_stale_fn)(void *arg, const weir_ckpt_stale *s);

/* Drains stale copies of `step` (WEIR_LATEST: all) after all (role
 * WEIR_CKPT_ADOPT). They still rank below everything saved later, and are
 * pinned, as copies of another store are. WEIR_LATEST also links the two tiers,
 * whatever store they belonged to; an empty slow one gets the id of the fast
 * one, and the order of its steps stays. A single tier becomes a store of its
 * own. With cfg.dry_run all of this is only told. Returns how many copies were
 * not adopted, usually because the slow tier has a newer step of that number;
 * `fn` (may be NULL) is called for each copy. */
WEIR_API int weir_ckpt_adopt(weir_ckpt *c, uint64_t step, weir_ckpt_stale_fn fn,
                             void *arg, weir_err *err);

/* Removes stale copies of `step` (WEIR_LATEST: all) from the fast tier (role
 * MANAGE; with cfg.dry_run they are only told). Returns how many. */
WEIR_API int weir_ckpt_discard(weir_ckpt *c, uint64_t step,
                               weir_ckpt_stale_fn fn, void *arg, weir_err *err);

/* Of a store's id, with its NUL. */
#define WEIR_STORE_ID 33

/* The id of the store, for weir_ckpt_config.store. WEIR_ENOENT: it has none yet,
 * because no version that gives stores one has opened it for saving. */
WEIR_API int weir_ckpt_store_id(const weir_ckpt *c, char ret[WEIR_STORE_ID],
                                weir_err *err);

/* Copies a step out, for other programs: a new folder `to` gets its safetensors
 * files and manifest, checked on the way. Selects the step and returns as
 * weir_ckpt_restore does; one process only. WEIR_EEXIST: `to` already
 * exists. */
WEIR_API int weir_ckpt_export(weir_ckpt *c, uint64_t step, const char *to,
                              weir_ckpt_found **ret, weir_err *err);

#ifdef __cplusplus
}
#endif
#endif
