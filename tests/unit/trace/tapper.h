/* tapper.h - processes that never ran, in the memory of a collector.
 * SPDX-License-Identifier: Apache-2.0
 *
 * They are written as the preloaded library writes them, by a clock of
 * nanoseconds, but for what a test does to them: their file is mapped, and all of
 * it may be changed. A failure fails the test. */
#ifndef TEST_TRACE_TAPPER_H
#define TEST_TRACE_TAPPER_H

#include "maker.h"
#include "trace/collect/state.h"

#define TAPPED_MAX 8
#define TAP_EVENTS 16384

struct tapper {
    char dir[256], path[300]; /* of the trace */
    struct wr_trace_info info;
    struct wr_collect *c;
    struct wr_tap_control *control; /* mapped */
    struct wr_tap_process *processes[TAPPED_MAX];
    struct wr_collect_sum sum;
    struct wr_trace_file *f; /* what was collected */
    struct wr_trace_event events[TAP_EVENTS];
    size_t count;
};

/* A collector that writes to a file in a folder of its own. */
void tapper_open(struct tapper *t);
/* A process of this one's pid, with the number (from 1); the parent's number if
 * it was forked, else 0. Nothing of it is ready before tapper_ready. */
struct wr_tap_process *tapper_process(struct tapper *t, uint32_t number,
                                      uint32_t parent);
void tapper_ready(struct tapper *t, uint32_t number);
/* Behind what the chunk has: the record, its name (NULL: none), not committed. */
struct wr_tap_record *tapper_put(struct wr_tap_process *p, unsigned slot,
                                 struct wr_tap_record r, const char *name);
/* A record of now, at no place of a file; a read; an open of a path in the folder
 * with the handle `dir`, 0: from where the process is. */
struct wr_tap_record tapper_record(uint8_t op, uint32_t handle);
void tapper_read(struct wr_tap_process *p, unsigned slot, uint32_t handle,
                 uint64_t off, uint32_t len);
void tapper_name(struct wr_tap_process *p, unsigned slot, uint32_t handle,
                 uint32_t dir, const char *path);
void tapper_commit(struct wr_tap_process *p, unsigned slot);
/* Ends the collector and reads its trace, which is whole. */
void tapper_close(struct tapper *t);
/* The path of a file of an event, "" for none. */
const char *tapper_path(const struct tapper *t, uint32_t file);
/* Event number n is of that kind, on that file. */
void tapper_expect(const struct tapper *t, size_t n, unsigned op,
                   const char *path, uint64_t bytes);
void tapper_done(struct tapper *t);

#endif
