/* find_prefetch.c - D01: the trainer reads its data itself, and waits.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/units.h"

#define MAIN_SHARE 0.5 /* of all time on the data set */
#define WALL_SHARE 0.1 /* of the time from the first read to the last */
#define LEAST      0.05
#define SHORT      0.05 /* seconds: such a run is over before workers start */

static uint64_t most_read(const struct wr_trace_use *u)
{
    return u->role == WR_TRACE_ROLE_SET ? u->read_ns + u->meta_ns : 0;
}

/* What a loader in the background would hide: reading and decoding behind
 * computing. Without batches only reading is known. */
static double compute_of(const struct wr_trace_analysis *a, double io,
                         double window)
{
    double mains = a->mains ? a->mains : 1;

    return a->gap_split_ns
               ? (double)wr_gaps_above(&a->gaps, a->gap_split_ns, NULL) * 1e-9 /
                     mains
               : window - io;
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    double window, compute, io = wr_find_main(a, &window), lost, load, all;
    double mains = a->mains ? a->mains : 1, epochs = wr_find_epochs(a);
    unsigned cores = wr_trace_file_info(a->file)->cores, n;

    all = (double)(a->set_ns + a->set_meta_ns) * 1e-9;
    if (io * mains < MAIN_SHARE * all || !wr_find_trains(a))
        return false;
    compute = compute_of(a, io, window);
    load = window - compute;
    if (compute <= 0 || load < WALL_SHARE * window)
        return false;
    n = (unsigned)WR_MIN(load / compute + 1, 1024.0);
    n = WR_MAX(1, WR_MIN(n, cores > 1 ? cores - 1 : 1));
    lost = window - WR_MAX(compute, load / n); /* one hides behind the other */
    if (lost < LEAST * window || lost < SHORT ||
        !wr_find_matters(a, lost / epochs))
        return false;
    f->seconds = lost / epochs;
    f->gain = f->seconds;
    f->sure = a->gap_split_ns ? WR_TRACE_FINDING_SURE : WR_TRACE_FINDING_LIKELY;
    snprintf(f->what, sizeof(f->what),
             "The trainer waits for its data: the main thread reads, then "
             "computes, and never both at once.");
    snprintf(f->evidence, sizeof(f->evidence),
             "Of %.1f s per epoch, calls on the data set take %.1f s on the "
             "main thread (%.0f %%), computing %.1f s.",
             window / epochs, io / epochs, 100 * io / window, compute / epochs);
    snprintf(f->change, sizeof(f->change),
             "DataLoader(..., num_workers=%u, prefetch_factor=4, "
             "persistent_workers=True); tf.data: "
             "ds.map(..., num_parallel_calls=%u).prefetch(tf.data.AUTOTUNE)",
             n, n);
    wr_find_files(a, f, most_read);
    return true;
}

const struct wr_trace_finding_rule wr_find_prefetch = {
    "D01", "no prefetch: the trainer waits for data", look};
