/* cores.h - who had the cores meanwhile: this program, others, nobody; what this one used.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two readings are compared. Only the cores that this process may use are looked
 * at; what the kernel does not tell makes nothing of it known. */
#ifndef WR_MONITOR_CORES_H
#define WR_MONITOR_CORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

/* One reading, since the start of the machine or of the process. */
struct wr_cores {
    bool known;
    unsigned count;                       /* that this process may use */
    uint64_t at_ns;                       /* wr_clock_ns */
    uint64_t busy_ns, stolen_ns, idle_ns; /* of these cores */
    uint64_t own_ns;                      /* CPU time of this process */
    uint64_t throttled_ns; /* of all cores, by limits of its cgroups */
};

void wr_cores_now(struct wr_cores *ret);

/* Between two readings: how many cores, on average. */
struct wr_cores_use {
    bool known; /* false: nothing is, or the time was too short */
    double count;
    double own, others, idle;
    double stolen;    /* by the hypervisor, for other guests */
    double throttled; /* not used because a limit of a cgroup was reached */
};

void wr_cores_between(const struct wr_cores *from, const struct wr_cores *to,
                      struct wr_cores_use *ret);

/* Whether it had clearly fewer cores than it could have used: `wanted` threads
 * at most (0: as many as there are cores). Cores that were idle were there for
 * the taking. */
bool wr_cores_is_starved(const struct wr_cores_use *u, unsigned wanted);

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
