/* faults.h - major page faults of a process tree, as the kernel reports them.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_COLLECT_FAULTS_H
#define WR_TRACE_COLLECT_FAULTS_H

#include <stdint.h>
#include <sys/types.h>

#include "weir/error.h"

struct wr_faults;

struct wr_fault {
    uint32_t pid, tid;
    uint64_t at_ns; /* CLOCK_MONOTONIC */
    uint64_t address;
};

/* From the next exec of `pid` on. WEIR_EACCES, WEIR_ENOTSUP: the kernel does
 * not tell this user. */
int wr_faults_open(struct wr_faults **ret, pid_t pid, weir_err *err);
void wr_faults_close(struct wr_faults *f); /* takes NULL */

/* Gives each fault since the last call to `fn`. */
typedef void wr_fault_fn(void *arg, const struct wr_fault *fault);
void wr_faults_drain(struct wr_faults *f, wr_fault_fn *fn, void *arg);

#endif
