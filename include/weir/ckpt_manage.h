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
    WEIR_COPY_NONE = 0,
    WEIR_COPY_DAMAGED =
        1, /* its manifest cannot be read, a file is missing or has
                          another size, or whoever drains found it damaged */
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
    char problem[200]; /* of a damaged or unknown copy */
    uint64_t reserved[4];
} weir_ckpt_entry;

/* All steps, rising. free() *ret. */
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

/* Copies a step out, for other programs: a new folder `to` gets its safetensors
 * files and manifest, checked on the way. Finds it and returns as
 * weir_ckpt_restore does; one process alone. WEIR_EEXIST: `to` is there. */
WEIR_API int weir_ckpt_export(weir_ckpt *c, uint64_t step, const char *to,
                              weir_ckpt_found **ret, weir_err *err);

#ifdef __cplusplus
}
#endif
#endif
