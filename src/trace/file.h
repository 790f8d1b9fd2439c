/* file.h - a trace in a file: written in pieces, readable after any crash.
 * SPDX-License-Identifier: Apache-2.0
 *
 * docs/formats/trace.md describes it: a head, then chunks, each compressed and
 * with a checksum of its own. A chunk is there as a whole or not at all; what
 * follows the last whole one is ignored and said. */
#ifndef WR_TRACE_FILE_H
#define WR_TRACE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/event.h"
#include "weir/error.h"

/* What the whole trace has once. */
struct wr_trace_info {
    uint64_t start_wall_ns; /* of the day, when it began */
    uint64_t end_ns;        /* since then; 0: not known (it was cut off) */
    const char *command;    /* joined by blanks */
    const char *host, *kernel, *weir;
    uint32_t cores;
    uint64_t memory_bytes, available_bytes; /* of the machine, at the start */
    bool anonymous;                         /* names are hashes */
    bool complete;                          /* it ended as it should */
    bool by_kernel;        /* with the kernel's records (--kernel) */
    uint64_t lost_records; /* of these */
    uint32_t merged;       /* of how many traces it was made; 0: of none */
    const char *mounts;    /* lines "DEVICE PATH TYPE BLOCKSIZE" */
    const char *monitor;   /* JSON of the machine's monitor, or NULL */
};

/* --- writing --- */

struct wr_trace_writer;

/* A new file, which must not exist; `info` is copied. Compression is fast (zstd
 * level 1). */
int wr_trace_writer_open(struct wr_trace_writer **ret, const char *path,
                         const struct wr_trace_info *info, weir_err *err);
/* Events in any order inside one call; those of a later call should not end more
 * than a second before those of an earlier one. */
int wr_trace_writer_events(struct wr_trace_writer *w,
                           const struct wr_trace_event *events, size_t count,
                           weir_err *err);
/* The name of file `number`, before the first event that has it; kind as
 * enum wr_trace_kind; size: of the file when it was first seen, UINT64_MAX: not
 * known. */
int wr_trace_writer_name(struct wr_trace_writer *w, uint32_t number,
                         const char *path, int kind, uint64_t size,
                         weir_err *err);
/* A process, when it is first seen; again with the same number when more is
 * known of it. */
int wr_trace_writer_process(struct wr_trace_writer *w, uint32_t number,
                            const struct wr_trace_process *p, weir_err *err);
int wr_trace_writer_counts(struct wr_trace_writer *w,
                           const struct wr_trace_counts *counts, size_t n,
                           weir_err *err);
/* How much of file `number` is in the page cache at the end. */
int wr_trace_writer_resident(struct wr_trace_writer *w, uint32_t number,
                             uint64_t resident_bytes, uint64_t size,
                             weir_err *err);
/* What is buffered reaches the file; then a crash loses nothing of it. */
int wr_trace_writer_flush(struct wr_trace_writer *w, weir_err *err);
/* Completes the file; `info` has what is known at the end. Frees the writer. */
int wr_trace_writer_close(struct wr_trace_writer *w,
                          const struct wr_trace_info *info, weir_err *err);
void wr_trace_writer_drop(struct wr_trace_writer *w); /* leaves it as it is */

/* --- reading --- */

struct wr_trace_file;

struct wr_trace_name {
    const char *path; /* borrowed; bytes as they were, escape before printing */
    int kind;
    uint64_t size, resident; /* UINT64_MAX: not known */
};

/* Reads all but events and counts: names and processes. Memory goes with files
 * and processes, not with events. Fails for what is no trace; what is cut off or
 * damaged is read up to there, and wr_trace_file_damage says so. */
int wr_trace_file_open(struct wr_trace_file **ret, const char *path,
                       weir_err *err);
void wr_trace_file_close(struct wr_trace_file *f);

const struct wr_trace_info *wr_trace_file_info(const struct wr_trace_file *f);
size_t wr_trace_file_processes(const struct wr_trace_file *f);
const struct wr_trace_process *
wr_trace_file_process(const struct wr_trace_file *f, size_t k);
size_t wr_trace_file_names(const struct wr_trace_file *f);
const struct wr_trace_name *wr_trace_file_name(const struct wr_trace_file *f,
                                               size_t k);
uint64_t wr_trace_file_counts(const struct wr_trace_file *f);
uint64_t wr_trace_file_events(const struct wr_trace_file *f); /* in all */
/* Who makes tables of what is in it takes room for them first: WEIR_ELIMIT when
 * the file is too small for so much, or this process's share of memory. */
int wr_trace_file_take(struct wr_trace_file *f, uint64_t bytes, weir_err *err);
/* "the last 312 bytes are cut off", or NULL. */
const char *wr_trace_file_damage(const struct wr_trace_file *f);

/* Walks over all events once, by the time they ended (to within a second):
 * `fn` gets them in pieces; a return other than 0 ends the walk and is
 * returned. */
typedef int wr_trace_events_fn(void *arg, const struct wr_trace_event *events,
                               size_t count);
int wr_trace_file_walk(struct wr_trace_file *f, wr_trace_events_fn *fn,
                       void *arg, weir_err *err);

/* The same in small pieces, for who reads several traces at once. */
#define WR_TRACE_ROOM 65536 /* events: the most that are in one piece */

struct wr_trace_cursor { /* zeroed: at the beginning */
    size_t chunk, at;
};
/* The next `cap` events or fewer; *ret_count 0: there are no more. `room` is for
 * WR_TRACE_ROOM events. */
int wr_trace_file_next(struct wr_trace_file *f, struct wr_trace_cursor *c,
                       struct wr_trace_event *room, struct wr_trace_event *to,
                       size_t cap, size_t *ret_count, weir_err *err);

/* The same for the exact counts. */
typedef int wr_trace_counts_fn(void *arg, const struct wr_trace_counts *c);
int wr_trace_file_walk_counts(struct wr_trace_file *f, wr_trace_counts_fn *fn,
                              void *arg, weir_err *err);

#endif
