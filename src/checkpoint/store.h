/* store.h - what the parts of an open checkpoint store share.
 * SPDX-License-Identifier: Apache-2.0
 *
 * store.c opens and closes (config.c checks what is asked for, lineage.c
 * whether the tiers belong together); log.c knows how far each save got and
 * what went wrong; save.c takes snapshots, writer.c is the thread that
 * writes them to the near tier, wait.c waits for it; drain.c has the thread that
 * copies steps to the far tier, checks them there and applies retention;
 * restore.c reads; inventory.c lists, prune.c takes away, manage.c verifies and
 * pins. What happens in
 * the background is told by `changed`, and what goes wrong there is kept as
 * trouble in its log for weir_ckpt_problem and the calls that wait.
 */
#ifndef WR_CHECKPOINT_STORE_H
#define WR_CHECKPOINT_STORE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "checkpoint/log.h"
#include "checkpoint/stock.h"
#include "comm/comm.h"
#include "safetensors/shard.h"
#include "storage/storage.h"
#include "tier/manifest.h"
#include "tier/step.h"
#include "tier/tier.h"
#include "weir/checkpoint.h"
#include "weir/ckpt_manage.h"

#define WR_TIMES_KEPT 64

struct wr_saver;   /* saver.h */
struct wr_watch;   /* watch.h */
struct wr_drainer; /* drain.c */

struct weir_ckpt {
    pid_t pid;            /* who opened it; a child may not use it */
    weir_ckpt_config cfg; /* its texts are owned */
    struct wr_tier *near; /* owned: saves go here */
    struct wr_tier *far;  /* owned: drained to; NULL with one tier */
    uint64_t generation;  /* of this writer; 0: does not save */
    char nonce[WR_MANIFEST_ID];
    uint64_t fast_generation; /* of the fast tier's last writer */
    char fast_nonce[WR_MANIFEST_ID];
    bool asked; /* manifests said that the fast tier is not stale, when its last
                   writer and the slow tier's were these */
    uint64_t asked_fast, asked_last;
    char near_id[WR_MANIFEST_ID]; /* own id of the near tier; "": not known */
    char
        notice[480]; /* what is odd about the tiers, for whoever restores; "" */
    struct wr_comm *comm;       /* owned: of the caller's thread */
    struct wr_comm *work;       /* owned: of the writing thread */
    struct wr_saver *saver;     /* owned; role SAVE */
    struct wr_drainer *drainer; /* owned; roles SAVE and DRAIN, rank 0, two
                                   tiers */
    struct wr_watch *watch;     /* owned; role SAVE, two tiers */
    atomic_uint refs;           /* the caller, and threads left behind */
    uint64_t retry_ns; /* pause before a restore tries what it could not read
                          again, longer each time; tests need none */

    struct wr_stock stock; /* of whoever applies retention, as the next one */
    weir_err stuck;        /* the steps that cannot be taken away, as they were
                              told; code 0: none */
    bool based;            /* what this run continues from is settled; caller's
                              thread, as the next ones */
    bool continues;
    struct wr_ordinal from;
    uint64_t part; /* seq of the first save that continues from there; 0: the
                      next one */
    struct wr_origin *before; /* owned: what was there when this writer opened,
                                 as it was saved; until that is settled */
    size_t before_count;

    struct wr_near_step { /* owned: steps of the near tier, rising, as they were
                         looked at last (cfg.drain 0); of the watch's thread */
        uint64_t step, bytes;
        enum {
            WR_AHEAD_UNKNOWN,
            WR_AHEAD_WAITS,
            WR_AHEAD_DRAINED,
            WR_AHEAD_LOST, /* and damaged, or gone just now */
        } is;
    } * ahead;
    size_t ahead_count, ahead_turn;

    pthread_mutex_t lock; /* guards what is below */
    pthread_cond_t changed;
    struct wr_log log;
    weir_err fenced; /* code 0: not; else every save, wait and drain ends so */
    weir_ckpt_stats stats;
    uint64_t undrained_ns; /* since when nothing got to the far tier, as it was
                              at... (cfg.drain 0; behind.c) */
    uint64_t looked_ns;
    struct wr_drain_seen { /* at that look */
        enum { WR_DRAIN_NONE, WR_DRAIN_OTHER, WR_DRAIN_OWN } by;
        char who[88];         /* who holds the far tier; "": not known */
        uint64_t missing;     /* steps that the far tier does not have */
        uint64_t done, bytes; /* as whoever drains says it, if at all */
    } drain;
    uint64_t behind_bytes; /* of stats.behind (cfg.drain 0; behind.c) */
    bool ahead_lost;       /* a step was saved anew: `ahead` is not to be relied
                              on */
    struct wr_ckpt_time {
        weir_ckpt_times t;
        uint64_t begun_ns;       /* wr_clock_ns() of the call */
        uint64_t seq;            /* of all saves of this run, from 1; 0: none */
        char id[WR_MANIFEST_ID]; /* of its manifest; "": not written yet, or
                                    by another rank */
        enum weir_level level;   /* reached; 0: is being copied */
    } times[WR_TIMES_KEPT];      /* a ring: of save `seq`, (seq - 1) % KEPT */
};

/* What waits for the far tier. */
struct wr_backlog {
    uint64_t steps, bytes;
};

/* The last tier: `far`, or `near` when there is one. */
static inline struct wr_tier *wr_ckpt_last(const weir_ckpt *c)
{
    return c->far ? c->far : c->near;
}

/* --- config.c --- */

int wr_ckpt_config_check(const weir_ckpt_config *cfg, weir_err *err);
/* Texts are copied; to be freed with the next one, also on failure. */
int wr_ckpt_config_copy(const weir_ckpt_config *cfg, weir_ckpt_config *ret,
                        weir_err *err);
void wr_ckpt_config_done(weir_ckpt_config *cfg);

/* --- store.c --- */

/* weir_ckpt_open with stores that are open already (tests); takes them, also on
 * failure. `slow` may be NULL. cfg's urls are for messages. */
int wr_ckpt_open_stores(weir_ckpt **ret, const weir_ckpt_config *cfg,
                        struct wr_store *fast, struct wr_store *slow,
                        weir_err *err);

/* For every public call, first: WEIR_EINVAL for NULL, WEIR_ESTATE in a child of
 * fork(), where there are no threads and locks may be held by nobody. */
int wr_ckpt_check(const weir_ckpt *c, weir_err *err);
/* The same for a call that looks at the far tier itself; wr_ckpt_end(c, r) is
 * what it returns: `r`, or WEIR_ETIMEDOUT when the far tier did not answer in
 * between, whatever became of the call. */
int wr_ckpt_begin(weir_ckpt *c, weir_err *err);
int wr_ckpt_end(weir_ckpt *c, int r, weir_err *err);

/* Where this process drains from: " of HOST, from 'PATH'". */
#define WR_PLACE_TEXT 190
void wr_ckpt_say_place(const weir_ckpt *c, char ret[WR_PLACE_TEXT]);
/* A trainer that finds the slow tier claimed wants to know whether that is for
 * its steps, and whether it gets on: copies made and read back so far, and bytes
 * of the one that is under way. Nothing for who has not claimed it. */
void wr_ckpt_tell_work(weir_ckpt *c, uint64_t done, uint64_t bytes);

/* How long such a call waits for the far tier; UINT64_MAX: without limit. */
uint64_t wr_ckpt_call_ns(const weir_ckpt *c);

/* The last one frees the tiers and the store itself. */
void wr_ckpt_ref(weir_ckpt *c);
void wr_ckpt_unref(weir_ckpt *c);

/* --- log.c --- */

/* An error of background work, for weir_ckpt_problem, wait, drain or close when
 * `tell` and no other waits for that. Whether it will be told: if not, who meets
 * it again tells it again. `step` is that of an attempt. */
bool wr_ckpt_trouble(weir_ckpt *c, enum wr_log_kind kind, uint64_t step,
                     const weir_err *e, bool tell);
/* Another writer took the store; `e` says who. From then on nothing that is
 * saved here counts, and no save may be acknowledged. With the lock held. */
void wr_ckpt_set_fenced(weir_ckpt *c, const weir_err *e);
/* 0, or that. Without the lock. */
int wr_ckpt_fenced(weir_ckpt *c, weir_err *err);
/* With the lock held: save `seq` does not reach `level`. Who waits for it is
 * told, and so is the next call when `tell`. */
void wr_ckpt_end_save(weir_ckpt *c, uint64_t seq, enum weir_level level,
                      const weir_err *e, bool tell);
/* 0, or the oldest error that was not told, which is then delivered. For calls
 * that say how saving and draining go; those that read and manage leave it
 * alone. *ret_ends (NULL: not asked for): it ends a run that trains. */
int wr_ckpt_take_trouble(weir_ckpt *c, bool *ret_ends, weir_err *err);
/* A published step never gets to the far tier; `e` has its step, id and error,
 * and the rest is filled in. Who waits for its save is told, and so is the next
 * call when it is due. Returns its number; 0: that is known, or the step is
 * being saved anew, and what was there gives way. */
uint64_t wr_ckpt_lost(weir_ckpt *c, struct wr_log_entry *e);
/* Save `seq` reached a level now: its time is noted, waiters wake; nothing when
 * it is not among the last ones. The caller counts it in the statistics. */
void wr_ckpt_reached(weir_ckpt *c, uint64_t seq, enum weir_level level);
/* The save that wrote this manifest; 0: none of this run. A step may be taken
 * away and saved again: what was drained is credited to the save that it is
 * of. */
uint64_t wr_ckpt_seq_of(weir_ckpt *c, uint64_t step, const char *id);
/* With the lock held: a new save; the last save of a step in this run, save
 * `seq`; NULL: not among the last ones. */
struct wr_ckpt_time *wr_ckpt_time_new(weir_ckpt *c, uint64_t step,
                                      uint64_t begun_ns);
struct wr_ckpt_time *wr_ckpt_time_find(weir_ckpt *c, uint64_t step);
struct wr_ckpt_time *wr_ckpt_time_at(weir_ckpt *c, uint64_t seq);
/* The same for a save that is known; waiters are not woken. */
void wr_ckpt_time_note(struct wr_ckpt_time *t, enum weir_level level);
/* Waits for `changed` or until wr_clock_ns() is there; with the lock held. */
void wr_ckpt_sleep(weir_ckpt *c, uint64_t until_ns);

/* --- writer.c --- */

int wr_saver_start(weir_ckpt *c, weir_err *err);
/* Waits for what is under way, ends the thread; NULL is fine. */
void wr_saver_stop(struct wr_saver *s);
/* Waits until no save is on its way to the near tier, however it ends; steps are
 * neither read back nor taken away until wr_saver_resume(). NULL is fine. */
void wr_saver_pause(struct wr_saver *s);
void wr_saver_resume(struct wr_saver *s);

/* --- drain.c --- */

int wr_drainer_start(weir_ckpt *c, bool thread, weir_err *err);
/* Ends the thread after the chunk that it is at; what it was copying is swept
 * by the next claim. Whether it has ended by then. NULL is fine. */
bool wr_drainer_halt(struct wr_drainer *d, uint64_t deadline_ns);
/* After that. A thread that has not ended is left behind, with a reference to
 * the store. NULL is fine. */
void wr_drainer_free(struct wr_drainer *d);
/* How long the far tier has not answered what the thread asks of it. */
uint64_t wr_drainer_silent_ns(struct wr_drainer *d);
/* There is something to do. NULL is fine. */
void wr_drainer_wake(struct wr_drainer *d);
/* A step was published on the near tier. NULL is fine. */
void wr_drainer_add(struct wr_drainer *d, uint64_t step, uint64_t bytes);
struct wr_backlog wr_drainer_backlog(struct wr_drainer *d);
/* The lowest step that waits, from `from` on, and is not being copied; false:
 * there is none. */
bool wr_drainer_oldest(struct wr_drainer *d, uint64_t from, uint64_t *ret);
/* It is gone from the near tier. */
void wr_drainer_drop(struct wr_drainer *d, uint64_t step);
/* Why its last pass failed; 0: it did not. */
int wr_drainer_fails(struct wr_drainer *d, weir_err *err);
/* Whether it is at something, be it reading back. */
bool wr_drainer_works(struct wr_drainer *d);
/* Drops what it is at, and does nothing until it is resumed. WEIR_ETIMEDOUT: the
 * far tier does not answer, and it goes on with that. NULL is fine. */
int wr_drainer_pause(struct wr_drainer *d, weir_err *err);
void wr_drainer_resume(struct wr_drainer *d);
/* For who waits until a step (WEIR_LATEST: any) gets further: 0, or the error of
 * an attempt at it, or at the whole tier, that failed since *seen, which is then
 * brought up to date (UINT64_MAX at first: of none), and its number as a
 * trouble. It will be repeated. With weir_ckpt.lock held. */
int wr_drainer_failed(struct wr_drainer *d, uint64_t step, uint64_t *seen,
                      uint64_t *ret_number, weir_err *err);
/* 0, or why the step is not tried any more. */
int wr_drainer_gave_up(struct wr_drainer *d, uint64_t step, weir_err *err);

/* --- prune.c --- */

/* Applies the store's retention: after a publish (one tier) or a drain. A step
 * that cannot be taken away does not keep the others, and is no error here: all
 * such steps are told as a problem, again when they are others, and again when
 * there was no room (wr_ckpt_tell_anew). */
int wr_ckpt_retain(weir_ckpt *c, weir_err *err);
/* For the thread that applies retention, before it does: room is short, so what
 * cannot be taken away matters once more. */
void wr_ckpt_tell_anew(weir_ckpt *c);

#endif
