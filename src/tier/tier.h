/* tier.h - one folder of saved steps: who writes, what is there, publishing.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     step-000000000100/   a saved step; never changed, only renamed away
 *     .writer-NUMBER/ID/   where the tier's writer works: what it is writing
 *                          (tmp-*), former steps whose files the next save
 *                          overwrites, because blocks that are there are written
 *                          2 to 4 times as fast as new ones (slot-*), what is
 *                          on its way out (trash-*)
 *     .stale-N-ID          set aside: another machine went on without it
 *     .weir/lock           locked by the writer; held in its folder while that
 *                          is still locked by one that it has taken over from
 *     .weir/pin-N, .weir/verified-N, .weir/damaged-N   marks of step N; the
 *                          latter two hold the manifest's id, damaged-N also
 *                          why: its drain was given up
 *     .weir/store          which store it belongs to (link.h)
 *     .weir/generation-N   counts openings for saving
 *
 * A writer that another one has taken over from may be stopped anywhere and go
 * on much later. The new one has removed its folder by then, and every rename by
 * which a writer changes a tier begins or ends below that folder: it fails. So
 * nothing that the new writer does can be undone by the old one
 * (docs/decisions/0034-claims-are-folders.md).
 *
 * The order of things that makes a step survive a power cut is in
 * docs/formats/checkpoint.md. Functions may be called from several threads;
 * those that change a tier are for its writer, retiring aside: whoever drains
 * retires on the fast tier too. */
#ifndef WR_TIER_TIER_H
#define WR_TIER_TIER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "storage/storage.h"
#include "tier/known.h"
#include "tier/manifest.h"

#define WR_TIER_PATH 160 /* of anything in a tier */

struct wr_tier {
    struct wr_store *store;        /* owned */
    char *shown;                   /* owned: its URL, for messages */
    const char *label;             /* "fast" or "slow"; static */
    char store_id[WR_MANIFEST_ID]; /* of the store; "": none yet */
    pthread_mutex_t holding;       /* guards the next two; a leaf lock */
    struct wr_object *lock;        /* owned; NULL: not the writer */
    struct wr_object *held;        /* owned: stands in for it; NULL: need not */
    _Atomic bool locked;        /* false after a take-over: still another's */
    uint64_t epoch;             /* number of this writer; 0: it is not one */
    char work[WR_TIER_PATH];    /* its folder */
    char beside[WR_TIER_PATH];  /* the folder of another writer, beside which
                                   this one takes steps away; "": it does not */
    unsigned slots;             /* slot-* kept at most [1] */
    struct wr_known *known;     /* owned: what manifests said (step.c) */
    atomic_bool untidy;         /* something could not be removed */
    atomic_bool unsynced;       /* a step was renamed there, and that could not
                                   be made to last */
    atomic_uint_fast64_t calls; /* of storage that have returned, but for
                                    what files hold: who waits sees it work */
};

/* Opens the folder; its last part is made when it is missing (and `create`),
 * and is then synced into its parent. Missing and not `create`: WEIR_ENOENT. */
int wr_tier_open(const char *url, const char *label, bool create,
                 struct wr_tier **ret, weir_err *err);
/* The same for a store that is open (tests); takes it, also on failure. */
int wr_tier_wrap(struct wr_store *st, const char *shown, const char *label,
                 struct wr_tier **ret, weir_err *err);
void wr_tier_close(struct wr_tier *t); /* takes NULL; gives up the lock */

/* The store that it belongs to from now on. What was counted in another counts
 * for nothing, so what is known of its steps is forgotten. */
void wr_tier_set_store(struct wr_tier *t, const char id[WR_MANIFEST_ID]);
/* Whether a manifest was counted (generation, seq) in this tier's store. */
bool wr_tier_counts(const struct wr_tier *t, const struct wr_manifest *m);

/* Becomes the writer: the lock (WEIR_EBUSY: held; take_over: goes on without
 * it), a folder of its own, whose number is the next epoch, and what earlier
 * writers left is removed: their folders but for `slots` slots, marks of steps
 * that are gone. Nothing else is touched. WEIR_EFENCED: another one took over
 * meanwhile. ret_swept may be NULL. */
int wr_tier_claim(struct wr_tier *t, bool take_over, uint64_t *ret_swept,
                  weir_err *err);
/* WEIR_EFENCED when another has taken over, WEIR_ENOENT when the folder was
 * removed. Takes the lock when who had it at a take-over is gone. 0 for who is
 * no writer. */
int wr_tier_check_claim(struct wr_tier *t, weir_err *err);
/* Whether it is this tier's writer. */
static inline bool wr_tier_is_writer(const struct wr_tier *t)
{
    return t->epoch > 0;
}
/* For a process that takes steps away on the tier of another writer, because it
 * drains that: from now on it uses the folder of the writer that is there now,
 * until it asks again, and makes one where there is none. When that writer is
 * taken over from, taking away fails with WEIR_ECHANGED: the new writer may have
 * saved other steps under the same numbers. What was known of the tier is to be
 * looked at again, after this call, when *ret_other says that the folder is
 * another one than at the last call. */
int wr_tier_stand_by(struct wr_tier *t, bool *ret_other, weir_err *err);
/* Gives up the lock. Another thread may still use the tier, but is its writer
 * only until the next claim. */
void wr_tier_let_go(struct wr_tier *t);
/* 1: some process is the writer now, or the storage does not tell (the lock of
 * another user is for that user alone); 0: none is;
 * else why it cannot be told. */
int wr_tier_ask_claimed(struct wr_tier *t, weir_err *err);
/* Whether some process is the writer now; true when it cannot be told. */
bool wr_tier_is_claimed(struct wr_tier *t);
/* What a failure `r` of writing there comes from: WEIR_EFENCED when the new
 * writer has swept away what was being written, WEIR_ENOENT when the folder was
 * removed, else `r` and `err` as they are. */
int wr_tier_blame(struct wr_tier *t, int r, weir_err *err);

/* The steps that there are by their names, rising; what is no folder is damaged
 * (wr_tier_manifest), and not taken away. free(). */
int wr_tier_steps(struct wr_tier *t, uint64_t **ret, size_t *ret_count,
                  weir_err *err);
bool wr_tier_has(struct wr_tier *t, uint64_t step);

/* Reads and checks the manifest of a step, and that its files are there with
 * their sizes. WEIR_ENOENT: no such step. */
int wr_tier_manifest(struct wr_tier *t, uint64_t step, struct wr_manifest *ret,
                     weir_err *err);

/* "step-000000000100/r00000.safetensors" */
void wr_tier_shard_path(uint64_t step, uint32_t rank, char ret[WR_TIER_PATH]);

/* An error `r` of a file in the tier: a message that begins with its path gets
 * the whole one, "'/fast/step-...". Returns `r`. */
int wr_tier_name_whole(const struct wr_tier *t, const char *path, int r,
                       weir_err *err);

/* --- publishing --- */

/* A step that is being written: the folder that it is written in. */
struct wr_pending {
    uint64_t step;
    char dir[WR_TIER_PATH]; /* ".writer-.../tmp-..." */
    bool replaces; /* the step that is there goes when this one is published */
    bool placed;   /* it is there, and what `dir` is now may be the old one */
    bool unsure; /* publishing it failed so late that it is, or may be, there */
};

/* Makes the folder, from a slot where there is one. `bytes` is what will be
 * written: where they do not fit, spare slots are removed, and if that is not
 * enough WEIR_ENOSPC says how much is needed and free; nothing has changed
 * then. WEIR_EEXIST: the step is there. */
int wr_tier_begin(struct wr_tier *t, uint64_t step, uint64_t bytes,
                  struct wr_pending *ret, weir_err *err);
/* The same for a step that may be there: the new one is written beside it. If it
 * is there, `replaces` has to be set before the new one is published. */
int wr_tier_begin_beside(struct wr_tier *t, uint64_t step, uint64_t bytes,
                         struct wr_pending *ret, weir_err *err);
/* Removes files of ranks that there were when it was a step and that there are
 * not now, before theirs are written: their space was counted as free. One that
 * cannot be removed does no harm. */
void wr_tier_trim(struct wr_tier *t, const struct wr_pending *p,
                  uint32_t world);
void wr_pending_shard_path(const struct wr_pending *p, uint32_t rank,
                           char ret[WR_TIER_PATH]);
/* After a rank's file is written and synced: its entry. Every rank. */
int wr_tier_sync_pending(struct wr_tier *t, const struct wr_pending *p,
                         weir_err *err);
/* Removes files that `m` does not name where it can, writes the manifest, syncs,
 * checks the claim, renames the folder, syncs the root. A step that it replaces
 * changes places with it; where the storage cannot do that, it is renamed away
 * right before, so that it is missing for two renames and not for syncs, and comes
 * back when the second one fails. When it fails the step was not acknowledged;
 * where it is there all the same, or nobody knows, p->unsure is set and the
 * message says so. What is left of the pending folder is removed, unless it may
 * be the old step. */
int wr_tier_publish(struct wr_tier *t, struct wr_pending *p,
                    const struct wr_manifest *m, weir_err *err);
/* Which steps there are lasts: the root, and the writer's folder, where they
 * come from and go to. */
int wr_tier_sync_root(struct wr_tier *t, weir_err *err);
/* The same where a step was published and that could not be synced: nobody may
 * rely on it before. */
int wr_tier_settle(struct wr_tier *t, weir_err *err);
/* Removes a pending folder; errors do not matter, the next claim does it. */
void wr_tier_abandon(struct wr_tier *t, const struct wr_pending *p);

/* --- taking away --- */

/* Takes a step away, durably: it becomes a slot, or is removed when there are
 * enough. A step that is not there is no error. WEIR_ECHANGED: see
 * wr_tier_stand_by. */
int wr_tier_retire(struct wr_tier *t, uint64_t step, weir_err *err);
/* A step that goes unless it was saved anew since it was looked at, by another
 * thread or process: `may_go` is asked about what is there, before it is renamed and
 * afterwards. Not about what is damaged. */
struct wr_leaving {
    uint64_t step;
    bool (*may_go)(void *arg, const struct wr_manifest *m);
    void *arg;
};
/* The same for such a step. WEIR_ECHANGED: also when it may not go, and is where it
 * was. */
int wr_tier_retire_if(struct wr_tier *t, const struct wr_leaving *l,
                      weir_err *err);
/* The same, but its files are not overwritten by the next save: another process
 * may be reading them. */
int wr_tier_discard(struct wr_tier *t, uint64_t step, weir_err *err);
/* Bytes in slots (ret_bytes may be NULL), which are removed if `drop`. */
int wr_tier_spare(struct wr_tier *t, bool drop, uint64_t *ret_bytes,
                  weir_err *err);

/* --- marks --- */

enum wr_mark { WR_MARK_PIN, WR_MARK_VERIFIED, WR_MARK_DAMAGED, WR_MARKS };

/* `text` is its content ("" for none). Durable when it returns. Any process may
 * take a mark off, as it may set one. */
int wr_tier_mark(struct wr_tier *t, enum wr_mark kind, uint64_t step,
                 const char *text, weir_err *err);
int wr_tier_unmark(struct wr_tier *t, enum wr_mark kind, uint64_t step,
                   weir_err *err);
/* Whether it is there; its content where ret is not NULL, cut to `cap`. */
bool wr_tier_marked(struct wr_tier *t, enum wr_mark kind, uint64_t step,
                    char *ret, size_t cap);
/* Verified, and the mark is of this manifest. */
bool wr_tier_is_verified(struct wr_tier *t, const struct wr_manifest *m);
/* Marks the copy with this id as damaged; any process may, as with a pin. */
int wr_tier_mark_damaged(struct wr_tier *t, uint64_t step, const char *id,
                         const char *why, weir_err *err);
/* Whether that was done, and why: ret is WEIR_EDAMAGED. */
bool wr_tier_is_damaged(struct wr_tier *t, const struct wr_manifest *m,
                        weir_err *ret);

#endif
