/* cgroup.h - how much of the machine this process's control group allows.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Containers, batch systems and systemd limit cores and memory by control
 * groups, version 1 or 2; the smallest limit from the process's own group up to
 * the root counts. */
#ifndef WR_BASE_CGROUP_H
#define WR_BASE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wr_cgroup {
    double cores;          /* 0: not limited */
    uint64_t memory_bytes; /* 0: not limited */
};

/* `root` stands in front of /proc and /sys (for tests); "" usually. What cannot
 * be read limits nothing. */
void wr_cgroup_limits(const char *root, struct wr_cgroup *ret);

/* Texts. "50000 100000": 0.5 cores; false for "max 100000" and what is not
 * whole. */
bool wr_cgroup_cpu_max(const char *text, double *ret_cores);

/* A number and a line end; false for "max", "-1" and the value near 2^63 by
 * which version 1 says that there is no limit. */
bool wr_cgroup_number(const char *text, uint64_t *ret);

/* The path of this process in /proc/self/cgroup: of a controller of version 1
 * ("memory"), or of version 2 (""); "" for the root. False when it is not there
 * or too long. */
bool wr_cgroup_path(const char *text, const char *controller, char *buf,
                    size_t cap);

#endif
