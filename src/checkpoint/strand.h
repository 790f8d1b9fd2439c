/* strand.h - a thread that may be left behind.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A call to storage that hangs cannot be interrupted. Who has waited long enough
 * for the thread that is at it goes on without it; what it uses belongs to it
 * then, and it gives that back when the call returns. */
#ifndef WR_CHECKPOINT_STRAND_H
#define WR_CHECKPOINT_STRAND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "weir/error.h"

struct wr_strand {
    pthread_t thread;
    void (*run)(void *arg);
    void (*release)(void *arg); /* in the thread, when it was left behind */
    void *arg;                  /* borrowed; the strand is a part of it */
    bool started, joined;       /* of who started it */

    pthread_mutex_t lock; /* guards what is below; a leaf lock */
    pthread_cond_t over;
    bool ended, left;
};

/* Of zeroed memory. On failure there is nothing to be done with it. */
int wr_strand_start(struct wr_strand *s, const char *name,
                    void (*run)(void *arg), void (*release)(void *arg),
                    void *arg, weir_err *err);
/* Waits for its end, of which `run` was told; whether that came before
 * wr_clock_ns() is `deadline_ns`. One that was never started has ended. */
bool wr_strand_join(struct wr_strand *s, uint64_t deadline_ns);
/* Joins one that ends when `*stop` is set, under `lock`, with `changed` told. */
bool wr_strand_halt(struct wr_strand *s, pthread_mutex_t *lock,
                    pthread_cond_t *changed, bool *stop, uint64_t deadline_ns);
/* Leaves it behind: from now on all belongs to it. False: it has ended after
 * all. */
bool wr_strand_leave(struct wr_strand *s);
void wr_strand_done(struct wr_strand *s);

#endif
