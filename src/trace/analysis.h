/* analysis.h - what a trace says: plain numbers for whoever shows or judges them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One walk over the events; memory goes with files, processes and threads, not
 * with events. Times are nanoseconds since the trace began. "Data set files" are
 * ordinary files that were read and never written; "saves" are bursts of writing
 * by one process: checkpoints, mostly. */
#ifndef WR_TRACE_ANALYSIS_H
#define WR_TRACE_ANALYSIS_H

#include "base/hist.h"
#include "trace/file.h"
#include "trace/gaps.h"

#define WR_TRACE_BINS      2048 /* of time, at most */
#define WR_TRACE_SIZES     10   /* of requests, by Darshan's edges */
#define WR_TRACE_COMMON    4    /* request sizes that are told */
#define WR_TRACE_SLOWEST   10
#define WR_TRACE_TOP_FILES 20
#define WR_TRACE_KINDS     5 /* enum wr_trace_kind */

/* Sums over calls. */
struct wr_trace_io {
    uint64_t ops[WR_TRACE_CLASSES], ns[WR_TRACE_CLASSES]; /* by class */
    uint64_t opens, stats, dirs, failed, zero_reads;
    uint64_t bytes_read, bytes_written;
};

enum wr_trace_role {
    WR_TRACE_ROLE_OTHER,  /* touched only: opened, looked at */
    WR_TRACE_ROLE_SET,    /* read, never written */
    WR_TRACE_ROLE_OUTPUT, /* written */
    WR_TRACE_ROLE_AMBIENT /* no ordinary file: code, system, pipes */
};

/* One file, by its number in the trace. */
struct wr_trace_use {
    uint32_t opens, closes, reads, writes, zero_reads, seeks, stats, syncs;
    uint32_t mmaps, faults, others, failed;
    uint32_t sequential, consecutive; /* reads; see docs/formats/trace.md */
    uint32_t small_reads;             /* below 64 KiB, on from the one before */
    uint32_t passes;                  /* how often it was read as a whole */
    uint64_t bytes_read, bytes_written;
    uint64_t read_ns, write_ns, sync_ns, meta_ns, small_ns, fault_ns;
    uint64_t end_read, end_written; /* the highest byte touched + 1 */
    uint64_t first_ns, last_ns;     /* UINT64_MAX: never */
    uint64_t covered, pass_bytes;   /* of this pass: 64ths of the file; bytes */
    uint32_t pass_opens;            /* of this pass: from which it was read */
    uint64_t groups;                /* bit rank % 64 (or process) of readers */
    uint32_t last_group, renames;
    uint32_t entries;                /* of a folder that was listed */
    uint8_t role, flags, evaluation; /* evaluation: its path says so */
    uint8_t fault; /* bits WR_TRACE_UNSAFE_...: how it was written */
};

enum {
    WR_TRACE_UNSAFE_IN_PLACE = 1, /* written over, while it was the only copy */
    WR_TRACE_UNSAFE_RENAME = 2,   /* renamed into place before a sync */
    WR_TRACE_SYNCED = 4,
    WR_TRACE_SAVED = 8, /* part of a save */
};

enum wr_trace_job {
    WR_TRACE_JOB_OTHER,
    WR_TRACE_JOB_MAIN,   /* reads data, saves, or has workers */
    WR_TRACE_JOB_WORKER, /* reads data for its main process */
};

struct wr_trace_actor { /* a process, by its number in the trace */
    int job;            /* enum wr_trace_job */
    int32_t main;       /* number of its main process, itself included; -1 */
    int32_t rank;       /* its own or an ancestor's; -1 */
    struct wr_trace_io data, ambient;      /* ordinary files, and the others */
    uint64_t set_bytes, set_ns, set_opens; /* of data set files */
    uint64_t busy_ns;                   /* in calls on files; overlap removed */
    uint64_t first_set_ns, last_set_ns; /* UINT64_MAX: none */
    uint32_t generation; /* of workers: 1, 2, ...; 0: no worker */
};

struct wr_trace_thread {
    uint32_t process, tid;
    uint64_t ops, bytes, ns; /* on ordinary files */
    uint64_t set_ns, set_bytes, set_opens, set_reads;
    uint64_t first_ns, last_ns;                         /* of anything */
    uint64_t first_set, last_set;                       /* on the data set */
    uint64_t output_ns, small_output_ns, small_outputs; /* logs: below 4 KiB */
    uint64_t last_fault;
    struct wr_gaps *gaps; /* owned: between samples; NULL: reads no data set */
};

struct wr_trace_bin {
    uint64_t set_bytes, set_reads, set_ns, eval_bytes;
    uint64_t other_read_bytes, written_bytes, write_ns, sync_ns;
    uint64_t meta_ops, meta_ns; /* on ordinary files */
    uint64_t scan_ops, scan_ns; /* of those: stat, opendir, readdir, access */
    uint64_t runtime_ops, runtime_ns;
    uint64_t pass_sum; /* of set reads: sum of the number of their pass */
    uint64_t marks;
    uint64_t max_read_ns;
};

enum wr_trace_phase_kind {
    WR_TRACE_PHASE_IDLE, /* computing, or waiting for something else */
    WR_TRACE_PHASE_IMPORT,
    WR_TRACE_PHASE_SCAN,
    WR_TRACE_PHASE_TRAIN,
    WR_TRACE_PHASE_EVALUATE,
    WR_TRACE_PHASE_CHECKPOINT,
    WR_TRACE_PHASES
};

struct wr_trace_phase {
    int kind;
    uint64_t start_ns, end_ns;
    struct wr_trace_bin sums;
};

struct wr_trace_epoch {
    uint64_t start_ns, end_ns;
    uint64_t files; /* that were begun */
    uint64_t set_bytes, set_reads, set_ns;
};

struct wr_trace_save {
    uint64_t start_ns, end_ns, bytes, write_ns, sync_ns, meta_ns;
    uint64_t pause_ns;   /* without what the program did between two bursts */
    uint64_t read_bytes; /* of the data set by the same process meanwhile */
    uint32_t bursts;
    uint32_t process, file; /* file: the largest one */
    uint32_t files;
    bool main_thread; /* the program waited for it */
    uint64_t largest;
};

struct wr_trace_size { /* requests of one range of sizes */
    uint64_t count, bytes, ns;
};

struct wr_trace_common {
    uint64_t bytes, count;
};

struct wr_trace_mount {
    const char *device, *path, *type; /* borrowed from the analysis */
    uint64_t block;
    bool network; /* nfs, lustre, gpfs, ceph, fuse...: not this machine's */
    bool counted; /* the kernel counts what a process reads from its device */
    bool memory;  /* tmpfs */
};

/* Latencies that are kept as histograms. */
enum wr_trace_latency {
    WR_TRACE_LAT_SET_READ, /* of data set files, more than 0 bytes */
    WR_TRACE_LAT_OPEN,
    WR_TRACE_LAT_STAT,
    WR_TRACE_LAT_WRITE,
    WR_TRACE_LAT_SYNC,
    WR_TRACE_LAT_READ_QUIET,  /* set reads while nothing was written */
    WR_TRACE_LAT_READ_SAVING, /* and while something was */
    WR_TRACE_LAT_SMALL_READ,  /* set reads below 64 KiB, on from the last one */
    WR_TRACE_LAT_FAULT, /* from one major fault of a thread to its next one */
    WR_TRACE_LATENCIES
};

/* What the storage of the data set can give, as far as is known: set by whoever
 * knows it before findings are asked for. */
struct wr_trace_baseline {
    double sequential_rate, random_rate; /* bytes per second; 0: not known */
    double files_rate;                   /* small files per second; 0 */
    double utilisation; /* of its disk meanwhile, 0 to 1; < 0: not known */
    char source[128];   /* who says so */
};

struct wr_trace_analysis {
    struct wr_trace_file *file; /* borrowed */
    uint64_t end_ns;            /* of the run */
    uint64_t events, lost_events;
    struct wr_trace_io kinds[WR_TRACE_KINDS]; /* by enum wr_trace_kind */
    struct wr_trace_use *uses;                /* owned: one per name */
    size_t use_count;
    struct wr_trace_actor *actors; /* owned: one per process */
    size_t actor_count;
    struct wr_trace_thread *threads; /* owned */
    size_t thread_count;
    struct wr_trace_bin *bins; /* owned */
    size_t bin_count;
    uint64_t bin_ns;
    struct wr_trace_phase *phases; /* owned */
    size_t phase_count;
    struct wr_trace_epoch *epochs; /* owned */
    size_t epoch_count;
    struct wr_trace_save *saves; /* owned */
    size_t save_count;
    struct wr_trace_mount *mounts; /* owned */
    size_t mount_count;
    char *mount_text;                                /* owned */
    struct wr_hist *latency[WR_TRACE_LATENCIES];     /* owned */
    struct wr_trace_size read_sizes[WR_TRACE_SIZES]; /* data set, no zeros */
    struct wr_trace_size write_sizes[WR_TRACE_SIZES];
    struct wr_trace_common common_reads[WR_TRACE_COMMON]; /* most often first */
    struct wr_trace_event slowest[WR_TRACE_SLOWEST];      /* longest first */
    size_t slowest_count;

    uint64_t busy_ns;     /* some call on files was running */
    double io_share;      /* of that in the run */
    double process_share; /* mean over main processes and workers */
    uint32_t ranks, mains, workers, generations;
    uint32_t workers_at_once; /* of one main process */
    uint64_t set_files, set_bytes, set_unique, set_sizes; /* sizes: of files */
    uint64_t set_reads, set_sequential, set_consecutive, set_ns, set_meta_ns;
    uint64_t set_opens, read_once;     /* read_once: files with one pass */
    uint64_t shared_files, same_bytes; /* by ranks: shared; the same offsets */
    uint64_t first_set_ns, last_set_ns;
    uint64_t steps;                       /* marks, or 0 */
    uint64_t device_read, device_written; /* UINT64_MAX: not known */
    bool set_counted; /* device_read has what was read of the data set */
    uint64_t traced_read, counted_read; /* unseen: what is missing of these */
    uint64_t async_read; /* of traced_read: not part of counted_read */
    uint64_t resident, resident_of; /* bytes of data set files in memory */
    struct wr_gaps gaps;            /* of all threads that read the data set */
    uint64_t gap_split_ns; /* longer gaps are between batches; 0: none */
    uint64_t batches;      /* seen by them, 0: none seen */
    struct wr_trace_baseline baseline;
};

int wr_trace_analyse(struct wr_trace_file *f, struct wr_trace_analysis **ret,
                     weir_err *err);
void wr_trace_analysis_free(struct wr_trace_analysis *a);

const char *wr_trace_phase_name(int kind);
const char *wr_trace_job_name(int job);
/* The numbers of the files that calls took longest for, at most `cap` and
 * WR_TRACE_TOP_FILES of them; returns how many. */
size_t wr_trace_top_files(const struct wr_trace_analysis *a, uint32_t *ret,
                          size_t cap);
uint64_t wr_trace_use_ns(const struct wr_trace_use *u); /* of all its calls */
/* How files of the data set are shared by ranks, and the order of reads. */
const char *wr_trace_access_text(const struct wr_trace_analysis *a, char *buf,
                                 size_t cap);
/* The upper edge of a range of sizes, inclusive; UINT64_MAX: the last one. */
uint64_t wr_trace_size_edge(size_t k);
size_t wr_trace_size_index(uint64_t bytes);
/* The mount that a path lies on, or NULL. */
const struct wr_trace_mount *
wr_trace_mount_of(const struct wr_trace_analysis *a, const char *path);

#endif
