/* perf.h - perf events of a process tree, in the order in which they happened.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each core has a ring that the kernel writes and this reads. Events of all
 * processes that the command starts go there; records that found no room are
 * counted. */
#ifndef WR_TRACE_COLLECT_PERF_H
#define WR_TRACE_COLLECT_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "weir/error.h"

struct wr_rings;

enum wr_ring_kind {
    WR_RING_SAMPLE, /* of a tracepoint, or of a program */
    WR_RING_FORK,   /* of a process, or of a thread (pid == parent_pid) */
    WR_RING_EXEC,
    WR_RING_EXIT, /* of a thread */
    WR_RING_LOST,
};

struct wr_ring_record {
    int kind; /* enum wr_ring_kind */
    uint32_t pid, tid, parent_pid;
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    uint64_t ip;      /* where the program was; 0: not known */
    const uint8_t *raw;
    size_t raw_len;
    const char *comm; /* of WR_RING_EXEC */
    uint64_t lost;    /* of WR_RING_LOST: records */
};

struct wr_rings_event {
    uint64_t id;        /* of the tracepoint */
    const char *filter; /* of its fields; NULL: all */
};

/* Of `pid`, from its next exec on, and of all that it starts. WEIR_EACCES,
 * WEIR_ENOTSUP say what would permit it. */
int wr_rings_open(struct wr_rings **ret, pid_t pid,
                  const struct wr_rings_event *events, size_t count,
                  weir_err *err);
void wr_rings_close(struct wr_rings *r); /* takes NULL */

/* Gives `fn` all records up to `until_ns`, by time. */
typedef void wr_ring_fn(void *arg, const struct wr_ring_record *record);
void wr_rings_drain(struct wr_rings *r, uint64_t until_ns, wr_ring_fn *fn,
                    void *arg);

/* For what is written by programs in the kernel: one event of each core, whose
 * output goes into that core's ring. */
int wr_rings_output(struct wr_rings *r, int map_fd, weir_err *err);
unsigned wr_rings_cores(const struct wr_rings *r); /* numbers, not how many */

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
