/* kernel.h - what the kernel sees of a command: calls that no library can.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which calls are taken: all of processes that did not load the library; of
 * those that did, calls that come from elsewhere than the C library, which the
 * library therefore cannot have seen; requests of io_uring of all. What the
 * library has recorded is so never counted twice. */
#ifndef WR_TRACE_COLLECT_KERNEL_H
#define WR_TRACE_COLLECT_KERNEL_H

#include <sys/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

struct wr_collect;
struct wr_kernel;
struct wr_tapped;

/* From the next exec of `pid` on. */
int wr_kernel_open(struct wr_kernel **ret, struct wr_collect *c, pid_t pid,
                   weir_err *err);
void wr_kernel_close(struct wr_kernel *k); /* takes NULL */

/* A moment up to which all is in the rings, to be taken before the collector
 * looks for new processes of the library; then records up to it. */
void wr_kernel_limit(struct wr_kernel *k);
void wr_kernel_drain(struct wr_kernel *k);
/* All that is left; ends what still runs. */
void wr_kernel_finish(struct wr_kernel *k);

/* Asks /proc for the counters of processes that are seen here alone. */
void wr_kernel_sample(struct wr_kernel *k);
/* A process has loaded the library. */
void wr_kernel_tapped(struct wr_kernel *k, struct wr_tapped *t);
/* How many run that are seen here alone. */
size_t wr_kernel_running(const struct wr_kernel *k);

#define WR_TRACEPOINT_FIELDS 8

/* Where a value lies in the records of a tracepoint. */
struct wr_tracepoint_field {
    const char *name; /* "args"; NULL ends the list */
    unsigned offset, size;
};

struct wr_tracepoint {
    const char *name; /* "raw_syscalls/sys_enter" */
    uint64_t id;      /* for perf_event_open */
    struct wr_tracepoint_field fields[WR_TRACEPOINT_FIELDS];
};

/* The same of the text of a `format` file. */
int wr_tracefs_parse(const char *text, struct wr_tracepoint *t, weir_err *err);

/* The field's value in a record; 0 if the record is too short. */
uint64_t wr_tracepoint_value(const struct wr_tracepoint_field *f,
                             const uint8_t *record, size_t len);

#endif
