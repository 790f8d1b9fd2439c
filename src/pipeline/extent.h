/* extent.h - bytes that several samples share: loaded once, for all of them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the order takes samples block by block, the samples of a block that
 * lie behind each other in one object are read by one request; the bytes stay
 * until each sample had its part. An object that is gzip is inflated as a
 * whole and stays as long as memory allows.
 *
 * Memory is bounded: when it is used up, the extent that nobody uses and that
 * was used least recently is dropped, and loaded again if it is asked for.
 *
 * What could not be loaded is not tried by every sample again: those of a block
 * are read alone from then on, those of a gzip object are bad until the epoch
 * ends. */
#ifndef WR_PIPELINE_EXTENT_H
#define WR_PIPELINE_EXTENT_H

#include <pthread.h>
#include <stdatomic.h>

#include "format/format.h"
#include "pipeline/split.h"
#include "storage/storage.h"

struct wr_task;

/* What a finished read belongs to (struct wr_io.tag). */
enum wr_read_tag { WR_TAG_TASK, WR_TAG_EXTENT };

enum wr_extent_state { WR_EXTENT_EMPTY, WR_EXTENT_LOADING, WR_EXTENT_LOADED };

struct wr_extent {
    struct wr_io rd;          /* of loading it; first: rd.tag tells */
    struct wr_extents *table; /* borrowed */
    struct wr_group *group;   /* borrowed: the block it is a part of */
    enum wr_extent_state state;
    uint64_t first, count; /* samples, by their place in the part; count 1 and
                              a gzip object: any */
    uint64_t object, offset;
    size_t len;
    uint8_t *buf; /* owned by the table's pool; NULL: none */
    size_t cap;
    const uint8_t *bytes;    /* inside buf: byte `offset` of the object */
    unsigned users;          /* tasks that wait for it or hold it */
    bool failed;             /* a block's: not to be tried again */
    uint64_t left;           /* samples that have not asked yet */
    struct wr_task *waiting; /* linked by next_waiting */
};

/* The extents of one block of samples, or of one gzip object. */
struct wr_group {
    uint64_t epoch, number;
    bool packed;
    unsigned users, count;
    struct wr_group *chain;         /* in its bucket */
    struct wr_group *newer, *older; /* by last use */
    weir_err *why;      /* owned; packed: why it could not be loaded, or NULL */
    uint64_t bad_epoch; /* with `why`: up to this one it is not tried again */
    struct wr_extent extents[];
};

#define WR_EXTENT_BUCKETS 1024u
#define WR_EXTENT_SPARE   64u

struct wr_extents {
    const weir_dataset *ds; /* borrowed */
    bool direct, blocks;    /* blocks: the order goes block by block */
    struct wr_split split;  /* samples are numbered within the part */
    uint64_t block;         /* samples in one */
    size_t limit;           /* bytes for extents of blocks */
    size_t packed_limit;    /* bytes for inflated objects */
    atomic_bool stopping;   /* what is being inflated is not wanted any more */

    pthread_mutex_t lock; /* guards all below; a leaf lock */
    struct wr_group *buckets[WR_EXTENT_BUCKETS]; /* owned */
    struct wr_group *newest, *oldest;
    size_t used, packed_used;
    unsigned group_count;
    struct {
        uint8_t *buf; /* owned */
        size_t cap;
    } spare[WR_EXTENT_SPARE]; /* memory that was touched once is kept, within
                                 `limit` */
    unsigned spare_count;
    size_t spare_bytes;
};

enum wr_extent_get {
    WR_EXTENT_NONE,  /* the sample is to be read alone; one of a gzip object
                        cannot be: there is no memory for that now */
    WR_EXTENT_BAD,   /* it cannot be loaded; task->code and text say why */
    WR_EXTENT_READY, /* task->rd has the bytes */
    WR_EXTENT_WAIT,  /* somebody loads it; the task comes back with it */
    WR_EXTENT_LOAD,  /* as WAIT, and the caller is to load task->extent */
};

/* `cfg` with block_samples settled. */
int wr_extents_init(struct wr_extents *x, const weir_dataset *ds,
                    const weir_pipeline_config *cfg, weir_err *err);
void wr_extents_done(struct wr_extents *x);

/* Makes wr_extent_inflate fail soon, now and from now on. Any thread. */
void wr_extents_stop(struct wr_extents *x);

/* How a task asks. */
enum wr_extent_ask {
    WR_ASK_USUAL,
    WR_ASK_URGENT, /* a gzip object is loaded whatever memory there is */
    WR_ASK_FILL,   /* the same, for a sample out of its turn */
};

/* For a task whose place and batch are set. */
enum wr_extent_get wr_extents_get(struct wr_extents *x, struct wr_task *t,
                                  enum wr_extent_ask ask);

/* What loading a gzip object took. */
struct wr_inflate_cost {
    uint64_t bytes, requests;
    uint64_t read_ns, inflate_ns;
};

/* Loads a gzip object; blocks. Adds to *cost, also when it fails. */
int wr_extent_inflate(struct wr_extent *e, const char *path,
                      struct wr_inflate_cost *cost, weir_err *err);

/* The extent is loaded: hands over the tasks that waited for it, linked by
 * next_waiting, with their bytes. */
struct wr_task *wr_extent_loaded(struct wr_extent *e);
/* It could not be, because of `why` (a gzip object) or whatever its read says
 * (NULL): hands them over without; they have left it. */
struct wr_task *wr_extent_failed(struct wr_extent *e, const weir_err *why);

/* The task has had its bytes. */
void wr_extent_leave(struct wr_task *t);

#endif
