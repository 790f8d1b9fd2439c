/* selftest.h - what the mount itself costs, measured through the mount.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A child process does it, as any program would use the mount: a thread of the
 * server that waits for the server could not be killed. It is forked before
 * the threads of the server start, and does its work when they run. */
#ifndef WR_MOUNT_SELFTEST_H
#define WR_MOUNT_SELFTEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/child.h"

struct wr_selftest_plan {
    const char *mountpoint;   /* borrowed, absolute */
    const char *probe_name;   /* borrowed: a file there, see door.h */
    int close_fd;             /* the server's: the child must not hold it */
    uint64_t latency_ns;      /* that a program is to see; 0: do not measure */
    uint64_t readahead_bytes; /* to be set; 0: leave it */
};

struct wr_selftest_result {
    uint64_t floor_ns; /* median round trip, answered at once */
    uint64_t cost_ns;  /* leaving so much earlier, an answer after
                          latency_ns comes in time */
    uint64_t open_ns;  /* to find and open a file, between such reads */
    uint64_t readahead_bytes;
    bool readahead_set;
};

int wr_selftest_fork(struct wr_child *c, const struct wr_selftest_plan *plan,
                     weir_err *err);

/* Lets it work if `go`, and waits for its end. False: there is no result. */
bool wr_selftest_finish(const struct wr_child *c, bool go,
                        struct wr_selftest_result *ret);

#endif
