/* extent.h - bytes that several samples share: loaded once, for all of them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the order takes samples block by block, the samples of a block that
 * lie behind each other in one object are read by one request; the bytes stay
 * until each sample had its part. An object that is gzip is inflated as a
 * whole and stays as long as memory allows.
 *
 * Memory is bounded: when it is used up, the extent that nobody uses and that
 * was used least recently is dropped, and loaded again if it is asked for. */
#ifndef WR_PIPELINE_EXTENT_H
#define WR_PIPELINE_EXTENT_H

#include <pthread.h>

#include "format/format.h"
#include "storage/storage.h"

struct wr_task;

/* What a finished read belongs to (struct wr_read.tag). */
enum wr_read_tag { WR_TAG_TASK, WR_TAG_EXTENT };

enum wr_extent_state { WR_EXTENT_EMPTY, WR_EXTENT_LOADING, WR_EXTENT_LOADED };

struct wr_extent {
    struct wr_read rd;        /* of loading it; first: rd.tag tells */
    struct wr_extents *table; /* borrowed */
    struct wr_group *group;   /* borrowed: the block it is a part of */
    enum wr_extent_state state;
    uint64_t first, count; /* samples; count 1 and a gzip object: any */
    uint64_t object, offset;
    size_t len;
    uint8_t *buf; /* owned by the table's pool; NULL: none */
    size_t cap;
    const uint8_t *bytes;    /* inside buf: byte `offset` of the object */
    unsigned users;          /* tasks that wait for it or hold it */
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
    struct wr_extent extents[];
};

#define WR_EXTENT_BUCKETS 1024u
#define WR_EXTENT_SPARE   64u

struct wr_extents {
    const weir_dataset *ds; /* borrowed */
    bool direct, blocks;    /* blocks: the order goes block by block */
    uint64_t block;         /* samples in one */
    size_t limit;           /* bytes for extents of blocks */
    size_t packed_limit;    /* bytes for inflated objects */

    pthread_mutex_t lock; /* guards all below; a leaf lock */
    struct wr_group *buckets[WR_EXTENT_BUCKETS]; /* owned */
    struct wr_group *newest, *oldest;
    size_t used, packed_used;
    unsigned group_count;
    struct {
        uint8_t *buf; /* owned */
        size_t cap;
    } spare[WR_EXTENT_SPARE]; /* memory that was touched once is kept */
    unsigned spare_count;
};

enum wr_extent_get {
    WR_EXTENT_NONE,  /* the sample is to be read alone */
    WR_EXTENT_READY, /* task->rd has the bytes */
    WR_EXTENT_WAIT,  /* somebody loads it; the task comes back with it */
    WR_EXTENT_LOAD,  /* as WAIT, and the caller is to load task->extent */
};

/* `cfg` with block_samples settled. */
int wr_extents_init(struct wr_extents *x, const weir_dataset *ds,
                    const weir_pipeline_config *cfg, weir_err *err);
void wr_extents_done(struct wr_extents *x);

/* Whether reads of single samples are worth avoiding at all. */
bool wr_extents_used(const struct wr_extents *x);

/* For a task whose place and batch are set; `fill`: out of its turn. */
enum wr_extent_get wr_extents_get(struct wr_extents *x, struct wr_task *t,
                                  bool fill);

/* Loads a gzip object; blocks. */
int wr_extent_inflate(struct wr_extent *e, const char *path, weir_err *err);

/* The extent is loaded, or not: hands over the tasks that waited for it, linked
 * by next_waiting. With `ok` they have their bytes, else they have left it. */
struct wr_task *wr_extent_loaded(struct wr_extent *e, bool ok);

/* The task has had its bytes. */
void wr_extent_leave(struct wr_task *t);

#endif
