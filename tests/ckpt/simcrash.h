/* simcrash.h - what a power cut may leave of a simulated disk.
 * SPDX-License-Identifier: Apache-2.0
 *
 * No more is promised than POSIX does. What is on the medium for sure:
 *  - sectors and size of a file that were written before its last sync;
 *  - a name that was made, renamed or removed before the last sync of the
 *    folder that holds it (a rename between folders: of both).
 * Of everything else any part may be there: each sector, each size, each name
 * by itself; a rename wholly or not at all. Syncing a file does not keep its
 * name, syncing a folder not what its files hold. Sectors that were written,
 * not synced and lost read as what they were before, as zeros, or as garbage
 * when nothing was there. A sync that fails takes what was written before from
 * the medium for good, as Linux does: programs see it, and the next sync says
 * that all is well. */
#ifndef SIMCRASH_H
#define SIMCRASH_H

#include <stdio.h>

#include "simdisk.h"

struct sim_crash;

/* Of the log up to now. Borrows the disk, on which nothing happens until it is
 * freed. */
struct sim_crash *sim_crash_new(const struct sim_disk *d);
void sim_crash_free(struct sim_crash *x);

/* The cut comes after `at` operations; rises from call to call. Returns how many
 * operations are pending: neither on the medium for sure nor irrelevant. */
size_t sim_crash_seek(struct sim_crash *x, size_t at);
const struct sim_op *sim_crash_pending(const struct sim_crash *x, size_t k);
/* The disk that is left when exactly those of the pending operations that
 * `keep` says reach the medium. garbage: 0, or what seeds it. */
struct sim_disk *sim_crash_make(const struct sim_crash *x, const bool *keep,
                                uint64_t garbage);

/* --- all of them --- */

struct sim_plan {
    uint64_t seed;
    unsigned singles; /* at a point: at most so many states of one operation
                         alone, and as many of one missing */
    unsigned randoms; /* and so many random ones; each with what was lost read
                         as zeros or as garbage */
    unsigned every;   /* of so many points one is visited, at random; 0: all */
};

/* A moment, and what of it was pending and kept. */
struct sim_cut {
    const struct sim_crash *x;
    size_t at;
    const bool *keep;
};

/* The `last` operations before a cut, and what became of them. */
void sim_cut_print(const struct sim_cut *cut, size_t last, FILE *to);

struct sim_counts {
    size_t points; /* moments of the cut */
    size_t whole;  /* of these, all states there are were visited */
    size_t states; /* made */
    size_t fresh;  /* of these, unlike all before: checked */
};

/* Keys of what was seen. Starts as zeros. */
struct sim_seen {
    uint64_t *keys; /* owned: hash set; 0 is free */
    size_t cap, count;
};

/* False when it was there. */
bool sim_seen_add(struct sim_seen *s, uint64_t key);
void sim_seen_done(struct sim_seen *s);

/* What is done with the states. */
struct sim_checker {
    /* The sum of what is expected at a position: two states that are alike are
     * checked once for each answer. */
    uint64_t (*expected)(void *arg, size_t at);
    /* Takes the disk. False ends it all. */
    bool (*check)(void *arg, const struct sim_cut *cut, struct sim_disk *state);
    void *arg;
    struct sim_seen *seen; /* borrowed; may be that of other explorations of
                              which the answers mean the same */
};

/* Visits the states after each operation: all there are where these are not
 * more than the plan allows for; else none of what is pending, all of it, one
 * alone, one missing, random ones. Adds to *counts. */
void sim_explore(const struct sim_disk *d, const struct sim_plan *p,
                 const struct sim_checker *c, struct sim_counts *counts);

#endif
