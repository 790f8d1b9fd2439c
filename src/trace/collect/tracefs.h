/* tracefs.h - what the kernel says of its tracepoints.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_COLLECT_TRACEFS_H
#define WR_TRACE_COLLECT_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

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

/* The folder of tracefs: where it is mounted, or of a mount that no other
 * process sees (root only); a descriptor, closed by the caller. */
int wr_tracefs_open(int *ret_fd, weir_err *err);

/* Reads the id and the places of all t->fields, which must have names.
 * WEIR_ENOENT: this kernel has no such tracepoint. */
int wr_tracefs_find(int folder, struct wr_tracepoint *t, weir_err *err);

/* The same of the text of a `format` file. */
int wr_tracefs_parse(const char *text, struct wr_tracepoint *t, weir_err *err);

/* The field's value in a record; 0 if the record is too short. */
uint64_t wr_tracepoint_value(const struct wr_tracepoint_field *f,
                             const uint8_t *record, size_t len);

#endif
