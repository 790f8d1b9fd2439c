/* counted.h - exact counts of each file in each process.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_COLLECT_COUNTED_H
#define WR_TRACE_COLLECT_COUNTED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"
#include "trace/event.h"

/* Counts, and where the last transfers ended (counts.h). */
struct wr_counted_file {
    struct wr_trace_counts counts;
    uint64_t next[2]; /* of the reads, of the writes */
};

/* Zeroed at first. */
struct wr_counted {
    struct wr_counted_file *files; /* owned */
    size_t count, cap;
    struct wr_map numbers; /* of struct wr_map_number: places in `files` */
};

/* The counts of the pair; NULL when memory is short. */
struct wr_counted_file *wr_counted_of(struct wr_counted *c, uint32_t process,
                                      uint32_t file);
void wr_counted_clear(struct wr_counted *c); /* frees it all */

/* Adds one event to its file's counts. */
void wr_counted_add(struct wr_counted_file *f, const struct wr_trace_event *e);

#endif
