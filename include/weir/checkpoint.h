/* checkpoint.h - saving training state so that nothing acknowledged is lost.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A store is one folder, or two: a fast one that saves go to (the burst buffer)
 * and a slow one that they are drained to. A saved step is a folder `step-N` of
 * safetensors files and a MANIFEST with their checksums, which appears by one
 * rename once everything in it is on the medium (docs/formats/checkpoint.md).
 * The contract:
 *
 *  1. A step that exists is complete and its checksums match, or a restore
 *     passes it over and says so. A step that cannot be read for a reason that
 *     says nothing about the data is not passed over: the restore fails.
 *  2. After save or wait has returned 0 for step N and a level, any crash
 *     leaves N or a newer step restorable from the tier of that level, or from
 *     the slow one once it has been drained.
 *  3. A save that fails harms no older step.
 *  4. Of two writers at most one publishes; the other harms nothing, wherever it
 *     was stopped, and gets WEIR_EFENCED: from each save, wait, drain, removal.
 *  5. Nothing outside the folders is opened, followed or deleted.
 *  6. Saves are ordered by counting, not by clocks: by the opening for saving
 *     (the generation, from the last tier) and the saves in it. The newest step
 *     is the one saved last. Steps that a machine left on its fast tier before
 *     the job went on elsewhere outrank nothing (WEIR_COPY_STALE in
 *     ckpt_manage.h); those that a run has left by restoring an older step and
 *     saving on are abandoned (keep_abandoned).
 *  7. Tiers know which store they belong to. A slow tier that is not mounted or
 *     belongs to another store is an error at open, never an empty store; a
 *     store is created only if all of its tiers are new.
 *
 * A slow tier that fails or hangs (neither answers nor fails) does not hold up
 * saves to the fast tier, waits beyond their limits, or weir_ckpt_close. Calls
 * that access it themselves (open, restore, look, all of ckpt_manage.h) fail
 * with WEIR_ETIMEDOUT after drain_timeout_ms without an answer; they leave a
 * thread behind that ends when the tier answers, and touches nothing of yours.
 *
 * A store may be used by one thread at a time, except for weir_ckpt_get_stats.
 * All ranks call the functions that say so, with the same step.
 *
 * In a child of fork() calls fail with WEIR_ESTATE; close only frees memory. It
 * keeps the tiers locked, and other ranks from noticing that this one died, until
 * it exits or calls exec: fork before opening the store. */
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

/* In place of a step: the one saved last, or all steps where documented. */
#define WEIR_LATEST UINT64_MAX

/* Steps are below this. */
#define WEIR_STEP_MAX UINT64_C(1000000000000)

/* How safe a saved step is. Each level includes the previous ones. With one
 * tier SLOW is FAST. */
enum weir_level {
    WEIR_LEVEL_SNAPSHOT = 1, /* copied: the tensors may change again */
    WEIR_LEVEL_FAST,         /* on the fast tier, survives a power cut (on a
                                tmpfs or the like: the death of the process
                                only, see weir_ckpt_stats.fast_forgets) */
    WEIR_LEVEL_SLOW,         /* on the slow tier, survives a power cut */
    WEIR_LEVEL_VERIFIED,     /* and was read back from there and checked */
};

/* Programs have arrays of them: this struct never grows. */
typedef struct weir_pair {
    const char *key, *value; /* UTF-8 */
} weir_pair;

/* What to save; members that are not set are 0. Everything is borrowed during
 * the call. */
typedef struct weir_ckpt_state {
    uint64_t step;              /* < WEIR_STEP_MAX */
    const weir_tensor *tensors; /* of this rank; names are unique */
    size_t count;
    const weir_pair *metadata; /* of rank 0; keys are unique */
    size_t metadata_count;
    const void *pipeline; /* what weir_pipeline_state returned on this rank, to
                             continue the epoch where it was */
    size_t pipeline_len;  /* at most 64 MiB */
} weir_ckpt_state;

/* What this process may do with the store. Each tier has one writer at a time,
 * enforced by a lock. */
enum weir_ckpt_role {
    WEIR_CKPT_SAVE = 0, /* save and restore; with weir_ckpt_config.drain also
                           drain */
    WEIR_CKPT_DRAIN,    /* drain, while another process saves */
    WEIR_CKPT_MANAGE,   /* prune and pin: both tiers, exclusively */
    WEIR_CKPT_READ,     /* list, verify, restore; no locks, nothing changes */
    WEIR_CKPT_ADOPT,    /* weir_ckpt_adopt: both tiers, whatever store they
                           belong to */
};

/* When saves come faster than they can be written or drained. */
enum weir_behind {
    WEIR_BEHIND_BLOCK = 0, /* save waits, but not for a drain that fails, hangs
                              or is not running (drain_timeout_ms): while the
                              fast tier has room it saves there, and
                              weir_ckpt_problem returns that error */
    WEIR_BEHIND_SKIP,      /* save does nothing and returns 1 */
    WEIR_BEHIND_LATEST,    /* the snapshot waiting to be written is replaced
                              (one rank only) */
    WEIR_BEHIND_OLDEST,    /* save continues; the oldest step waiting to be
                              drained is given up (never the newest, a pinned
                              one, or one being drained) */
};

/* Fill with weir_ckpt_defaults first; defaults are in brackets. Strings are
 * copied. */
typedef struct weir_ckpt_config {
    size_t size;              /* of this struct: set by weir_ckpt_defaults */
    const char *fast;         /* folder or URL (emu:optane:/mnt/nvme); the last
                                 component is created if missing */
    const char *slow;         /* the same; NULL: one tier [NULL] */
    enum weir_ckpt_role role; /* [WEIR_CKPT_SAVE] */
    int drain;      /* 1: a thread of this process drains; 0: another process
                      does (weir ckpt drain --watch) [1] */
    int verify;     /* read back what was drained (or written, with one tier)
                      before it counts as verified and before the copy on the
                      fast tier is given up [1] */
    int take_over;  /* take the store from a live writer [0] */
    int must_exist; /* never create a store: if none exists, open fails with
                       WEIR_ENOENT [0] */

    uint32_t keep_last;  /* newest steps to keep of those that the newest one
                            continues from; 0: all, abandoned ones too [5] */
    uint64_t keep_every; /* also keep multiples of this; 0: none [0] */
    uint32_t keep_fast;  /* newest drained steps to keep on the fast tier too,
                            for quick restores; 0: it is empty once all is
                            drained, except for files to be reused [1] */

    enum weir_behind behind;   /* [WEIR_BEHIND_BLOCK] */
    uint32_t max_behind;       /* limit of steps on the fast tier waiting to be
                                  drained, not counting damaged ones; 0: as
                                  many as fit [2] */
    uint64_t drain_timeout_ms; /* calls that wait for the slow tier or the drain
                                  fail with WEIR_ETIMEDOUT if it has answered
                                  nothing for so long (at most 3/4 of
                                  comm_timeout_ms with ranks), with drain 0 also
                                  with WEIR_ESTATE if nothing was drained;
                                  0: they keep waiting [60000] */
    uint32_t snapshots;        /* buffers, each as large as the copied state; 0:
                                  1, or 2 with WEIR_BEHIND_LATEST [0] */
    uint64_t reserve;          /* bytes of state to prepare memory for at open,
                                  which makes the first snapshot as fast as the
                                  others [0] */
    uint32_t threads;          /* that copy and check; 0: one per core [0] */

    uint32_t rank, world;     /* [0 of 1] */
    const char *comm;         /* how ranks meet, with world > 1 [NULL]:
                                 "local:PATH", processes of one machine, at a
                                 socket; "tcp:HOST:PORT", of several, at a port of
                                 rank 0's host (WEIR_SECRET keeps strangers out);
                                 "mpi:openmpi" or "mpi:mpich", started by that
                                 MPI's launcher. If the program has initialized
                                 MPI itself, then with MPI_THREAD_MULTIPLE */
    uint64_t comm_timeout_ms; /* how long to wait for a rank before it counts as
                                 missing: longer than the ranks' write times may
                                 differ [60000] */

    /* Called now and then during drain, verify, restore and prune, in the
     * calling thread; a nonzero return ends them with WEIR_ECANCELED. */
    int (*progress)(void *arg, uint64_t bytes_done, uint64_t bytes_total);
    void *progress_arg;        /* [NULL] */
    uint64_t max_behind_bytes; /* like max_behind, in bytes; 0: no limit [0] */
    uint64_t close_timeout_ms; /* how long close waits for a slow tier that does
                                  not answer; 0: without limit [30000] */
    const char *store;         /* the id that the store must have; none is
                                created [NULL: any] */
    uint32_t keep_abandoned;   /* newest steps to keep of those that the run has
                                left by going back [1] */
    int dry_run; /* roles MANAGE and ADOPT: calls tell what they would do [0] */
} weir_ckpt_config;

/* Fills `cfg` with the defaults named above. (Functions named _sized take the
 * size of what callers have that do not compile this header.) */
WEIR_API void weir_ckpt_defaults_sized(weir_ckpt_config *cfg, size_t size);
static inline void weir_ckpt_defaults(weir_ckpt_config *cfg)
{
    weir_ckpt_defaults_sized(cfg, sizeof(*cfg));
}

/* Opens a store; all ranks. Removes the remains of interrupted saves (all roles
 * except READ) and, with cfg.drain, resumes draining. WEIR_EBUSY: another
 * process writes there. On failure *ret is untouched. */
WEIR_API int weir_ckpt_open(weir_ckpt **ret, const weir_ckpt_config *cfg,
                            weir_err *err);

/* Waits until everything saved is on the fast tier, stops the threads, closes
 * and sets *c to NULL; all ranks. Steps not yet drained are drained by the next
 * open or by `weir ckpt drain`. A thread blocked by a hanging slow tier is
 * abandoned after cfg.close_timeout_ms and ends when the tier answers; until
 * then this process keeps the lock of the slow tier, but not that of the fast
 * one. Returns an error of saving or draining in the background that no earlier
 * call returned. NULL and pointer to NULL are fine. */
WEIR_API int weir_ckpt_close(weir_ckpt **c, weir_err *err);

/* Saves and returns when `level` is reached; all ranks. The tensors must not
 * change before it returns; levels above SNAPSHOT write whole pages of them in
 * place (page-aligned memory saves a copy and the memory for it; in restore, a
 * copy). Returns 1 if it was skipped (WEIR_BEHIND_SKIP). WEIR_EEXIST: the step
 * already exists; see weir_ckpt_prune for going back.
 *
 * Returns what became of this save. Errors of earlier ones in the background and
 * of drains are returned once each by weir_ckpt_problem, wait, drain or close.
 * WEIR_EFENCED: another writer took the store; every save, wait and drain
 * returns it from then on.
 *
 * A failed save says "step 110 was not saved", unless it failed so late that
 * the step exists: then "step 110 is on the fast tier, but may not survive a
 * power cut". If draining this step fails while `level` waits for it, that
 * error is returned; the step is on the fast tier then, and weir_ckpt_wait
 * continues to wait. */
WEIR_API int weir_ckpt_save_sized(weir_ckpt *c, const weir_ckpt_state *state,
                                  size_t size, enum weir_level level,
                                  weir_err *err);
static inline int weir_ckpt_save(weir_ckpt *c, const weir_ckpt_state *state,
                                 enum weir_level level, weir_err *err)
{
    return weir_ckpt_save_sized(c, state, sizeof(*state), level, err);
}

/* Waits until `step` (WEIR_LATEST: every saved step) has reached `level`;
 * timeout_ms < 0: without limit. Returns WEIR_ETIMEDOUT, the reason why it
 * never will, or the error of a failed attempt to drain it (more attempts
 * follow). Ranks other than 0, and all ranks with drain 0, look at the tiers:
 * they notice that rank 0 died or that no process drains, but not why an
 * attempt of rank 0, or of another process, failed. */
WEIR_API int weir_ckpt_wait(weir_ckpt *c, uint64_t step, enum weir_level level,
                            int64_t timeout_ms, weir_err *err);

/* What a restore found; allocated by the library, grows at the end. */
typedef struct weir_ckpt_found {
    uint64_t step;
    uint64_t time_ns;           /* of the save, since 1970 */
    uint32_t world;             /* number of ranks that saved it */
    const char *tier;           /* "fast" (the only one, too) or "slow" */
    const weir_tensor *tensors; /* of this rank's file, data NULL; with a
                                   different number of ranks, of all files, with
                                   identical tensors of several ranks once */
    size_t count;
    const weir_pair *metadata;
    size_t metadata_count;
    const void *const *pipeline; /* of all ranks, as weir_pipeline_config's */
    const size_t *pipeline_len;  /* resume, resume_len and resume_count */
    size_t pipeline_count;
    const char *const *passed_over; /* nearer or newer copies that are damaged
                                       or could not be read, and why */
    size_t passed_over_count;
    uint64_t differing; /* restored tensors whose copies are known to differ
                           between ranks: the lowest rank's was taken. Detected
                           by checksums only: 0 promises nothing */
} weir_ckpt_found;

/* Reads `step` (or WEIR_LATEST) into the memory of `into`; all ranks. Verifies
 * every checksum of what it reads (count 0: headers only). Takes the nearest
 * copy that is intact on all ranks: the other tier's if one is damaged, then
 * (for WEIR_LATEST) an older step. A copy that cannot be read although it is
 * not known to be damaged (EMFILE, EACCES, EIO, ...) is retried briefly; then
 * another copy of the same save is taken, or the restore fails with that error,
 * and an older step must be requested by number. Returns 1, or 0 if the store
 * has no steps at all; if it has steps and none can be read, it fails with
 * WEIR_EDAMAGED: training never silently starts from nothing. A tensor that is
 * not in the checkpoint, or has a different type or shape, is an error, and no
 * older step is tried. After a failure the contents of the memory are
 * undefined. *ret (may be NULL) is freed with weir_ckpt_found_free.
 *
 * With a different number of ranks than at the save, tensors are searched for
 * in the files of all ranks. If several ranks have a name with the same type
 * and shape (data-parallel replicas), the lowest rank's tensor is taken;
 * different types or shapes are an error. */
WEIR_API int weir_ckpt_restore(weir_ckpt *c, uint64_t step,
                               const weir_tensor *into, size_t count,
                               weir_ckpt_found **ret, weir_err *err);

/* Finds a step as restore does; manifest and headers are checked, no tensors. */
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
