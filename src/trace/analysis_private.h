/* analysis_private.h - what the parts of the analysis share while they work.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TRACE_ANALYSIS_PRIVATE_H
#define WR_TRACE_ANALYSIS_PRIVATE_H

#include "base/map.h"
#include "trace/analysis.h"

#define WR_PASSES_MAX   4096 /* of one file that are told apart */
#define WR_SAVE_BYTES   (UINT64_C(256) << 10) /* a burst of writing: from here */
#define WR_SAVE_GAP_NS  UINT64_C(1000000000)  /* longer: another save */
#define WR_FAULT_GAP_NS UINT64_C(1000000000)  /* longer: it did other things */
#define WR_SMALL_READ   (UINT64_C(64) << 10)
#define WR_SMALL_OUTPUT (UINT64_C(4) << 10)
#define WR_WORK_NS      UINT64_C(1000000)   /* in a file: it works on records */
#define WR_BIG_FILE     (UINT64_C(8) << 20) /* its reads are samples */

/* Time that is covered by intervals which overlap (analysis.c).
 * They come nearly in order of their ends. The last few stretches are kept
 * apart; what begins before the oldest of them is counted from there. */
#define WR_COVER_DEPTH 32

struct wr_covered {
    uint64_t from, to;
};

struct wr_cover {
    struct wr_covered last[WR_COVER_DEPTH]; /* in order, apart */
    unsigned count;
    uint64_t floor, total;
};

void wr_cover_add(struct wr_cover *c, uint64_t from, uint64_t to);

/* All reads of the n-th pass over their files: when? */
struct wr_pass_stat {
    uint64_t files, bytes, reads, ns;
    double weight, time, time2; /* seconds, weighted by reads */
};

/* A file that a process has open. */
struct wr_handle {
    uint64_t key; /* of the map: process and file */
    uint32_t opens;
    bool begun;         /* something was read since it was opened */
    uint64_t next_read; /* where the last read ended */
};

/* What a rank read of a file: two that did the same have the same hash. */
struct wr_pair {
    uint64_t key; /* of the map: file and rank */
    uint64_t bytes, hash;
};

#define WR_MEANWHILE_READS  16384
#define WR_MEANWHILE_WRITES 32

/* Reads that wait until what was written meanwhile is known. */
struct wr_meanwhile {
    struct wr_meanwhile_read {
        uint64_t at_ns, dur_ns;
    } reads[WR_MEANWHILE_READS];
    uint64_t next; /* how many there were */
    struct wr_meanwhile_write {
        uint64_t from, to;
    } writes[WR_MEANWHILE_WRITES]; /* the last ones */
    size_t last;
};

struct wr_trace_walk {
    struct wr_trace_analysis *a;
    uint8_t *kinds; /* owned: enum wr_trace_kind of each name, or AMBIENT */
    struct wr_cover run;
    struct wr_cover *processes; /* owned */
    uint32_t *groups;           /* owned: rank, or number, of each process */
    struct wr_map handles;      /* of struct wr_handle */
    struct wr_map threads;      /* of struct wr_map_number */
    size_t thread_cap;
    uint32_t last_thread;
    struct wr_map pairs;         /* of struct wr_pair; empty: one rank */
    struct wr_pass_stat *passes; /* owned: WR_PASSES_MAX */
    size_t pass_count;
    int32_t *saving; /* owned: of each process its last save, or -1 */
    size_t save_cap;
    struct wr_meanwhile meanwhile;
    struct wr_trace_common
        common[64]; /* of sizes of reads: the frequent ones */
    bool no_memory;
    bool no_room; /* the file is too small for what it says */
};

/* Marks names outside of what a program would read as data. */
#define WR_KIND_AMBIENT 200

int wr_trace_mounts(struct wr_trace_analysis *a, weir_err *err);
/* actors.c: ranks before the walk, jobs after it. */
void wr_trace_ranks(struct wr_trace_analysis *a);
void wr_trace_jobs(struct wr_trace_analysis *a);
/* use.c: one event on an ordinary file; a thread; after the walk, what several
 * ranks read of the same files. */
void wr_trace_use_event(struct wr_trace_walk *w, const struct wr_trace_event *e,
                        struct wr_trace_thread *t, struct wr_trace_bin *bin);
struct wr_trace_thread *wr_thread_of(struct wr_trace_walk *w, uint32_t process,
                                     uint32_t tid);
void wr_pairs_finish(struct wr_trace_walk *w);
/* saves.c */
void wr_trace_save_event(struct wr_trace_walk *w,
                         const struct wr_trace_event *e,
                         struct wr_trace_use *u);
/* Something of the data set is read. */
void wr_trace_save_read(struct wr_trace_walk *w,
                        const struct wr_trace_event *e);
/* A read of the data set; after the walk. */
void wr_trace_meanwhile_read(struct wr_trace_walk *w,
                             const struct wr_trace_event *e);
void wr_trace_meanwhile_end(struct wr_trace_walk *w);
/* timeline.c; the first two after the walk. */
int wr_trace_epochs(struct wr_trace_walk *w, weir_err *err);
int wr_trace_phases(struct wr_trace_analysis *a, weir_err *err);
struct wr_trace_bin *wr_trace_bin_at(struct wr_trace_analysis *a, uint64_t ns);

#endif
