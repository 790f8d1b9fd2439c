/* worker.h - a thread that reads ahead and delivers what has arrived.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A worker keeps up to `depth` reads in flight through queues of its own
 * (fetch.c) and, of all that arrived anywhere, brings what is wanted first into
 * its slot (deliver.c). Depth follows the device, the number of workers follows
 * the cores. */
#ifndef WR_PIPELINE_WORKER_H
#define WR_PIPELINE_WORKER_H

#include <pthread.h>
#include <stdatomic.h>

#include "pipeline/arena.h"
#include "pipeline/objects.h"
#include "pipeline/schedule.h"

/* Written by the worker alone, read by anyone; nanoseconds. */
struct wr_worker_stats {
    atomic_uint_fast64_t storage_wait, submit, decode, resample, idle;
    atomic_uint_fast64_t bytes;
    atomic_uint_fast64_t requests;
    atomic_uint_fast64_t misses; /* samples that no cache had */
};

/* Where reads go to. */
enum wr_lane_name { WR_LANE_STORE, WR_LANE_TIER, WR_LANES };

struct wr_lane {
    struct wr_queue *queue; /* owned; NULL: there is no such place */
    unsigned in_flight;
    struct wr_io **reads; /* owned: about to be submitted */
    unsigned read_count;
};

/* One encoded sample; nothing sensible is larger. */
#define WR_SAMPLE_MAX ((uint64_t)1 << 31)

struct wr_worker {
    struct wr_sched *sched;     /* borrowed */
    struct wr_objects *objects; /* borrowed */
    unsigned number;
    unsigned depth; /* records that it may use now */
    bool active;    /* it may begin something now; else it was put to rest */
    pthread_t thread;
    bool started;
    struct wr_lane lanes[WR_LANES];
    struct wr_decoder *decoder; /* owned; NULL: nothing to decode */
    struct wr_unpack unpack;    /* owned */
    struct wr_arena arena;
    struct wr_task *tasks;  /* owned: cfg.depth records */
    struct wr_task **spare; /* owned: stack of records without a sample */
    unsigned spare_count;
    struct wr_task **returned; /* owned: given back; the sched's lock guards */
    unsigned returned_count;   /* it, this, and the next one */
    struct wr_read *retry;     /* borrowed from tasks: to be read alone */
    struct wr_read *again;     /* the same, taken out of the lock */
    struct wr_read *lacking;   /* the same: those that resources lacked for, */
    uint64_t lacking_due_ns;   /* to be tried again then, as the next */
    struct wr_unit_piece *lacking_pieces; /* borrowed from units */
    struct wr_unit_piece *pieces; /* the same: wait for their turn, in order */
    unsigned pieces_out, pieces_most; /* in flight now, at most */
    struct wr_ticket *tickets;        /* owned: taken, not yet started */
    unsigned ticket_head, ticket_count;
    struct wr_task **arrived;  /* owned: there, to be handed over at once */
    struct wr_task **finished; /* owned: the same, with nothing left to do */
    unsigned arrived_count, finished_count;
    struct wr_io **reaped; /* owned: scratch */
    struct wr_worker_stats stats;
};

/* Prepares a worker; wr_worker_done also after a failure. */
int wr_worker_init(struct wr_worker *w, struct wr_sched *s,
                   struct wr_objects *objects, weir_err *err);
int wr_worker_start(struct wr_worker *w, weir_err *err);
/* It waits for storage no longer than it has to: the pipeline closes. */
void wr_worker_hurry(struct wr_worker *w);
/* Waits for the thread to end, which wr_sched_close makes it do. */
void wr_worker_stop(struct wr_worker *w);
/* Only when all workers have stopped. */
void wr_worker_done(struct wr_worker *w);

/* --- between worker.c, fetch.c, load.c and deliver.c --- */

#define WR_RING_LEAST ((size_t)2 << 20)

/* Bytes of ring for `depth` reads of twice the usual size. Where samples are so
 * large that fewer fit, fewer are in flight. */
size_t wr_worker_ring_for(const struct wr_sched *s, unsigned depth);
/* The same, as far as the pipeline has taken memory for it (budget.h). */
size_t wr_worker_ring(const struct wr_sched *s, unsigned depth);

/* Takes tickets and keeps the queues full. */
void wr_fetch(struct wr_worker *w);
/* Takes what has arrived in a lane. */
void wr_collect(struct wr_worker *w, enum wr_lane_name lane, bool wait);
/* A read is to be submitted. */
void wr_send(struct wr_worker *w, enum wr_lane_name lane, struct wr_io *rd);
/* Does what a unit's step says, and the steps behind it. */
void wr_unit_go_on(struct wr_worker *w, struct wr_shared *u,
                   enum wr_unit_next next);
/* A piece of a unit was read, in whatever way. */
void wr_piece_arrived(struct wr_worker *w, struct wr_unit_piece *p);
/* Submits those whose turn it is. */
void wr_send_pieces(struct wr_worker *w);
void wr_send_lacking_pieces(struct wr_worker *w);
/* Feeds the next piece of a unit to its filters. */
void wr_unpack(struct wr_worker *w, struct wr_shared *u);
/* Brings samples into their slots, from wherever they are, and finishes
 * them. */
void wr_deliver(struct wr_worker *w, struct wr_task *const *tasks, unsigned n);
/* Copies a sample that went straight into its slot into the cache. */
void wr_keep_slot(struct wr_worker *w, struct wr_task *t);

void *wr_task_slot(const struct wr_task *t);
void wr_task_fail(struct wr_task *t, const weir_err *err);
/* When to try again for what resources lack since *lack_ns (0: now); 0: that
 * was tried for long enough, or nobody waits any more. */
uint64_t wr_lack_due(struct wr_worker *w, uint64_t *lack_ns);
/* Gives back the memory of its bytes. */
void wr_task_release(struct wr_task *t);

/* One writer: no read-modify-write needed. */
static inline void wr_count(atomic_uint_fast64_t *sum, uint64_t n)
{
    atomic_store_explicit(sum,
                          atomic_load_explicit(sum, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

#endif
