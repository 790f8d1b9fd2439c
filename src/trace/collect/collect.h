/* collect.h - collects what the processes of a traced command record.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     wr_collect_open(&c, &cfg, &err);
 *     ... run the command with wr_collect_folder(c) in WEIR_TRACE ...
 *     wr_collect_drain(c);                   // every 50 ms, until it has ended
 *     wr_collect_close(c, &info, &sum, &err);
 *
 * The processes write into memory that they share with the collector, and never
 * wait for it. If the trace cannot be written any more, the collector reads on
 * and says so at the end: the command is not disturbed. */
#ifndef WR_TRACE_COLLECT_H
#define WR_TRACE_COLLECT_H

#include <stdbool.h>
#include <sys/types.h>

#include "trace/file.h"

struct wr_collect_config {
    const char *output;               /* borrowed during the call */
    const struct wr_trace_info *info; /* borrowed during the call */
    uint64_t budget_bytes;            /* of records of one process */
    bool anonymous;    /* hashes instead of names, and no arguments */
    bool no_arguments; /* of processes: their programs alone */
};

/* What was seen so far. */
struct wr_collect_sum {
    uint64_t events, lost_events, lost_names, nested_events;
    uint64_t bad_records; /* overwritten by the program, and left out */
    uint64_t processes, unseen_processes, still_running;
    uint64_t files, data_files;         /* names that were seen */
    uint64_t operations;                /* reads and writes */
    uint64_t bytes_read, bytes_written; /* traced */
    uint64_t data_read, data_written;   /* of these, of data files */
    /* What the kernel counted, and what was traced of the processes that it
     * is known of. */
    uint64_t kernel_read, kernel_written, matched_read, matched_written;
    uint64_t device_read, device_written, major_faults;
    uint64_t uring_requests;
    /* By --kernel: what it saw, and what it missed. */
    uint64_t kernel_events, lost_records, unnamed_files, foreign_processes;
    uint64_t uring_seen, uring_unseen, uring_unnamed;
    bool by_kernel, names_by_proc;
};

struct wr_collect;

int wr_collect_open(struct wr_collect **ret,
                    const struct wr_collect_config *cfg, weir_err *err);
const char *wr_collect_folder(const struct wr_collect *c);

void wr_collect_drain(struct wr_collect *c);
void wr_collect_sum(const struct wr_collect *c, struct wr_collect_sum *ret);

/* Major faults of `pid` and all its children, which must not run yet; false:
 * the kernel does not tell, only their number is known. */
bool wr_collect_faults(struct wr_collect *c, pid_t pid);

/* What no library can see of `pid`, which must not run yet, and all its
 * children (--kernel). WEIR_EACCES, WEIR_ENOTSUP say what would permit it. */
int wr_collect_kernel(struct wr_collect *c, pid_t pid, weir_err *err);

/* The command's first process has ended; its /proc/PID is still there. */
void wr_collect_zombie(struct wr_collect *c, pid_t pid);
void wr_collect_status(struct wr_collect *c, pid_t pid, int status);
/* How many traced processes are still running. */
size_t wr_collect_running(struct wr_collect *c);

/* Drains a last time, writes what the end knows, completes the file. Frees it in
 * any case. *ret_sum is filled in even on failure. */
int wr_collect_close(struct wr_collect *c, const struct wr_trace_info *info,
                     struct wr_collect_sum *ret_sum, weir_err *err);

#endif
