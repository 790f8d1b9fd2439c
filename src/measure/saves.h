/* saves.h - the checkpoints of what is measured: saved, timed, settled.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The benchmark of saving, a run of a workload and a run of training save the
 * same way: at intervals, each save with the time for which it stood in the way,
 * and with the times at which each tier had it, which come later. Belongs to one
 * thread. */
#ifndef WR_MEASURE_SAVES_H
#define WR_MEASURE_SAVES_H

#include <stdbool.h>

#include "base/value.h"
#include "checkpoint/problem.h"
#include "weir/ckpt_stats.h"
#include "weir/error.h"

#define WR_SAVES_MAX   1000 /* that are kept; the first ones */
#define WR_SAVES_BEGUN 4    /* more saves than can be under way at once */

extern const struct wr_choice wr_level_choices[]; /* by name */

/* One save, or one restore. Times are seconds since the call; NaN: not (yet). */
struct wr_saved {
    uint64_t step, bytes;  /* of the file */
    uint64_t epoch, block; /* that it came after, as the caller counts */
    uint64_t start_wall_ns;
    double at_s;      /* when the call came, since `zero_ns` */
    double stall_s;   /* until it returned */
    double blocked_s; /* of these, for earlier saves */
    double fast_s, slow_s, verified_s;
    double drain_s; /* duration of the copy to the slow tier */
};

struct wr_saves {
    /* The caller's, before it is opened. */
    struct wr_ckpt_listener to; /* problems that end nothing */
    bool (*stopped)(void);      /* polled; may be NULL */
    bool random;    /* what is saved is worth nothing: the tiers are marked
                       (see below) */
    bool strict;    /* any problem is a failure: what is measured would mean
                       nothing */
    uint64_t every; /* steps between two saves; 0: none is due */
    /* What stands still for a save, too; may be NULL. */
    int (*also)(void *arg, uint64_t step, weir_err *err);
    void *also_arg;
    uint64_t zero_ns, epoch, block; /* of the next save; may change */

    weir_ckpt *c;           /* owned; NULL: nothing is saved */
    struct wr_saved *saves; /* owned: count of them */
    size_t count, noted;    /* the first `noted` have all their times */
    struct wr_saved last;   /* the newest one, kept or not */
    uint64_t total;
    double stall_s, stall_max_s; /* of all */
    bool has_slow, verifies;
    uint64_t begun[WR_SAVES_BEGUN]; /* the newest steps; the last is first */
    uint64_t durable;      /* the newest step that the fast tier has; 0: none */
    weir_ckpt_stats stats; /* once it is closed */
};

/* Opens the store to save; all ranks. `cfg` says all but the role, and what is
 * asked while it works. */
int wr_saves_open(struct wr_saves *s, const weir_ckpt_config *cfg,
                  weir_err *err);

/* The newest step was saved already, by an earlier process. */
void wr_saves_resume(struct wr_saves *s, uint64_t step);

/* Whether a save is due after so many steps. */
bool wr_saves_is_due(const struct wr_saves *s, uint64_t steps);

/* Saves the state, unless its step is the one that was saved last. */
int wr_saves_save(struct wr_saves *s, const weir_ckpt_state *state,
                  enum weir_level level, weir_err *err);

/* Fills in how far a save got until now, if the store still knows. */
void wr_saves_look(const struct wr_saves *s, struct wr_saved *save);

/* Reads the newest step back: 1 and *ret, with the stall as its duration; 0:
 * there is none. All ranks. */
int wr_saves_restore(struct wr_saves *s, const weir_ckpt_state *into,
                     struct wr_saved *ret, weir_err *err);

/* Until all that was saved is there, or it is stopped. */
int wr_saves_settle(struct wr_saves *s, enum weir_level level, weir_err *err);

/* Until the fast tier has it all; notes what there is to note and closes. The
 * result is an error of the background. Nothing happens to one that was never
 * opened. The list stays, for the caller. */
int wr_saves_close(struct wr_saves *s, weir_err *err);

/* --- benchmarks save only where benchmarks have saved before (saves.c) --- */

/* Whether a benchmark may save at `url`: the folder is missing, holds no steps
 * and nothing that is not weir's, or has the mark. WEIR_ESTATE: it may not. */
int wr_bench_store_check(const char *url, weir_err *err);

/* Marks the folder, which is there: after it was opened for saving, and before
 * the first save. */
int wr_bench_store_mark(const char *url, weir_err *err);

#endif
