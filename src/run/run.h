/* run.h - a run of a workload: emulated accelerators on real storage.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each accelerator is a thread: it takes a batch, computes (sleeps until the
 * step's end, an absolute deadline), and waits for all others, as data-parallel
 * training does. Its time is kept without the emulator's own delays: a step
 * begins when the one before ended, if its batch was there by then, however late
 * the thread woke up. So each moment of a run is computing, waiting for input,
 * waiting for the slowest accelerator, saving, evaluating, or, what is left, the
 * emulator itself.
 *
 * Several processes (ranks) make one run: each has `accelerators` of them, all
 * end together, and rank 0 has the result of all. */
#ifndef WR_RUN_RUN_H
#define WR_RUN_RUN_H

#include <stdbool.h>

#include "base/hist.h"
#include "base/series.h"
#include "comm/comm.h"
#include "measure/files.h"
#include "measure/saves.h"
#include "storage/meter.h"
#include "weir/checkpoint.h"
#include "weir/pipeline.h"
#include "workload/derive.h"
#include "workload/workload.h"

/* What is going on, told about ten times per second by accelerator 0. */
struct wr_run_news {
    const char *doing;    /* static: "training", "evaluating", "saving", ... */
    uint64_t done, total; /* steps of an accelerator */
    uint64_t epoch;       /* counted from 1 */
    double au;            /* so far; NaN: not known */
};

struct wr_run_plan {
    const struct wr_workload *w; /* borrowed; scaled already */
    struct wr_comm *comm;        /* borrowed; of one rank or more */
    const char *comm_url;        /* borrowed: for the store of checkpoints */
    const weir_dataset *train;   /* borrowed; NULL: nothing is read */
    const weir_dataset *eval;    /* borrowed; NULL: no evaluation */
    unsigned accelerators;       /* of this process */
    double scale;                /* of the description: of saved states, too */

    weir_pipeline_config feed;    /* threads (0: the cores, shared), depth,
                                  prefetch, order, cache, io, direct, memory */
    bool has_order, has_prefetch; /* as `feed` says, not as the description */
    enum wr_wl_consume consume;
    enum wr_wl_access access;  /* AUTO: as the description says */
    enum wr_cache_state cache; /* of the page cache before each epoch */
    bool no_io;                /* batches are there at once: what the emulator
                                  takes */
    bool compat_dlio;          /* their order, and their formulas on top */
    uint64_t max_steps;        /* of each epoch; 0: as described */
    uint64_t max_epochs;       /* 0: as described */

    weir_ckpt_config ckpt; /* fast NULL: as described; role, comm, rank and
                              world are set here */
    enum weir_level level; /* that a save waits for */
    bool no_ckpt;

    bool keep_steps; /* the times of every step, for DLIO's files */
    bool digest;     /* of all that was delivered, by position */
    size_t rows;     /* of the series, at most */
    /* All may be NULL. */
    void (*progress)(void *arg, const struct wr_run_news *news);
    void (*note)(void *arg, const char *text);
    void *arg;
    bool (*stopped)(void);
};

/* Where the time of an accelerator went, in nanoseconds. */
struct wr_run_times {
    uint64_t wall, compute, wait, barrier, save, eval;
};

/* One epoch of one rank: sums over its accelerators, but for wall. */
struct wr_run_epoch {
    struct wr_run_times t; /* wall: the longest of its accelerators */
    uint64_t steps;        /* of each accelerator */
    uint64_t samples, bytes, reads;
    double au_dlio;    /* sum over accelerators, 0 to 1 each */
    double dlio_per_s; /* samples/s by DLIO's formula, sum */
    double resident;   /* part of the data in the page cache before; -1: not
                        known */
    uint64_t start_wall_ns, end_wall_ns; /* of the day */
};

/* A block of steps between checkpoints, of accelerator 0 (keep_steps). */
struct wr_run_block {
    uint64_t epoch, block; /* counted from 1; block 0: an evaluation */
    uint64_t first, count; /* of `steps` */
    uint64_t start_wall_ns, end_wall_ns;
    double au, per_s; /* by DLIO's formulas; AU 0 to 1 */
};

struct wr_run_step {
    float load_s, compute_s, proc_s;
};

#define WR_RUN_HOST 64

/* What one rank tells rank 0 of. */
struct wr_run_rank {
    char host[WR_RUN_HOST];
    uint32_t accelerators;
    struct wr_run_times t; /* sums over its accelerators, but for wall */
    uint64_t steps, samples, bytes;
    uint64_t first_wait_ns; /* for the first batch, the longest */
    uint64_t load_ns; /* reading all of it into memory first; 0: on demand */
    uint64_t stalls;  /* steps that waited longer than 1 % of a step */
    double cpu_s;
    uint64_t peak_bytes;
    uint64_t digest; /* sum over all samples of all accelerators */
    struct wr_meter_counts reads;
    struct wr_hist waits; /* ns, for each batch of each accelerator */
};

struct wr_run_result {
    struct wr_run_rank *ranks; /* owned; rank 0: of all, else only its own */
    uint32_t rank_count;
    struct wr_run_epoch
        *epochs; /* owned: [rank_count * epoch_count], by rank */
    uint64_t epoch_count;
    uint64_t start_ns;       /* wr_clock_ns of the first request */
    uint64_t start_wall_ns;  /* of the day */
    uint64_t world;          /* accelerators of all ranks */
    uint64_t steps;          /* of an accelerator in an epoch */
    struct wr_series series; /* enum wr_run_column, of accelerator 0 */
    struct wr_saved *saves;  /* owned: of this rank */
    size_t save_count;
    struct wr_saved *restores; /* owned: stall_s is the duration */
    size_t restore_count;
    double state_bytes; /* of a checkpoint, of this rank */
    weir_stats stats;   /* of accelerator 0's input */
    char *bad_text;     /* owned: the first bad sample; NULL: none */
    uint64_t bad_count; /* of this rank */
    struct wr_run_step *step_times; /* owned (keep_steps): accelerator 0's */
    size_t step_time_count;
    struct wr_run_block *blocks; /* owned (keep_steps) */
    size_t block_count;
};

/* Its time is the end of each step, in seconds since the run began. */
enum wr_run_column {
    WR_RUN_WAIT_MS,
    WR_RUN_STEP_MS,  /* from end to end */
    WR_RUN_MB_PER_S, /* of this process */
    WR_RUN_AU,       /* of the step */
    WR_RUN_COLUMNS
};

void wr_run_defaults(struct wr_run_plan *plan);

/* Runs it, with all ranks of plan->comm. On success and on failure
 * wr_run_done frees what is in *ret. */
int wr_run(const struct wr_run_plan *plan, struct wr_run_result *ret,
           weir_err *err);
void wr_run_done(struct wr_run_result *ret);

#endif
