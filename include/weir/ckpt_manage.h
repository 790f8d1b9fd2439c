/* ckpt_manage.h - looking after saved steps: list, verify, drain, pin, prune,
 * copy out.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_CKPT_MANAGE_H
#define WEIR_CKPT_MANAGE_H

#include "weir/checkpoint.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One copy of a step on a tier. */
enum weir_copy {
    WEIR_COPY_UNKNOWN = -2, /* cannot be looked at now (see `problem`), which
                               says nothing about it */
    WEIR_COPY_STALE = -1,   /* whole, but older than what is there: another
                             machine went on without it, or this step was saved
                             again. It is never drained, and outranks nothing;
                             see weir_ckpt_adopt and weir_ckpt_discard */
    WEIR_COPY_NONE = 0,
    WEIR_COPY_DAMAGED = 1, /* its manifest cannot be read, a file is missing or
                              has another size, or whoever drains found it
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
    /* Steps are ordered by (generation, step): counted, not timed. 0: of an
     * earlier version. */
    uint64_t generation; /* openings for saving of this store */
    uint64_t seq;        /* saves of that writer */
    uint64_t reserved[2];
} weir_ckpt_entry;

/* All steps, rising by number; copies that were set aside (fast is
 * WEIR_COPY_STALE, slow WEIR_COPY_NONE) behind the step of their number. free()
 * *ret. */
WEIR_API int weir_ckpt_list(weir_ckpt *c, weir_ckpt_entry **ret,
                            size_t *ret_count, weir_err *err);

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
 * the page cache. Returns the number of damaged copies; when there is none, but
 * some could not be read (permissions, descriptors, I/O errors), the error of the
 * first of those. A copy that a drain gave
 * up as damaged and that is good after all is drained again. `fn` may be NULL. */
WEIR_API int weir_ckpt_verify(weir_ckpt *c, uint64_t step,
                              weir_ckpt_checked_fn fn, void *arg,
                              weir_err *err);

/* Drains all that is there now, in this call (role DRAIN or SAVE). */
WEIR_API int weir_ckpt_drain(weir_ckpt *c, weir_err *err);

/* A pinned step stays until it is unpinned (on = 0). Any role: a pin is a file
 * of its own, and may be set while another process saves. */
WEIR_API int weir_ckpt_pin(weir_ckpt *c, uint64_t step, int on, weir_err *err);

/* All 0: nothing goes but what is drained, from the fast tier. */
typedef struct weir_ckpt_prune_plan {
    uint32_t keep_last; /* as in weir_ckpt_config */
    uint64_t keep_every;
    int go_back;    /* 1: everything newer than `after` goes, pinned or not,
                       drained or not */
    uint64_t after; /* 0 without go_back */
    int spare;      /* also the space that is kept for the next saves */
    int dry_run;
    /* What goes (or would go) from tier "fast" (the only one, too) or "slow";
     * with `spare` also step WEIR_LATEST. May be NULL. */
    void (*gone)(void *arg, uint64_t step, const char *tier, uint64_t bytes);
    void *arg;
    uint64_t reserved[4];
} weir_ckpt_prune_plan;

/* Applies retention now (role SAVE or MANAGE). The newest step, the newest
 * verified copy, pinned steps and what is not drained stay. */
WEIR_API int weir_ckpt_prune(weir_ckpt *c, const weir_ckpt_prune_plan *plan,
                             weir_err *err);

/* Removes a step, from tier "fast" (the only one, too), "slow" or, with NULL,
 * from both, whatever retention says (role MANAGE). A pinned step is refused
 * with WEIR_EBUSY; WEIR_ENOENT: it is not there. */
WEIR_API int weir_ckpt_remove(weir_ckpt *c, uint64_t step, const char *tier,
                              weir_err *err);

/* A copy on a fast tier that is older than what is there (WEIR_COPY_STALE): the
 * job went on elsewhere before it was drained. It harms nothing and stays until
 * somebody decides. */
typedef struct weir_ckpt_stale {
    uint64_t step, bytes;
    int code;         /* 0, or why it was not adopted */
    const char *text; /* that in words; "" */
} weir_ckpt_stale;

typedef void (*weir_ckpt_stale_fn)(void *arg, const weir_ckpt_stale *s);

/* Drains stale copies of `step` (WEIR_LATEST: all) after all (role
 * WEIR_CKPT_ADOPT). They keep their rank, below what was saved later, and are
 * pinned. With WEIR_LATEST the two tiers then belong together, whatever store
 * they were of, and an empty slow one becomes a store; one tier alone becomes a
 * store of its own. Returns how many copies were not adopted, mostly because the
 * slow tier has a newer step of that number; `fn` (may be NULL) is told each. */
WEIR_API int weir_ckpt_adopt(weir_ckpt *c, uint64_t step, weir_ckpt_stale_fn fn,
                             void *arg, weir_err *err);

/* Removes stale copies of `step` (WEIR_LATEST: all) from the fast tier (role
 * MANAGE). Returns how many. */
WEIR_API int weir_ckpt_discard(weir_ckpt *c, uint64_t step,
                               weir_ckpt_stale_fn fn, void *arg, weir_err *err);

/* Copies a step out, for other programs: a new folder `to` gets its safetensors
 * files and manifest, checked on the way. Finds it and returns as
 * weir_ckpt_restore does; one process alone. WEIR_EEXIST: `to` is there. */
WEIR_API int weir_ckpt_export(weir_ckpt *c, uint64_t step, const char *to,
                              weir_ckpt_found **ret, weir_err *err);

#ifdef __cplusplus
}
#endif
#endif
