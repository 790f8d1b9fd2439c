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
    struct wr_decoder **decoders; /* owned: one per array, NULL: it comes out
                                     as it lies; NULL at all: nothing is
                                     decoded */
    struct wr_unpack unpack;      /* owned */
    struct wr_arena arena;
    struct wr_task *tasks;  /* owned: cfg.depth records */
    struct wr_read *reads;  /* owned: of their parts */
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
    bool more;                 /* there were more of them than it took */
    struct wr_task **arrived;  /* owned: there, to be handed over at once */
    struct wr_task **finished; /* owned: the same, with nothing left to do */
    unsigned arrived_count, finished_count;
    struct wr_io **reaped; /* owned: scratch */
    uint8_t *entry;        /* owned: scratch for an entry of the cache */
    size_t entry_cap;
    uint8_t *tiles; /* owned: scratch for a field that is put together */
    size_t tiles_cap;
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
/* Submits all that is to be, and hands over what is there or finished. */
void wr_submit_all(struct wr_worker *w);
void wr_hand_over(struct wr_worker *w);
/* A read is tried again after a while, as resources lack for it; false: that
 * was done for long enough. */
bool wr_read_later(struct wr_worker *w, struct wr_read *r);
/* Reads it by itself, now. */
void wr_read_again(struct wr_worker *w, struct wr_read *r);
/* Submits those whose turn it is. */
void wr_send_pieces(struct wr_worker *w);
void wr_send_lacking_pieces(struct wr_worker *w);
/* Feeds the next piece of a unit to its filters. */
void wr_unpack(struct wr_worker *w, struct wr_shared *u);
/* Brings samples into their slots, from wherever they are, and finishes
 * them. */
void wr_deliver(struct wr_worker *w, struct wr_task *const *tasks, unsigned n);

/* The place of a part that is the only field in it, in its batch; NULL: there
 * is no memory. */
void *wr_read_slot(const struct wr_read *r);
/* What is wrong with a part. */
void wr_read_fail(struct wr_read *r, const weir_err *err);
/* One part less to wait for; when it was the last one of a task of this worker,
 * hands it over. */
void wr_part_done(struct wr_worker *w, struct wr_task *t);
/* The same for any task: true: it was the last one, and the task is the
 * caller's. */
static inline bool wr_task_is_complete(struct wr_task *t)
{
    return atomic_fetch_sub_explicit(&t->pending, 1, memory_order_acq_rel) == 1;
}
/* Takes over what is wrong with the first bad part, if one is. */
void wr_task_judge(struct wr_task *t);
/* The bytes of its parts as they are stored. */
size_t wr_task_stored(const struct wr_task *t);
/* The entry of a tier that the first read has is all parts, one behind the
 * other: each gets its bytes. */
void wr_task_split(struct wr_task *t);
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
