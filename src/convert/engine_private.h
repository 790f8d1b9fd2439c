/* engine_private.h - what the parts of the engine share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CONVERT_ENGINE_PRIVATE_H
#define WR_CONVERT_ENGINE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "convert/engine.h"

/* In or out, the larger. What is larger than the processor's own cache is
 * copied by the kernel at half the speed. */
#define WR_CHUNK_BYTES   (UINT64_C(1) << 20)
#define WR_CHUNK_SAMPLES 1024u
#define WR_MEASURED      200u /* samples whose decoding is timed, about */

struct wr_engine_shard;

struct wr_engine_chunk {
    struct wr_engine_chunk *next;  /* of its shard, or spare */
    struct wr_engine_shard *shard; /* borrowed */
    uint64_t first;                /* position */
    uint32_t count;
    bool done; /* waits to be appended */
    struct wr_convert_part part;
    struct wr_bytes bad; /* lines */
};

struct wr_engine_shard {
    struct wr_engine_shard *next;        /* to be finished */
    struct wr_engine_shard *older;       /* all that are alive */
    struct wr_engine_chunk *head, *tail; /* owned: dealt, not appended */
    bool all_dealt, writing;
    struct wr_convert_shard out;
};

/* A reader of the engine's, to be told of the end. */
struct wr_engine_reader {
    struct wr_engine_reader *next;
    struct wr_reader *reader; /* owned by its thread */
};

struct wr_engine {
    struct wr_engine_config cfg;
    pthread_mutex_t lock;          /* guards all below but the atomics */
    pthread_cond_t work;           /* a chunk may be taken, or the end */
    pthread_cond_t ready;          /* a shard is to be finished, or the end */
    pthread_cond_t over;           /* for the caller: all done, or failed */
    uint64_t shard, pos;           /* what is dealt next */
    struct wr_engine_shard *open;  /* borrowed: being dealt */
    struct wr_engine_shard *alive; /* owned: by `older` */
    struct wr_engine_shard *finish, **finish_end;
    struct wr_engine_chunk *spare;    /* owned */
    struct wr_engine_reader *readers; /* borrowed: those that are open */
    unsigned outstanding, window;     /* chunks dealt and not appended */
    uint64_t left;                    /* shards to be finished */
    struct wr_convert_saving saving;
    int code; /* of the first failure */
    weir_err err;
    atomic_bool stop;
    atomic_uint_fast64_t bytes; /* of samples worked on */
};

/* The next chunk, with everything in it empty; NULL: none now (without
 * `wait`), or none any more. A thread that holds a chunk must not wait: others
 * may be waiting for it. */
struct wr_engine_chunk *wr_engine_take(struct wr_engine *e, bool wait);

/* The chunk is done: appends all that is next to its shard. */
void wr_engine_append(struct wr_engine *e, struct wr_engine_chunk *c);

/* The first failure ends the run. */
void wr_engine_fail(struct wr_engine *e, const weir_err *err);

/* A thread's reader, after it was opened and before it is closed. */
void wr_engine_add_reader(struct wr_engine *e, struct wr_engine_reader *r);
void wr_engine_remove_reader(struct wr_engine *e, struct wr_engine_reader *r);

/* Threads: one of the workers, and the one that finishes shards. */
void *wr_engine_work(void *engine);
void *wr_engine_finish(void *engine);

#endif
