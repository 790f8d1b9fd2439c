/* ranks_watch.h - notices that another rank has died, whatever this one does.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls between ranks notice it, but a rank that reads or saves for minutes makes
 * none. A thread with a connection of its own looks now and then. */
#ifndef WR_CLI_RANKS_WATCH_H
#define WR_CLI_RANKS_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "comm/comm.h"

struct wr_ranks_watch {
    struct wr_comm *comm; /* owned; used by the thread while it runs */
    pthread_t thread;
    bool started;
    atomic_bool stop;
    atomic_bool lost; /* after `why` was written */
    weir_err why;
    /* In the thread, once; NULL: what polls wr_interrupted() ends. */
    void (*on_lost)(void *arg);
    void *arg;
};

/* All ranks; `cfg` is that of their comm. The members on_lost and arg are set,
 * the others zero. */
int wr_ranks_watch_start(struct wr_ranks_watch *w,
                         const struct wr_comm_config *cfg, weir_err *err);

/* Ends the thread. All ranks must have done so before one closes, which looks
 * like its death. */
void wr_ranks_watch_stop(struct wr_ranks_watch *w);

/* Whether a rank was lost; waits up to `ms` for that news. */
bool wr_ranks_watch_lost(const struct wr_ranks_watch *w, unsigned ms);

/* `why` (may be NULL): the others learn that this rank did not just die. */
void wr_ranks_watch_close(struct wr_ranks_watch *w, const weir_err *why);

#endif
