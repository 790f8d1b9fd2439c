/* progress.h - one line on the terminal while something takes long.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     struct wr_progress p;
 *
 *     wr_progress_start(&p, cli, &(struct wr_progress_spec){
 *         .label = "indexing", .unit = "files", .total = count});
 *     ... wr_progress_add(&p, 1) from any thread ...
 *     wr_progress_end(&p);
 *
 * Nothing is shown unless stderr is a terminal, without --quiet, and (but with
 * at_once) before half a second has passed. */
#ifndef WR_CLI_PROGRESS_H
#define WR_CLI_PROGRESS_H

#include <pthread.h>
#include <stdatomic.h>

#include "cli/command.h"

struct wr_progress_spec {
    const char *label; /* borrowed until the end: "drop" */
    const char *unit;  /* borrowed until the end: "files"; NULL: the counts
                          mean nothing but the part that is done */
    uint64_t total;    /* 0: not known; no percentage, no ETA */
    bool bytes;        /* counts are bytes: shown as 1.2 GB, `unit` unused */
    bool at_once;      /* shown from the start, not after half a second */
};

struct wr_progress {
    struct wr_progress_spec spec;
    FILE *to; /* borrowed; NULL: never shown */
    uint64_t start_ns;
    _Atomic uint64_t done, total, next_ns;
    pthread_mutex_t lock; /* guards `to` and `shown` */
    bool shown;           /* the line is on the terminal */
};

void wr_progress_start(struct wr_progress *p, const struct wr_cli *cli,
                       const struct wr_progress_spec *spec);

/* Counts further, or sets the count. Safe from any thread, cheap enough for
 * every item. */
void wr_progress_add(struct wr_progress *p, uint64_t n);
void wr_progress_set(struct wr_progress *p, uint64_t done);

/* Changes the total when it becomes known. */
void wr_progress_total(struct wr_progress *p, uint64_t total);

/* The same as a callback: `p` is the struct wr_progress. */
void wr_progress_callback(void *p, uint64_t done, uint64_t total);

/* Erases the line; it comes back with the next update. For messages. */
void wr_progress_hide(struct wr_progress *p);

/* Erases the line for good. No other thread may count any more. */
void wr_progress_end(struct wr_progress *p);

/* A line of a command's own instead: over the last one on a terminal (an empty
 * text erases it), else below it. Nothing in it comes from outside. */
void wr_progress_live(const struct wr_cli *cli, const char *text,
                      bool is_terminal);

/* The text of the line after `elapsed_ns`, at most `width` columns, into buf
 * of `cap` bytes. Exposed for the tests. */
struct wr_progress_view {
    uint64_t done, total, elapsed_ns;
    size_t width;
};
void wr_progress_line(const struct wr_progress_spec *spec,
                      const struct wr_progress_view *view, char *buf,
                      size_t cap);

#endif
