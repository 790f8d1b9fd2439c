/* finding_private.h - the rules of findings, and what they share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_FINDING_PRIVATE_H
#define WR_TRACE_FINDING_PRIVATE_H

#include "trace/finding.h"

/* *ret has `rule` and `over` by its row. True: the rest is filled. */
#define FINDING(code, name, title, over)                                       \
    bool wr_find_##name(const struct wr_trace_analysis *a,                     \
                        struct wr_trace_finding *ret);
#include "trace/findings.def"

double wr_find_epochs(const struct wr_trace_analysis *a); /* at least 1 */
double wr_find_run(const struct wr_trace_analysis *a);    /* seconds */
/* Threads that read the data set side by side, at least 1. */
double wr_find_readers(const struct wr_trace_analysis *a);
/* Whether it is the first thread of a main process. */
bool wr_find_is_main(const struct wr_trace_analysis *a,
                     const struct wr_trace_thread *t);
/* Share of time in which workers work; 1 without pauses, or -1: no workers. */
double wr_find_busy(const struct wr_trace_analysis *a);
/* How much of the readers' time the trainer waits for: 1 if it reads itself or
 * its workers never rest, 0 if they rest half of the time. */
double wr_find_exposed(const struct wr_trace_analysis *a);
/* Time of all readers as seconds of an epoch that the trainer loses. */
double wr_find_lost(const struct wr_trace_analysis *a, double ns);
/* Whether seconds per epoch are worth a word: half a percent of it. */
bool wr_find_matters(const struct wr_trace_analysis *a, double seconds);
/* Nanoseconds that reads take from the page cache, roughly. */
double wr_find_cached(double reads, double bytes);
/* Whether the program looks like a training: batches, steps, workers, or work
 * between samples. */
bool wr_find_trains(const struct wr_trace_analysis *a);
/* The folder that most bytes of the data set come from ("/" at least). */
const char *wr_find_root(const struct wr_trace_analysis *a, char *buf,
                         size_t cap);
/* "'a b'" for a shell, if need be; controls made harmless. */
const char *wr_find_quote(const char *path, char *buf, size_t cap);

/* Examples: the three ordinary files with the most of something. */
void wr_find_files(const struct wr_trace_analysis *a,
                   struct wr_trace_finding *f,
                   uint64_t (*score)(const struct wr_trace_use *));
/* Seconds lost per epoch (per run if `once`), the share of them that the change
 * is expected to bring, and how sure that is. */
void wr_find_cost(struct wr_trace_finding *f, double seconds, double share,
                  int sure);
/* The three texts of a finding. */
void wr_find_what(struct wr_trace_finding *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void wr_find_evidence(struct wr_trace_finding *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void wr_find_change(struct wr_trace_finding *f, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
