/* saver.h - snapshots on their way to the near tier.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each snapshot buffer is a job. The caller's thread takes a free one, plans
 * and fills its image (save.c) and queues it; the writer's thread writes the
 * oldest queued one (writer.c). A save that waits for more than the snapshot
 * queues the job first and fills it while the writer follows.
 *
 * The writer holds back while too many steps wait for the slow tier, and while
 * there is no room that draining will make (behind.c). A job that is held back
 * is still `queued`, so that a newer one may take its place
 * (WEIR_BEHIND_LATEST).
 *
 * With ranks all writers do the same in step, over weir_ckpt.work. What fails
 * is agreed upon; the save that waits returns it on all ranks, and what nobody
 * waits for is kept by rank 0 alone (weir_ckpt_problem). */
#ifndef WR_CHECKPOINT_SAVER_H
#define WR_CHECKPOINT_SAVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "checkpoint/store.h"
#include "safetensors/image.h"

/* Steps that are to be read back, at most; the oldest are dropped. */
#define WR_UNVERIFIED_MAX 64

enum wr_job_state {
    WR_JOB_FREE,
    WR_JOB_TAKEN, /* is being planned and filled */
    WR_JOB_QUEUED,
    WR_JOB_WRITING,
};

/* What is below `state` belongs to the caller's thread up to `queued` and then
 * to the writer's. */
struct wr_job {
    enum wr_job_state state; /* guarded by weir_ckpt.lock */
    struct wr_image *image;  /* owned */
    uint64_t step, seq, part;
    uint64_t time_ns;       /* since 1970 */
    uint64_t queued_ns;     /* wr_clock_ns() */
    bool waited;            /* the save waits and gets the error itself */
    bool continues;         /* `from` is known */
    struct wr_ordinal from; /* what this part of the run continues from */

    struct wr_st_pair *metadata; /* owned; of rank 0 */
    size_t metadata_count;
    uint8_t *pipeline; /* owned */
    size_t pipeline_len;
};

/* The highest step of the tiers that were looked at, and whether there is one:
 * numbers, as an answer of the watch. */
struct wr_newest {
    uint64_t step, any;
};

struct wr_saver {
    weir_ckpt *c; /* borrowed */
    pthread_t thread;
    struct wr_newest top; /* of both tiers; caller's thread, rank 0 */
    uint64_t held_ns;     /* since when the writer holds back; 0: it does not */
    uint64_t bytes;       /* of the step that is being written; rank 0 */
    uint64_t last;        /* step that was saved; 0: none */
    int stands;       /* code of what keeps the drain from working, as it was
                         told; 0: nothing does */
    int unasked;      /* code of what kept the far tier from telling what it
                         has; caller's thread, as the next one */
    int unasked_told; /* the same, as it was told */
    int told;         /* code of retention's last trouble, 0 since it went
                         well; writer's thread */
    unsigned count;   /* of jobs */
    bool stop;        /* guarded by weir_ckpt.lock, as what follows */
    bool busy;        /* the writer's thread writes, reads back or takes away */
    unsigned pauses;  /* of those who want it to do only what is queued */
    uint64_t unverified[WR_UNVERIFIED_MAX]; /* one tier: the newest last */
    unsigned unverified_count;
    struct wr_job jobs[]; /* owned */
};

/* --- save.c --- */

void wr_job_forget(struct wr_job *j); /* what was kept beside the image */

/* --- writer.c --- */

/* A step of the only tier is to be read back when there is nothing better to
 * do. With the lock held. */
void wr_saver_want_verified(struct wr_saver *s, uint64_t step);

/* --- wait.c --- */

/* Waits until save `seq` has reached `level`; on this rank alone. */
int wr_ckpt_wait_seq(weir_ckpt *c, uint64_t seq, enum weir_level level,
                     uint64_t deadline_ns, weir_err *err);

/* Adds a tier's steps. */
int wr_newest_add(struct wr_newest *n, struct wr_tier *t, weir_err *err);

/* --- behind.c --- */

/* Steps that wait for the far tier; what is damaged does not, because nobody will
 * drain it. As far as is known also on failure. Without the lock. */
int wr_ckpt_behind(weir_ckpt *c, struct wr_backlog *ret, weir_err *err);
/* Whether the far tier does not have this copy of the near one: it may have an
 * older save of that step, which then makes way. */
bool wr_ckpt_is_missing(weir_ckpt *c, const struct wr_copy *near,
                        uint64_t step);
/* Whether no more may wait. */
bool wr_ckpt_too_many(const weir_ckpt *c, const struct wr_backlog *b);
/* Another process drains: a copy on the near tier is damaged and there is no
 * other. Told once, and the number of that is returned; 0: it was told. Without
 * the lock. */
uint64_t wr_ckpt_note_lost(weir_ckpt *c, uint64_t step,
                           const struct wr_copy *copy);
/* Whether there are as many as may be, as far as is known also on failure. */
int wr_ckpt_is_behind(weir_ckpt *c, bool *ret, weir_err *err);
/* cfg.drain_timeout_ms; 0 is for ever. */
uint64_t wr_ckpt_drain_timeout_ns(const weir_ckpt *c);
/* WEIR_ETIMEDOUT: the far tier has not answered for so long. weir_ckpt.lock may
 * be held. */
int wr_ckpt_check_answers(weir_ckpt *c, weir_err *err);
/* For who waits for the drain, now and then: that, and WEIR_ESTATE when it is
 * another process, and there has been none for so long. Without the lock. */
int wr_ckpt_check_drained(weir_ckpt *c, weir_err *err);
/* That, and why the drain of this process fails: waiting for it is of no use
 * now. */
int wr_ckpt_check_drain(weir_ckpt *c, weir_err *err);
/* What ended a pause. */
struct wr_pause_end {
    uint64_t number; /* of the failed attempt, as a trouble; 0: none */
    weir_err why;
};

/* A pause for the drain. When an attempt of that fails (`seen` as
 * wr_drainer_failed's), or nobody drains, the waiting ends with that error. Other
 * trouble is for the next call. Without the lock. */
int wr_ckpt_pause(weir_ckpt *c, uint64_t *seen, struct wr_pause_end *ret);
/* No room on the near tier: takes a step away there that is safe on the far
 * one. False: there is none. */
bool wr_ckpt_make_room(weir_ckpt *c);

/* --- behind.c: giving up --- */

/* WEIR_BEHIND_OLDEST: gives up the oldest step that waits for the far tier, but
 * not the newest one of the near tier, nor `by`, for which it is. False: there
 * is none. */
bool wr_ckpt_give_up(weir_ckpt *c, uint64_t by);
/* The same, until no more steps wait than may. */
void wr_ckpt_keep_limit(weir_ckpt *c, uint64_t by);

#endif
