/* tapped.h - one traced process, as the collector sees it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_COLLECT_TAPPED_H
#define WR_TRACE_COLLECT_TAPPED_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/event.h"
#include "trace/preload/shared.h"
#include "weir/error.h"

/* How far a chunk has been read. */
struct wr_tapped_slot {
    uint32_t limit;   /* committed when the round began */
    uint32_t named;   /* read for names */
    uint32_t drained; /* turned into events */
};

/* A file that is mapped into its memory. */
struct wr_tapped_map {
    uint64_t at, len, off;
    uint32_t file;
};

struct wr_tapped {
    uint32_t number;             /* of the run's control file */
    uint32_t process;            /* of the trace */
    struct wr_tapped *parent;    /* borrowed; NULL: none */
    struct wr_tap_process *head; /* mapped; NULL: it has ended */
    struct wr_tap_process kept;  /* the head, as it was last seen */
    uint32_t *handles;           /* owned; file numbers, from first_handle on */
    size_t handle_cap;
    uint32_t first_handle;
    char *named_cwd, *cwd;      /* owned; while reading names, events */
    struct wr_tapped_map *maps; /* owned */
    size_t map_count, map_cap;
    uint64_t read, written;  /* bytes of calls that the kernel counts, too */
    struct wr_tap_io reaped; /* what the kernel added to it of children */
    uint64_t end_ns;
    int32_t status;     /* as of waitpid; -1: not known */
    uint64_t ring_seen; /* requests of its io_uring rings */
    bool keep;          /* the file stays, and nothing is changed in it */
    bool replaced;      /* by another program with its pid */
    bool made;          /* it runs, and has no library: `head` is NULL */
    struct wr_tapped_slot *slots; /* owned; WR_TAP_CHUNKS, while it runs */
};

/* Maps FOLDER/pNUMBER; 0: it is not ready yet, 1: done, < 0: failed. With `keep`
 * reading leaves the file as it is, for another try. */
int wr_tapped_open(struct wr_tapped **ret, const char *folder, uint32_t number,
                   bool keep, weir_err *err);
/* Ends the mapping and removes the file, unless it is kept; names stay for its
 * children. */
void wr_tapped_detach(struct wr_tapped *t, const char *folder);
void wr_tapped_free(struct wr_tapped *t);

bool wr_tapped_set_handle(struct wr_tapped *t, uint32_t handle, uint32_t file);
/* The file behind a handle, of its own or of a parent; WR_TRACE_NO_FILE. */
uint32_t wr_tapped_file(const struct wr_tapped *t, uint32_t handle);

bool wr_tapped_map_add(struct wr_tapped *t, const struct wr_tapped_map *m);
void wr_tapped_map_remove(struct wr_tapped *t, uint64_t at);
const struct wr_tapped_map *wr_tapped_map_at(const struct wr_tapped *t,
                                             uint64_t address);

/* Adds what /proc/PID/io counts of an event: asynchronous calls are not in
 * there. */
void wr_tapped_match(struct wr_tapped *t, const struct wr_trace_event *e);

#endif
