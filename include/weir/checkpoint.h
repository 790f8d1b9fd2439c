/* checkpoint.h - saving training state so that nothing acknowledged is lost.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A store is one folder, or two: a fast one that saves go to (the burst
 * buffer) and a slow one that they are drained to. A saved step is a folder
 * `step-N` of safetensors files and a MANIFEST with their checksums, which
 * appears by one rename after all in it is on the medium
 * (docs/formats/checkpoint.md). The contract:
 *
 *  1. A step that is there is complete and its checksums agree, or a restore
 *     passes it over and says so. What cannot be read, for a reason that says
 *     nothing about the data, is not passed over: the restore fails.
 *  2. After save or wait returned 0 for step N and a level, any crash leaves N
 *     or a newer step restorable from the tier of that level, or from the slow
 *     one after it was drained.
 *  3. A save that fails harms no older step.
 *  4. Of two writers at most one publishes; the other gets WEIR_EFENCED.
 *  5. Nothing outside the folders is opened, followed or deleted.
 *  6. Which save is newer is counted, not timed: steps are ordered by
 *     (generation, step), where each opening for saving takes the next generation
 *     from the last tier. What a machine left on its fast tier before the job
 *     went on elsewhere neither replaces nor outranks anything (WEIR_COPY_STALE
 *     in ckpt_manage.h).
 *  7. Tiers know which store they belong to. A slow tier that is not mounted, or
 *     is another store's, is an error at open and never an empty store; a store
 *     is made only where all of its tiers are new.
 *
 * A slow tier that hangs (storage that neither answers nor fails) holds up no
 * save to the fast tier, no wait beyond its limits, and not weir_ckpt_close. What
 * looks at the slow tier itself may hang with it: weir_ckpt_open, restore, look,
 * and all of ckpt_manage.h.
 *
 * A store is used by one thread at a time, weir_ckpt_stats aside. All ranks
 * call the functions that say so, with the same step.
 *
 * A child of fork() must not use the store. Until it ends or calls exec it also
 * keeps the tiers locked, and other ranks from noticing that this one died:
 * start such children before the store is opened.
 */
#ifndef WEIR_CHECKPOINT_H
#define WEIR_CHECKPOINT_H

#include <stddef.h>
#include <stdint.h>

#include "weir/dtype.h"
#include "weir/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weir_ckpt weir_ckpt;

/* In place of a step: the newest one, by (generation, step); where it says so,
 * all of them. */
#define WEIR_LATEST UINT64_MAX

/* Steps are below this. */
#define WEIR_STEP_MAX UINT64_C(1000000000000)

#define WEIR_TENSOR_DIMS 8

/* How safe a saved step is. Each level includes those before. With one tier
 * SLOW is FAST. */
enum weir_level {
    WEIR_LEVEL_SNAPSHOT = 1, /* copied: the tensors may change again */
    WEIR_LEVEL_FAST,         /* on the fast tier, survives a power cut (where
                                that forgets, as a tmpfs does: a dying process,
                                see weir_ckpt_stats.fast_forgets) */
    WEIR_LEVEL_SLOW,         /* on the slow tier, survives a power cut */
    WEIR_LEVEL_VERIFIED,     /* and was read back from there and checked */
};

/* One tensor: row-major, little-endian, without gaps. */
typedef struct weir_tensor {
    const char *name; /* UTF-8, not empty, not "__metadata__" */
    enum weir_dtype dtype;
    uint32_t ndim; /* 0: a scalar */
    uint64_t shape[WEIR_TENSOR_DIMS];
    void *data; /* of elements * bits / 8 bytes, which must be whole */
} weir_tensor;

typedef struct weir_pair {
    const char *key, *value; /* UTF-8 */
} weir_pair;

/* What is saved. All is borrowed during the call. */
typedef struct weir_ckpt_state {
    uint64_t step;              /* < WEIR_STEP_MAX */
    const weir_tensor *tensors; /* of this rank; names are unique */
    size_t count;
    const weir_pair *metadata; /* of rank 0; keys are unique */
    size_t metadata_count;
    const void *pipeline; /* what weir_pipeline_state gave on this rank, so
                             that the epoch goes on where it was */
    size_t pipeline_len;  /* at most 64 MiB */
    uint64_t reserved[4]; /* 0 */
} weir_ckpt_state;

/* What this process may do with the store. Each tier has one writer at a time,
 * kept by a lock. */
enum weir_ckpt_role {
    WEIR_CKPT_SAVE = 0, /* save and restore; with weir_ckpt_config.drain also
                           drain */
    WEIR_CKPT_DRAIN,    /* drain, while another process saves */
    WEIR_CKPT_MANAGE,   /* prune and pin: both tiers, no one else */
    WEIR_CKPT_READ,     /* list, verify, restore; no locks, nothing changes */
    WEIR_CKPT_ADOPT,    /* weir_ckpt_adopt: both tiers, whatever store they
                           belong to */
};

/* When saves come faster than they can be written or drained. */
enum weir_behind {
    WEIR_BEHIND_BLOCK = 0, /* save waits; but not for a drain that fails, hangs
                              or is not there (drain_timeout_ms): while the fast
                              tier has room it saves there, and the next call
                              returns that error */
    WEIR_BEHIND_SKIP,      /* save does nothing and returns 1 */
    WEIR_BEHIND_LATEST,    /* the snapshot that waits to be written is replaced
                              (one rank only) */
    WEIR_BEHIND_OLDEST,    /* save goes on; of the steps that wait to be drained
                              the oldest is given up (never the newest, a pinned
                              one, or one that is being drained) */
};

/* Fill with weir_ckpt_defaults first; the default stands in brackets. Texts are
 * copied. */
typedef struct weir_ckpt_config {
    const char *fast; /* folder or URL (emu:optane:/mnt/nvme); the last part is
                         made when it is missing */
    const char *slow; /* the same; NULL: one tier [NULL] */
    enum weir_ckpt_role role; /* [WEIR_CKPT_SAVE] */
    int drain;      /* 1: a thread of this process drains; 0: another process
                      does (weir ckpt drain --watch) [1] */
    int verify;     /* read back what was drained (or written, with one tier)
                      before it counts as verified and before the copy on the
                      fast tier is given up [1] */
    int take_over;  /* a writer that is alive loses the store to this one [0] */
    int must_exist; /* no store is made: when there is none the open fails with
                       WEIR_ENOENT [0] */

    uint32_t keep_last;  /* newest steps that stay; 0: all [5] */
    uint64_t keep_every; /* and every step that is a multiple; 0: none [0] */
    uint32_t keep_fast;  /* newest drained steps that stay on the fast tier too,
                            for quick restores; 0: it is empty when all is
                            drained, but for files to be overwritten [1] */

    enum weir_behind behind; /* [WEIR_BEHIND_BLOCK] */
    uint32_t max_behind;     /* steps on the fast tier that wait to be drained,
                                at most; damaged ones do not wait; 0: as many
                                as there is room for [2] */
    uint64_t drain_timeout_ms; /* saves and waits that wait for the drain fail
                                with WEIR_ETIMEDOUT when no call to the slow
                                tier has returned for so long, and, with drain
                                0, with WEIR_ESTATE when no process has been
                                draining; 0: they wait on [60000] */
    uint32_t snapshots;        /* buffers, as large as what is copied; 0: 1, or
                                2 with WEIR_BEHIND_LATEST [0] */
    uint64_t reserve;          /* bytes of state to make ready for at open, so
                                that the first snapshot is as fast as the
                                others [0] */
    uint32_t threads;          /* that copy and check; 0: one per core [0] */

    uint32_t rank, world;     /* [0 of 1] */
    const char *comm;         /* how ranks meet, with world > 1: "local:PATH",
                               processes of one machine at a socket [NULL] */
    uint64_t comm_timeout_ms; /* a rank that does not come is missing: longer
                               than the ranks' writes may differ [60000] */

    /* Called now and then during drain, verify, restore and prune, in the
     * calling thread; another return than 0 ends them with WEIR_ECANCELED. */
    int (*progress)(void *arg, uint64_t bytes_done, uint64_t bytes_total);
    void *progress_arg;        /* [NULL] */
    uint64_t max_behind_bytes; /* too many steps wait also when they have so
                                many bytes; 0: no limit [0] */
    uint64_t close_timeout_ms; /* close waits so long for a slow tier that does
                                not answer; 0: it waits on [30000] */
    uint64_t reserved[6];      /* 0 */
} weir_ckpt_config;

/* Fills `cfg` with the defaults named above. */
WEIR_API void weir_ckpt_defaults(weir_ckpt_config *cfg);

/* Opens a store; all ranks. Removes what interrupted saves left behind (roles
 * but READ) and, with cfg.drain, goes on draining. WEIR_EBUSY: another process
 * writes there. On failure *ret is untouched. */
WEIR_API int weir_ckpt_open(weir_ckpt **ret, const weir_ckpt_config *cfg,
                            weir_err *err);

/* Waits until what was saved is on the fast tier, stops the threads, closes and
 * sets *c to NULL; all ranks. What is not drained yet is drained by the next
 * open or by `weir ckpt drain`. A thread that a hanging slow tier holds is left
 * behind after cfg.close_timeout_ms, and ends when the tier answers; until then
 * this process keeps the lock of the slow tier, but not that of the fast one.
 * Returns an error of saving or draining in the background that no call returned
 * before. NULL and pointer to NULL are fine. */
WEIR_API int weir_ckpt_close(weir_ckpt **c, weir_err *err);

/* Saves and returns when `level` is reached; all ranks. The tensors must not
 * change before; levels above SNAPSHOT write whole pages of them from where they
 * are (memory that starts at a page spares a copy and the memory for it; in
 * restore, a copy). Returns 1 when it was skipped (WEIR_BEHIND_SKIP).
 * WEIR_EEXIST: the step is there; see weir_ckpt_prune for going back.
 *
 * Errors of the background (a save at SNAPSHOT that failed later, a drain) are
 * returned once, by the next save, weir_ckpt_wait, weir_ckpt_drain or close; calls
 * that read or manage do not return them. This call saves its own step all the
 * same and then returns the earlier error, whose message ends with what became
 * of this step: "step 100 was not saved: ...; step 110 is saved" ("is copied" at
 * SNAPSHOT, "was skipped"). If this save fails too, its own error is returned,
 * with the earlier one behind it: "step 110 was not saved: ...; before that: step
 * 100 was not saved: ...". What goes wrong during the call, but is not of this
 * step, is left to the next one.
 *
 * A failed save says "step 110 was not saved", unless it failed so late that the
 * step is there: then "step 110 is on the fast tier, but may not survive a power
 * cut". When draining this step fails while `level` waits for it, that error is
 * returned; the step is on the fast tier then and weir_ckpt_wait waits on. */
WEIR_API int weir_ckpt_save(weir_ckpt *c, const weir_ckpt_state *state,
                            enum weir_level level, weir_err *err);

/* Waits until `step` (WEIR_LATEST: all that was saved) has reached `level`;
 * timeout_ms < 0: for ever. WEIR_ETIMEDOUT, or why it never will, or an attempt
 * to drain it that failed (more follow). Other ranks than 0, and all with drain
 * 0, look at the tiers: they notice that rank 0 died and that no process drains,
 * but not what an attempt of rank 0, or of another process, fails with. (What a
 * save or close of rank 0 returns all ranks get.) */
WEIR_API int weir_ckpt_wait(weir_ckpt *c, uint64_t step, enum weir_level level,
                            int64_t timeout_ms, weir_err *err);

/* What a restore found. */
typedef struct weir_ckpt_found {
    uint64_t step;
    uint64_t time_ns;           /* of the save, since 1970 */
    uint32_t world;             /* ranks that there were */
    const char *tier;           /* "fast" (the only one, too) or "slow" */
    const weir_tensor *tensors; /* of this rank's file, data NULL; of all files
                                   when the number of ranks is another, those
                                   that several ranks have alike once */
    size_t count;
    const weir_pair *metadata;
    size_t metadata_count;
    const void *const *pipeline; /* of all ranks, as weir_pipeline_config's */
    const size_t *pipeline_len;  /* resume, resume_len and resume_count */
    size_t pipeline_count;
    const char *const *passed_over; /* copies that were nearer or newer and are
                                       damaged, or could not be read, and why */
    size_t passed_over_count;
    uint64_t differing; /* restored tensors of which the ranks' copies are known
                           to differ: that of the lowest rank was taken. Found
                           by checksums alone, so 0 promises nothing */
    uint64_t reserved[3];
} weir_ckpt_found;

/* Reads `step` (or WEIR_LATEST) into the memory of `into`; all ranks. Checks
 * every checksum of what it reads (count 0: heads only). Takes the nearest copy
 * that is whole on all ranks: the other tier when one is damaged, then (for
 * WEIR_LATEST) an older step. A copy that cannot be read although it is not known
 * to be damaged (EMFILE, EACCES, EIO, ...) is tried again for a moment; then
 * another copy of the same save is taken, or the restore fails with that error,
 * and an older step has to be asked for by its number. Returns 1, or 0 when the
 * store has no steps at all; when there are some and none can be read it fails
 * with WEIR_EDAMAGED, so that no training starts from nothing unnoticed. A
 * tensor that is not in the checkpoint, or has another type or shape, is an
 * error and no reason to look further. After a failure the memory holds
 * anything. *ret (may be NULL) is freed with weir_ckpt_found_free.
 *
 * With another number of ranks than there were, tensors are looked for in the
 * files of all of them. Of a name that several have with the same type and shape
 * (data-parallel replicas) the lowest rank's is taken; with different ones it is
 * an error. */
WEIR_API int weir_ckpt_restore(weir_ckpt *c, uint64_t step,
                               const weir_tensor *into, size_t count,
                               weir_ckpt_found **ret, weir_err *err);

/* Finds a step as weir_ckpt_restore does, without reading tensors: manifest and
 * headers are checked. */
WEIR_API int weir_ckpt_look(weir_ckpt *c, uint64_t step, weir_ckpt_found **ret,
                            weir_err *err);

/* Frees what a restore, look or export found and sets *found to NULL; NULL and
 * pointer to NULL are fine. */
WEIR_API void weir_ckpt_found_free(weir_ckpt_found **found);

#ifdef __cplusplus
}
#endif

#include "weir/ckpt_stats.h" /* how long saves took, and statistics */

#endif
