/* finisher.h - a thread that syncs finished shards and names them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CONVERT_FINISHER_H
#define WR_CONVERT_FINISHER_H

#include <pthread.h>

#include "convert/kind.h"

struct wr_finisher {
    const struct wr_convert_plan *plan; /* borrowed */
    struct wr_stage *stage;             /* borrowed */
    pthread_t thread;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t moved; /* a shard was given or is done; the end */
    struct wr_convert_shard *first, **last; /* owned: to be finished */
    unsigned waiting;                       /* those, and the one at work */
    bool stop;                              /* no more will come */
    weir_err failed;                        /* code: the first failure */
};

int wr_finisher_start(struct wr_finisher *f, const struct wr_convert_plan *plan,
                      struct wr_stage *st, weir_err *err);

/* Takes the shard over, in any case. */
void wr_finisher_give(struct wr_finisher *f, struct wr_convert_shard *s);

/* Waits for a moment until at most `most` shards are left, or one failed: 1;
 * 0: not yet. A negative WEIR_E... is that failure. */
int wr_finisher_wait(struct wr_finisher *f, unsigned most, weir_err *err);

/* Ends the thread after the shard at hand; the others are dropped. */
void wr_finisher_stop(struct wr_finisher *f);

#endif
