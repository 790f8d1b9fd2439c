/* usage.h - what this process has used so far: CPU, memory, storage.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MONITOR_USAGE_H
#define WR_MONITOR_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/error.h"

struct wr_usage {
    double user_s, sys_s; /* CPU seconds of all threads */
    uint64_t rss_bytes;
    uint64_t peak_rss_bytes; /* since the start or wr_usage_reset_peak */
    uint64_t major_faults;
    bool has_io;                      /* the kernel tells the next two */
    uint64_t read_bytes, write_bytes; /* from and to the devices */
};

/* Snapshot of this process. Fails where /proc cannot be read. */
int wr_usage_now(struct wr_usage *ret, weir_err *err);

/* What was used between two snapshots; the memory fields are those of `to`. */
struct wr_usage wr_usage_between(const struct wr_usage *from,
                                 const struct wr_usage *to);

/* Starts a new peak, so that each repetition has its own. */
int wr_usage_reset_peak(weir_err *err);

#endif
