/* ckpt_stats.h - what saving cost: times of each save, and statistics.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_CKPT_STATS_H
#define WEIR_CKPT_STATS_H

#include "weir/checkpoint.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What went wrong in the background since the last call that said so: a save at
 * SNAPSHOT that failed later, a drain, steps that cannot be removed. 0: nothing.
 * Each error is returned once, here or by weir_ckpt_wait, weir_ckpt_drain or
 * close. On ranks other than 0 always 0. Does not wait for anything. */
WEIR_API int weir_ckpt_problem(weir_ckpt *c, weir_err *err);

/* When a save reached each level, in ns since weir_ckpt_save was called; 0: not
 * (yet). */
typedef struct weir_ckpt_times {
    uint64_t step, bytes;
    uint64_t blocked_ns;  /* time waited because saves came too fast */
    uint64_t snapshot_ns; /* the stall of a save at WEIR_LEVEL_SNAPSHOT */
    uint64_t fast_ns, slow_ns, verified_ns;
    uint64_t drain_ns; /* duration of the copy to the slow tier, from its first
                          read to the last sync */
} weir_ckpt_times;

/* The times of one of the last 64 saves. WEIR_ENOENT: `step` is not one of
 * them. */
WEIR_API int weir_ckpt_times_sized(const weir_ckpt *c, uint64_t step,
                                   weir_ckpt_times *ret, size_t size);
static inline int weir_ckpt_times_of(const weir_ckpt *c, uint64_t step,
                                     weir_ckpt_times *ret)
{
    return weir_ckpt_times_sized(c, step, ret, sizeof(*ret));
}

typedef struct weir_ckpt_stats {
    uint64_t saves, skipped, replaced; /* begun; WEIR_BEHIND_SKIP; _LATEST */
    uint64_t failed;                   /* saves or drains */
    uint64_t retried; /* files and copies written again: a sync failed, or they
                         did not read back */
    uint64_t drained, verified, pruned; /* steps */
    uint64_t behind;                    /* steps not drained yet; rank 0 */
    uint64_t bytes_saved, bytes_drained;
    uint64_t stall_ns;              /* inside save and wait */
    uint64_t blocked_ns;            /* of that: because saves came too fast */
    uint64_t memory;                /* bytes held for snapshots */
    uint64_t swept;                 /* leftovers removed at open */
    int fast_forgets, slow_forgets; /* a tmpfs or the like */
    uint64_t given_up;              /* steps; WEIR_BEHIND_OLDEST */
} weir_ckpt_stats;

/* Statistics so far. Any thread. */
WEIR_API void weir_ckpt_stats_sized(const weir_ckpt *c, weir_ckpt_stats *ret,
                                    size_t size);
static inline void weir_ckpt_get_stats(const weir_ckpt *c, weir_ckpt_stats *ret)
{
    weir_ckpt_stats_sized(c, ret, sizeof(*ret));
}

#ifdef __cplusplus
}
#endif
#endif
