/* maker.h - made-up traces: a program that never ran, in a file.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A failure fails the test. Times are in milliseconds where a name says so. */
#ifndef TEST_TRACE_MAKER_H
#define TEST_TRACE_MAKER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/file.h"

#define MS UINT64_C(1000000)
#define KB UINT64_C(1000)
#define MB UINT64_C(1000000)

struct maker {
    char dir[256], path[300];
    struct wr_trace_writer *w;
    struct wr_trace_info info;
    struct wr_trace_process processes[64];
    uint32_t process_count, name_count;
};

/* A new folder and an empty trace in it: 8 cores, 64 GB of memory. */
void maker_open(struct maker *m);
/* Completes the file and opens it. */
struct wr_trace_file *maker_read(struct maker *m);
/* Removes file and folder. */
void maker_done(struct maker *m);

uint32_t maker_name(struct maker *m, uint64_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
uint32_t maker_kind(struct maker *m, int kind, const char *path);
/* A process of 0 ... end_ms; its parent is -1 or an earlier one; pid 1000 + its
 * number. */
uint32_t maker_process(struct maker *m, int parent, uint64_t start_ms,
                       uint64_t end_ms);
/* Writes a process again, after the test changed m->processes[k]. */
void maker_again(struct maker *m, uint32_t process);

/* One event: the thread is that of the process unless e.thread is set; file2 and
 * offset are none unless set to more than 0. */
void maker_event(struct maker *m, struct wr_trace_event e);
/* Open, one read of everything, close: at at_ns, the read takes dur_ns, open 5 us
 * and close 1 us. Returns the end. */
uint64_t maker_whole(struct maker *m, uint32_t process, uint32_t file,
                     uint64_t bytes, uint64_t at_ns, uint64_t dur_ns);
/* A process reads a file in `count` records of 100 KB, 0.2 ms each; it opens the
 * file for each of them if `again`, else once, and an open takes 1 ms. Returns the
 * end. */
uint64_t maker_records(struct maker *m, uint32_t file, unsigned count,
                       bool again, uint64_t at_ns);

#endif
