/* find_bound.c - D17: is it the storage, or what is done with the data?
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the storage gave is compared with what it can give: by a record of weir
 * probe, or by how busy its disk was. Without either nothing is said. */
#include "trace/find.h"

#include <stdio.h>

#include "base/mem.h"

#define FULL  0.8 /* of what storage can give */
#define IDLE  0.2
#define WAITS 0.3 /* of the time: then input holds the training up */
#define IN_IO 0.5 /* of the readers' time: below, it is something else */
#define SMALL (UINT64_C(1) << 20)
#define SHORT 0.1 /* seconds of reading that say nothing */

struct rates {
    double window;       /* seconds, of all epochs */
    double bytes, files; /* per second */
    double used;         /* of what storage can give; < 0: not known */
    double in_io;        /* share of the readers' time */
    bool waits;          /* training waits for its input */
};

/* Bytes that came from storage; the others were in memory. */
static double stored_bytes(const struct wr_trace_analysis *a)
{
    if (a->set_counted && a->device_read != UINT64_MAX)
        return (double)WR_MIN(a->device_read, a->set_bytes);
    return (double)a->set_ns > 2 * wr_find_cached((double)a->set_reads,
                                                  (double)a->set_bytes)
               ? (double)a->set_bytes
               : 0;
}

static double share_of(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static double used_of(const struct wr_trace_analysis *a, const struct rates *r)
{
    const struct wr_trace_baseline *b = &a->baseline;
    bool small = a->set_sizes / WR_MAX(1, a->set_files) < SMALL;
    bool in_order = a->set_sequential * 2 >= a->set_reads;
    double rate = in_order || b->random_rate <= 0 ? b->sequential_rate
                                                  : b->random_rate;
    double used = share_of(r->bytes, rate);

    if (b->sequential_rate <= 0 && b->files_rate <= 0)
        return b->utilisation;
    return small ? WR_MAX(used, share_of(r->files, b->files_rate)) : used;
}

/* Main threads that read wait while they do not compute; workers make it wait if
 * they never rest. */
static bool waits(const struct wr_trace_analysis *a, double window)
{
    double compute;

    if (a->workers)
        return wr_find_exposed(a) > WAITS;
    compute = a->gap_split_ns
                  ? (double)wr_gaps_above(&a->gaps, a->gap_split_ns, NULL) *
                        1e-9 / wr_find_readers(a)
                  : 0;
    return window - compute > WAITS * window;
}

static struct rates rates_of(const struct wr_trace_analysis *a)
{
    struct rates r = {.window = wr_find_window(a) * wr_find_epochs(a)};
    double readers = wr_find_readers(a);
    double stored = stored_bytes(a);

    if (r.window < SHORT || stored * 2 < (double)a->set_bytes)
        return (struct rates){.used = -1};
    r.bytes = stored / r.window;
    r.files = (double)a->set_opens * stored / (double)a->set_bytes / r.window;
    r.used = used_of(a, &r);
    r.in_io = (double)(a->set_ns + a->set_meta_ns) * 1e-9 /
              (r.window * readers);
    r.waits = waits(a, r.window);
    return r;
}

static void storage_bound(const struct wr_trace_analysis *a,
                          struct wr_trace_finding *f)
{
    char root[512], quoted[600];

    wr_find_quote(wr_find_root(a, root, sizeof(root)), quoted, sizeof(quoted));
    snprintf(f->what, sizeof(f->what),
             "Storage-bound: training waits for storage that gives all it "
             "can.");
    snprintf(f->change, sizeof(f->change),
             "More workers will not help. Read less (smaller samples, packed "
             "files), keep the data set in memory, or take faster storage: "
             "weir probe --replay TRACE emu:nvme:%.200s says what that brings",
             quoted);
}

static void cpu_bound(struct wr_trace_finding *f)
{
    snprintf(f->what, sizeof(f->what),
             "CPU-bound: training waits for its input, but storage could give "
             "far more; decoding or Python takes the time.");
    snprintf(f->change, sizeof(f->change),
             "Leave the storage as it is. More workers while cores are idle, "
             "cheaper decoding, or data that are decoded once: weir convert "
             "... --to tensor; weir bench shows the limit of decoding");
}

static bool look(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    struct rates r = rates_of(a);
    bool full = r.used >= FULL && r.in_io >= IN_IO;
    /* Without batches or workers, computing is not told from decoding. */
    bool idle = r.used >= 0 && r.used <= IDLE && r.in_io < IN_IO &&
                (a->workers || a->gap_split_ns);

    if (r.used < 0 || !r.waits || !wr_find_trains(a) || (!full && !idle))
        return false;
    f->sure = WR_TRACE_FINDING_LIKELY;
    if (full)
        storage_bound(a, f);
    else
        cpu_bound(f);
    snprintf(f->evidence, sizeof(f->evidence),
             "Storage gives %.1f MB/s and %.0f files/s, %.0f %% of what it can "
             "(%.100s); calls on files take %.0f %% of the readers' time.",
             r.bytes * 1e-6, r.files, 100 * r.used, a->baseline.source,
             100 * r.in_io);
    return true;
}

const struct wr_trace_finding_rule wr_find_bound = {
    "D17", "storage-bound or CPU-bound", look};
