/* find.h - what the rules of findings share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_FIND_H
#define WR_TRACE_FIND_H

#include "trace/finding.h"

/* Every rule, X(name). */
#define WR_FIND_RULES(X)                                                       \
    X(prefetch)                                                                \
    X(workers)                                                                 \
    X(stragglers)                                                              \
    X(respawn)                                                                 \
    X(overlap)                                                                 \
    X(coverage)                                                                \
    X(cacheable)                                                               \
    X(small_reads)                                                             \
    X(double_work)                                                             \
    X(metadata)                                                                \
    X(scan)                                                                    \
    X(random)                                                                  \
    X(faults)                                                                  \
    X(checkpoint)                                                              \
    X(unsafe)                                                                  \
    X(interference)                                                            \
    X(bound)                                                                   \
    X(outliers)                                                                \
    X(imports)                                                                 \
    X(logs)                                                                    \
    X(unseen)                                                                  \
    X(request_size)                                                            \
    X(same_offsets)                                                            \
    X(record_files)                                                            \
    X(pieces)                                                                  \
    X(staging)                                                                 \
    X(slow_tier)

#define WR_FIND_DECLARE(name)                                                  \
    extern const struct wr_trace_finding_rule wr_find_##name;
WR_FIND_RULES(WR_FIND_DECLARE)
#undef WR_FIND_DECLARE

double wr_find_epochs(const struct wr_trace_analysis *a); /* at least 1 */
double wr_find_run(const struct wr_trace_analysis *a);    /* seconds */
/* Threads that read the data set side by side, at least 1. */
double wr_find_readers(const struct wr_trace_analysis *a);
/* How much of the readers' time the trainer waits for: 1 if it reads itself or
 * its workers never rest, 0 if they rest half of the time. */
double wr_find_exposed(const struct wr_trace_analysis *a);
/* Share of time in which workers work; 1 without pauses, or -1: no workers. */
double wr_find_busy(const struct wr_trace_analysis *a);
/* Time of all readers as seconds of an epoch that the trainer loses. */
double wr_find_lost(const struct wr_trace_analysis *a, double ns);
/* Whether seconds per epoch are worth a word: half a percent of it. */
bool wr_find_matters(const struct wr_trace_analysis *a, double seconds);
/* Seconds that the main threads of main processes spend on the data set; the
 * time from the first to the last of it. */
double wr_find_main(const struct wr_trace_analysis *a, double *ret_window);

/* Nanoseconds that reads take from the page cache, roughly. */
double wr_find_cached(double reads, double bytes);
/* From the first to the last read of a process that reads the data set, in
 * seconds per epoch. */
double wr_find_window(const struct wr_trace_analysis *a);
/* Whether the program looks like a training: batches, steps, workers, or work
 * between samples. */
bool wr_find_trains(const struct wr_trace_analysis *a);

/* Whether it reads its files as a training does: that, or more than once. */
bool wr_find_loads(const struct wr_trace_analysis *a);

/* The three files of the data set with the most of something. */
void wr_find_files(const struct wr_trace_analysis *a,
                   struct wr_trace_finding *f,
                   uint64_t (*score)(const struct wr_trace_use *));
/* The folder that most bytes of the data set come from ("/" at least). */
const char *wr_find_root(const struct wr_trace_analysis *a, char *buf,
                         size_t cap);
/* The mount of that folder, or NULL. */
const struct wr_trace_mount *wr_find_mount(const struct wr_trace_analysis *a);
/* "'a b'" for a shell, if need be; controls made harmless. */
const char *wr_find_quote(const char *path, char *buf, size_t cap);
/* Whether a program waited for it, and did not copy what it read. */
bool wr_find_is_checkpoint(const struct wr_trace_save *s);
/* Pauses of main threads for checkpoints, in seconds: all of them, per main
 * process; on network file systems alone if `network`. 0 unless there are two. */
double wr_find_pauses(const struct wr_trace_analysis *a, bool network,
                      struct wr_trace_finding *f);

#endif
