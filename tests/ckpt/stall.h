/* stall.h - a process that stands still while another takes over its store.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Three parties: the stalled process, the new writer that takes over meanwhile,
 * and whoever looks afterwards. Each save is known by its salt, which is in
 * every number of its tensor: the step, plus 100 for each party. */
#ifndef CKPT_STALL_H
#define CKPT_STALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/ckpt_manage.h"

#define STALL_STEPS  80 /* steps are below */
#define STALL_CALLS  32 /* of a party, at most */
#define STALL_PATH   120
#define STALL_PINNED 2 /* in every store that was prepared */

enum stall_party {
    STALL_BEFORE, /* prepared the store */
    STALL_OLD,    /* stalls */
    STALL_NEW,    /* takes over */
    STALL_LAST,   /* opens in peace, at the end */
};

/* What the store is like when the stalled one comes. */
enum stall_prep {
    STALL_ONE,     /* one tier, steps 1 to 6 verified */
    STALL_TWO,     /* two tiers, steps 1 to 6 verified on the slow one */
    STALL_WAITING, /* 1 to 4 verified, 5 and 6 on the fast tier only */
    STALL_STALE,   /* 1 to 4 verified; 5 and 6 on the fast tier only, stale: 7
                      and 8 were saved on another machine, and verified */
    STALL_PREPS,
};

/* What the stalled one does. */
enum stall_job {
    STALL_OPEN,       /* opens and saves; counted from before the open */
    STALL_OPEN_FORCE, /* the same with take_over */
    STALL_SAVE,       /* saves, drains by a thread */
    STALL_SAVE_FAST,  /* saves, does not drain */
    STALL_RETAIN,     /* saves with keep_last = 2 */
    STALL_DRAIN,      /* drains, as a process of its own */
    STALL_OPEN_DRAIN, /* the same, counted from before the open */
    STALL_PRUNE,      /* role MANAGE, keep_last = 2 */
    STALL_OPEN_PRUNE, /* the same, counted from before the open */
    STALL_GO_BACK,    /* role MANAGE, go_back after step 3 */
    STALL_REMOVE,     /* step 4 from both tiers */
    STALL_ADOPT,
    STALL_DISCARD,
};

/* Which numbers the new writer's steps get. */
enum stall_numbers {
    STALL_NEXT,  /* from that of the restored step on: those that the stalled
                    one is just using */
    STALL_APART, /* others */
    STALL_AGAIN, /* it goes back to the newest step but one */
    STALL_BACK,  /* it goes back to STALL_PINNED: those of most that exist */
};

enum stall_how {
    STALL_OTHER = 1, /* the new writer has another fast tier */
    STALL_IDLE = 2,  /* the new writer does not drain */
    STALL_CLOSES =
        4,          /* the new writer does so before the stalled one goes on */
    STALL_DIES = 8, /* the stalled one does not go on */
    STALL_REOPENS =
        16, /* the new writer opens the store once more after it went
                           back, does not drain then, and pins what it saves */
};

struct stall_scenario {
    const char *name; /* NULL: the end of the list */
    enum stall_job job;
    enum stall_prep prep;
    enum stall_numbers numbers;
    unsigned how; /* enum stall_how */
};

enum stall_what {
    STALL_DO_OPEN,
    STALL_DO_SAVE,
    STALL_DO_OTHER, /* what the job is about */
    STALL_DO_CLOSE,
};

/* A call to the library. */
struct stall_call {
    enum stall_what what;
    uint64_t step;
    enum weir_level level;
    bool returned;
    bool in_time; /* before the process was stopped */
    bool begun;   /* before the process was stopped */
    bool again;   /* after the stalled one had its end */
    int r;
    char text[200]; /* of the error */
};

/* Shared by all processes of a round. */
struct stall_log {
    struct stall_call calls[STALL_LAST][STALL_CALLS];
    _Atomic size_t count[STALL_LAST];
    bool seen[STALL_STEPS]; /* by the new writer, after it opened */
    uint64_t restored;      /* by the new writer */
    uint64_t back;     /* what the new writer went back to; 0: it did not */
    uint64_t unpinned; /* by the new writer; 0: none */
    char why[600];     /* what is wrong; "": nothing */
};

struct stall {
    const struct stall_scenario *s;
    struct stall_log *log; /* shared */
    char fast[STALL_PATH], other[STALL_PATH], slow[STALL_PATH];
    int gate; /* the new writer's: a byte when it is ready, one to go on */
    int said;
};

static inline unsigned stall_salt(enum stall_party who, uint64_t step)
{
    return 100 * (unsigned)who + (unsigned)step;
}

/* --- stall.c --- */

/* The first reason stays. Returns false. */
bool stall_fail(struct stall *st, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* --- stall_play.c --- */

void stall_config(const struct stall *st, enum stall_party who,
                  weir_ckpt_config *cfg);

/* The last step of a store that was prepared. */
uint64_t stall_top(const struct stall *st);

/* Makes the store that scenarios with `prep` begin with. */
bool stall_prepare(struct stall *st, enum stall_prep prep);

/* The stalled process, for killstep_stop. */
int stall_old(void *arg);

/* The new writer. */
int stall_new(struct stall *st);

/* The party of a save that was read into `memory`; -1: it was never saved. */
int stall_party_of(const float *memory, uint64_t step);

int stall_save(weir_ckpt *c, enum stall_party who, uint64_t step,
               enum weir_level level, weir_err *err);

/* Restores into a tensor of the kind that stall_save saves. As
 * weir_ckpt_restore; *ret_who as stall_party_of. */
int stall_restore(weir_ckpt *c, uint64_t step, int *ret_who,
                  weir_ckpt_found **ret, weir_err *err);

/* --- stall_check.c --- */

/* Whoever looks afterwards. Returns an exit code. */
int stall_check(struct stall *st);

#endif
