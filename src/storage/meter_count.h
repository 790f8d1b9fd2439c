/* meter_count.h - the counters of a meter: tallies, time in use, file ends.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_STORAGE_METER_COUNT_H
#define WR_STORAGE_METER_COUNT_H

#include <pthread.h>

#include "storage/meter.h"

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

/* A tally for a queue of its own; NULL: out of memory. Ending it keeps what it
 * has counted. */
struct wr_meter_tally *wr_meter_tally_begin(struct wr_meter *m);
void wr_meter_tally_end(struct wr_meter *m, struct wr_meter_tally *t);

/* One of the tallies that objects share. */
struct wr_meter_tally *wr_meter_shard(struct wr_meter *m);

/* Under the tally's lock: one read that took `ns` and brought `bytes`. */
void wr_meter_count(struct wr_meter_tally *t, uint64_t ns, uint64_t bytes,
                    struct wr_meter_place place);

/* A queue (or an object) that had no read in flight has some; has none again.
 * Times of wr_clock_ns. */
void wr_meter_busy(struct wr_meter *m, uint64_t now_ns);
void wr_meter_idle(struct wr_meter *m, uint64_t now_ns);

/* Tells files apart. */
uint64_t wr_meter_file(const char *path);

/* Notes that [offset, offset + len) of a file was asked for; `whole`: that is
 * all of it. */
struct wr_meter_place wr_meter_locate(struct wr_meter *m, uint64_t file,
                                      uint64_t offset, uint64_t len,
                                      bool whole);

#endif
