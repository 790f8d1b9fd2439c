/* shares.h - what a process has once, whoever uses it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Memory, descriptors and threads are the process's, not one pipeline's: eight
 * pipelines and a checkpoint store take of the same ones. An account is a number
 * of units that may be taken and a number that is. Who finds too little waits,
 * makes do with less, or takes what it cannot do without all the same, so that
 * a lack alone never makes anything fail.
 *
 * Things that are there once, such as an emulated disk, are kept by name
 * (wr_common_ref), and descriptors.h has reads wait for their turn; all of it is in
 * one object. Any thread may call. */
#ifndef WR_BASE_SHARES_H
#define WR_BASE_SHARES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "weir/error.h"

enum wr_share {
    WR_SHARE_MEMORY,  /* bytes: a quarter of the machine, or of what its control
                         group allows */
    WR_SHARE_FILES,   /* descriptors held for long: what reads leave */
    WR_SHARE_THREADS, /* that compute: two per core, because one pipeline often
                         rests while another works */
    WR_SHARE_KINDS
};

struct wr_account {
    atomic_uint_fast64_t taken, most; /* now, and ever */
    atomic_uint_fast64_t raised;      /* somebody was given more by the user */
    atomic_uint_fast64_t refusals;
};

/* Of descriptors.c: reads that wait for their turn. */
struct wr_files {
    pthread_mutex_t lock; /* guards the rest; a leaf lock */
    pthread_cond_t turn;  /* a read was left */
    pthread_cond_t back;  /* one was closed */
    unsigned reads;       /* between enter and leave */
    uint64_t closed;      /* counts up */
};

struct wr_common;

struct wr_shares {
    struct wr_account accounts[WR_SHARE_KINDS];
    pthread_once_t looked_up; /* how much memory there is */

    struct wr_files files;

    /* things by name */
    struct {
        pthread_mutex_t lock; /* guards the list and its members */
        struct wr_common *first;
    } things;
};

/* The one object. */
struct wr_shares *wr_shares_get(void);

/* How much there is, taken or not, and how much of it is not. */
uint64_t wr_share_all(enum wr_share kind);
uint64_t wr_share_left(enum wr_share kind);

/* The user has allowed one of us so many: the process may have them, from now
 * on. */
void wr_share_raise(enum wr_share kind, uint64_t all);

/* All of `n`, or false and nothing. */
bool wr_share_take(enum wr_share kind, uint64_t n);

/* `n`, though there may not be so many: for what one cannot do without. */
void wr_share_take_anyway(enum wr_share kind, uint64_t n);

/* As many of `want` as there are, and `least` in any case. Returns how many. */
uint64_t wr_share_take_some(enum wr_share kind, uint64_t want, uint64_t least);

void wr_share_give(enum wr_share kind, uint64_t n);

/* Somebody found too little, without having tried to take it. */
void wr_share_refuse(enum wr_share kind);

/* How often a take was refused. Who keeps what it could do without looks
 * whether this has grown, and gives some of it back: others need it. */
uint64_t wr_share_refusals(enum wr_share kind);

/* --- things that are there once, by name ---
 *
 * An emulated disk, a tier in memory: the first who asks for one makes it, the
 * others get the same, and the last who leaves it frees it. Any thread may call. */

/* What can be asked for by name. `make` and `free` run one at a time and must
 * not ask for another. */
struct wr_common_kind {
    int (*make)(const void *arg, void **ret, weir_err *err);
    void (*free)(void *thing);
};

/* The thing of this kind and name; made from `arg` when there is none. */
int wr_common_ref(const struct wr_common_kind *kind, const char *name,
                  const void *arg, void **ret, weir_err *err);
void wr_common_unref(void *thing); /* takes NULL */

#endif
