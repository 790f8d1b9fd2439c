/* worker.h - a thread that reads ahead and decodes what has arrived.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A worker keeps up to `depth` reads in flight through a queue of its own and
 * decodes, of all that arrived anywhere, what is wanted first. Depth follows
 * the device, the number of workers follows the cores. */
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
};

struct wr_worker {
    struct wr_sched *sched;     /* borrowed */
    struct wr_objects *objects; /* borrowed */
    pthread_t thread;
    bool started;
    struct wr_queue *queue;     /* owned */
    struct wr_decoder *decoder; /* owned; NULL: nothing to decode */
    struct wr_arena arena;
    struct wr_task *tasks;  /* owned: cfg.depth records */
    struct wr_task **spare; /* owned: stack of records without a sample */
    unsigned spare_count;
    struct wr_task **returned; /* owned: given back; the sched's lock guards */
    unsigned returned_count;   /* it and this */
    struct wr_ticket *tickets; /* owned: taken, not yet started */
    unsigned ticket_head, ticket_count;
    struct wr_task **batch; /* owned: scratch for reaping */
    struct wr_read **reads; /* owned: scratch for submitting and reaping */
    unsigned in_flight;
    struct wr_worker_stats stats;
};

/* Prepares a worker; wr_worker_done also after a failure. */
int wr_worker_init(struct wr_worker *w, struct wr_sched *s,
                   struct wr_objects *objects, weir_err *err);
int wr_worker_start(struct wr_worker *w, unsigned number, weir_err *err);
/* Waits for the thread to end, which wr_sched_close makes it do. */
void wr_worker_stop(struct wr_worker *w);
/* Only when all workers have stopped. */
void wr_worker_done(struct wr_worker *w);

#endif
