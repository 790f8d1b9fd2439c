/* meter.h - a store around another that measures the reads through it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * It changes nothing: bytes, errors, direct reads and local paths are those of
 * the store inside, and so are the batches in which requests reach its queue.
 * It has no URL; a program puts it around a store that it has open.
 *
 * Only reads that succeed and bring bytes count, those that fail in `errors`;
 * writes pass unmeasured. */
#ifndef WR_STORAGE_METER_H
#define WR_STORAGE_METER_H

#include <stdint.h>
#include <pthread.h>

#include "base/hist.h"
#include "storage/storage.h"

struct wr_meter; /* counters of one accelerator or process; any thread */

struct wr_meter_counts {
    uint64_t reads, bytes, errors;
    /* The offset is at the end of the previous read of the same file or past
     * it; exactly at it. A read of a whole file is both, and so is one that
     * begins a pass over a file: at its beginning, or behind a header of less
     * than 4 KiB, when the last one was elsewhere. */
    uint64_t sequential, consecutive;
    uint64_t whole_files;      /* reads of a whole file from its beginning */
    uint64_t opens;            /* of objects; each read by path is one */
    uint64_t busy_ns;          /* in which at least one read was in flight */
    struct wr_hist latency_ns; /* from submission until it was handed over */
    struct wr_hist sizes;
};

int wr_meter_new(struct wr_meter **ret, weir_err *err);
/* Takes NULL. Its stores are closed before. */
void wr_meter_free(struct wr_meter *m);

/* *ret is a store around `inner`, to be closed with wr_store_close before
 * `inner` (borrowed, not closed by it). One meter may measure several stores;
 * their files of the same path are one file to it. */
int wr_meter_wrap(struct wr_meter *m, struct wr_store *inner,
                  struct wr_store **ret, weir_err *err);

/* What was counted since wr_meter_new. Any thread, while reads go on. */
void wr_meter_take(struct wr_meter *m, struct wr_meter_counts *ret);

/* Adds the counts of another accelerator or rank. busy_ns is the sum then: the
 * share of a run with reads in flight is busy_ns / (meters * its time). */
void wr_meter_add(struct wr_meter_counts *to,
                  const struct wr_meter_counts *from);

/* What one queue, or one of the shards of objects, has counted. */
struct wr_meter_tally {
    pthread_mutex_t lock; /* guards `counts`; a leaf lock */
    struct wr_meter_counts counts;
    struct wr_meter_tally *next, **link; /* guarded by the meter's lock */
};

/* How a read lies to the one before it. */
struct wr_meter_place {
    bool sequential, consecutive, whole;
};

/* A queue (or an object) that had no read in flight has some; has none again.
 * Times of wr_clock_ns. */
void wr_meter_busy(struct wr_meter *m, uint64_t now_ns);
void wr_meter_idle(struct wr_meter *m, uint64_t now_ns);

#endif
