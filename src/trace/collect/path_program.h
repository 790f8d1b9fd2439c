/* path_program.h - the texts of paths that system calls get, copied by the kernel.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A tracepoint gives the address of a path alone, and what is there may be
 * something else by the time it is read. A small program in the kernel (BPF) copies it
 * at the moment of the call, into the ring that the call's record goes to: right
 * in front of it. */
#ifndef WR_TRACE_COLLECT_PATH_PROGRAM_H
#define WR_TRACE_COLLECT_PATH_PROGRAM_H

#include "trace/collect/perf.h"
#include "trace/collect/kernel.h"

#define WR_PATHS_CALLS 1024 /* numbers of system calls that may have paths */

struct wr_paths;

/* For each number of a call: which arguments are paths, as their places plus
 * one; 0: none. */
struct wr_paths_args {
    uint8_t first, second;
};

/* `enter`, `leave`: raw_syscalls/sys_enter with its fields id and args, and
 * sys_exit with id. WEIR_EACCES, WEIR_ENOTSUP: the kernel does not let
 * this user. */
int wr_paths_open(struct wr_paths **ret, struct wr_rings *rings,
                  const struct wr_tracepoint *enter,
                  const struct wr_tracepoint *leave,
                  const struct wr_paths_args args[WR_PATHS_CALLS],
                  weir_err *err);
void wr_paths_close(struct wr_paths *p); /* takes NULL */

/* Whether a record is such a text; *ret_which: 0 or 1. */
const char *wr_paths_text(const struct wr_ring_record *r, unsigned *ret_which);

#endif
