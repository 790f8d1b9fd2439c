/* ranks.h - commands that several processes run together.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Under mpirun, srun or torchrun a measuring command is one measurement: rank 0
 * prints and keeps the record, the others only work; each says what it failed
 * of. */
#ifndef WR_CLI_RANKS_H
#define WR_CLI_RANKS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "cli/command.h"
#include "comm/comm.h"
#include "comm/launch.h"

/* Notices that another rank has died, whatever this one does. Calls between ranks
 * notice it, but a rank that reads or saves for minutes makes none: a thread with a
 * connection of its own looks now and then. */
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

struct wr_ranks {
    struct wr_launch launch;
    struct wr_comm *comm; /* owned */
    struct wr_ranks_watch watch;
    const char *stopped; /* what follows "interrupted: "; NULL: "no result" */
    FILE *nowhere;       /* owned: where the others' results go; NULL: rank 0 */
};

/* Finds out how the process was started; from now on others than rank 0 print
 * nothing but failures of their own (what is wrong with the arguments is wrong
 * on all). */
int wr_ranks_find(struct wr_ranks *r, struct wr_cli *cli, weir_err *err);

/* A process of its own, whatever started it. */
void wr_ranks_alone(struct wr_ranks *r);

/* Meets the others. If one of them dies, from then on wr_interrupted() is true
 * (or watch.on_lost is called, if it is set before). A call waits for ranks that
 * are late as long as they live: how long a measurement takes is not known. */
int wr_ranks_meet(struct wr_ranks *r, weir_err *err);

static inline bool wr_ranks_several(const struct wr_ranks *r)
{
    return r->launch.world > 1;
}

static inline bool wr_ranks_speaks(const struct wr_ranks *r)
{
    return r->launch.rank == 0;
}

/* Threads that one rank takes if it is not told: its share of the host's cores,
 * unless it has been bound to its own ones. */
unsigned wr_ranks_threads(const struct wr_ranks *r);

/* Runs `first` on rank 0 and then on the others, which find what it made (an
 * index, say). Fails on all if it fails on one. */
int wr_ranks_in_turn(struct wr_ranks *r, int (*first)(void *arg, weir_err *err),
                     void *arg, weir_err *err);

/* The number of hosts, on rank 0. All ranks. */
int wr_ranks_hosts(struct wr_ranks *r, uint32_t *ret, weir_err *err);

/* A failure of this rank, by its number if there are others. */
int wr_ranks_fail(const struct wr_ranks *r, const struct wr_cli *cli,
                  const char *message);

/* The end of a command that all ran together and that failed with `code`:
 * rank 0 says it, the others only if they lost rank 0. */
int wr_ranks_failed(const struct wr_ranks *r, const struct wr_cli *cli,
                    int code, const weir_err *err);

/* All ranks that have met: nobody leaves before the others are done. */
void wr_ranks_done(struct wr_ranks *r);

/* --- the watch, which wr_ranks_meet starts --- */

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
