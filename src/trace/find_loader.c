/* find_loader.c - findings on how a program is fed: who reads, how much of the data
 * set, and whether it waits for that.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/finding_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/units.h"

/* From the first to the last read of a process that reads the data set, in
 * seconds per epoch: the mean of its processes, as they need not begin together. */
static double window_of(const struct wr_trace_analysis *a)
{
    int job = a->workers ? WR_TRACE_JOB_WORKER : WR_TRACE_JOB_MAIN;
    double sum = 0;
    unsigned n = 0;

    for (size_t k = 0; k < a->actor_count; k++) {
        const struct wr_trace_actor *p = &a->actors[k];

        if (p->job != job || p->last_set_ns == UINT64_MAX)
            continue;
        sum += (double)(p->last_set_ns - p->first_set_ns) * 1e-9;
        n++;
    }
    return n ? sum / n * WR_MAX(1, a->generations) / wr_find_epochs(a) : 0;
}

/* --- the trainer reads its data itself, and waits --- */

#define PREFETCH_MAIN  0.5 /* of all time on the data set */
#define PREFETCH_WALL  0.1 /* of the time from the first read to the last */
#define PREFETCH_LEAST 0.05
#define PREFETCH_SHORT 0.05 /* seconds: over before workers have started */

static uint64_t loading_ns(const struct wr_trace_use *u)
{
    return u->role == WR_TRACE_ROLE_SET ? u->read_ns + u->meta_ns : 0;
}

/* Seconds that the main threads of main processes spend on the data set; the
 * time from the first to the last of it. */
static double main_of(const struct wr_trace_analysis *a, double *ret_window)
{
    double ns = 0, window = 0;
    unsigned n = 0;

    for (size_t k = 0; k < a->thread_count; k++) {
        const struct wr_trace_thread *t = &a->threads[k];

        if (!t->set_ns || !wr_find_is_main(a, t))
            continue;
        ns += (double)t->set_ns;
        window += (double)(t->last_set - WR_MIN(t->first_set, t->last_set));
        n++;
    }
    *ret_window = n ? window / n * 1e-9 : 0;
    return n ? ns / n * 1e-9 : 0;
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

bool wr_find_prefetch(const struct wr_trace_analysis *a,
                      struct wr_trace_finding *f)
{
    double window, compute, io = main_of(a, &window), lost, load, all;
    double mains = a->mains ? a->mains : 1, epochs = wr_find_epochs(a);
    unsigned cores = wr_trace_file_info(a->file)->cores, n;

    all = (double)(a->set_ns + a->set_meta_ns) * 1e-9;
    if (io * mains < PREFETCH_MAIN * all || !wr_find_trains(a))
        return false;
    compute = compute_of(a, io, window);
    load = window - compute;
    if (compute <= 0 || load < PREFETCH_WALL * window)
        return false;
    n = (unsigned)WR_MIN(load / compute + 1, 1024.0);
    n = WR_MAX(1, WR_MIN(n, cores > 1 ? cores - 1 : 1));
    lost = window - WR_MAX(compute, load / n); /* one hides behind the other */
    if (lost < PREFETCH_LEAST * window || lost < PREFETCH_SHORT ||
        !wr_find_matters(a, lost / epochs))
        return false;
    wr_find_cost(f, lost / epochs, 1,
                 a->gap_split_ns ? WR_TRACE_FINDING_SURE
                                 : WR_TRACE_FINDING_LIKELY);
    wr_find_what(f,
                 "The trainer waits for its data: the main thread reads, then "
                 "computes, and never both at once.");
    wr_find_evidence(
        f,
        "Of %.1f s per epoch, calls on the data set take %.1f s on the "
        "main thread (%.0f %%), computing %.1f s.",
        window / epochs, io / epochs, 100 * io / window, compute / epochs);
    wr_find_change(
        f,
        "DataLoader(..., num_workers=%u, prefetch_factor=4, "
        "persistent_workers=True); tf.data: "
        "ds.map(..., num_parallel_calls=%u).prefetch(tf.data.AUTOTUNE)",
        n, n);
    wr_find_files(a, f, loading_ns);
    return true;
}

/* --- too few or too many workers --- */

#define WORKERS_BUSY 0.9
#define WORKERS_IDLE 0.4

static void too_few(const struct wr_trace_analysis *a, double busy,
                    double window, struct wr_trace_finding *f)
{
    unsigned n = a->workers_at_once;
    unsigned cores = wr_trace_file_info(a->file)->cores;
    unsigned more = WR_MIN(2 * n, WR_MAX(n + 1, cores));

    wr_find_cost(f, window / wr_find_epochs(a) * (1 - (double)n / more), 1,
                 WR_TRACE_FINDING_MAYBE);
    wr_find_what(f,
                 "All %u workers work all the time: the trainer is faster than "
                 "they are, and waits.",
                 n);
    wr_find_evidence(
        f,
        "Workers are busy %.0f %% of the time; they never wait for the "
        "trainer. The machine has %u cores.",
        100 * busy, cores);
    wr_find_change(
        f,
        "DataLoader(..., num_workers=%u) (up to this much, if storage and "
        "cores keep up); tf.data: num_parallel_calls=%u",
        more, more);
}

static void too_many(const struct wr_trace_analysis *a, double busy,
                     struct wr_trace_finding *f)
{
    unsigned n = (unsigned)(a->workers_at_once * busy / 0.8 + 1);

    f->sure = WR_TRACE_FINDING_LIKELY;
    wr_find_what(
        f,
        "There are more workers (%u) than cores (%u), and they wait most "
        "of the time: they cost memory and start-up.",
        a->workers_at_once, wr_trace_file_info(a->file)->cores);
    wr_find_evidence(f, "Workers are busy %.0f %%.", 100 * busy);
    wr_find_change(f, "DataLoader(..., num_workers=%u)", n);
}

bool wr_find_workers(const struct wr_trace_analysis *a,
                     struct wr_trace_finding *f)
{
    double busy = wr_find_busy(a), window = window_of(a) * wr_find_epochs(a);
    unsigned cores = wr_trace_file_info(a->file)->cores;

    if (busy < 0 || a->gaps.total < 64 || window < 0.2 * wr_find_run(a))
        return false;
    if (busy > WORKERS_BUSY && a->workers_at_once < cores) {
        too_few(a, busy, window, f);
        return wr_find_matters(a, f->seconds);
    }
    if (busy < WORKERS_IDLE && a->workers_at_once > cores) {
        too_many(a, busy, f);
        return true;
    }
    return false;
}

/* --- one worker is slow, and all wait for it in turn --- */

#define STRAGGLER_TIMES 3.0
#define STRAGGLER_BUSY  0.6

bool wr_find_stragglers(const struct wr_trace_analysis *a,
                        struct wr_trace_finding *f)
{
    double slowest = 0, sum = 0, rest, busiest = 0, busy = 0;
    double share = 0; /* of its time in which the slowest one reads */
    uint32_t who = 0;
    unsigned n = 0;

    for (size_t k = 0; k < a->thread_count; k++) {
        const struct wr_trace_thread *t = &a->threads[k];
        double mean;

        if (a->actors[t->process].job != WR_TRACE_JOB_WORKER ||
            t->set_reads < 50)
            continue;
        mean = (double)t->set_ns / (double)t->set_reads;
        sum += mean;
        busy += (double)t->set_ns;
        busiest = WR_MAX(busiest, (double)t->set_ns);
        n++;
        if (mean > slowest) {
            slowest = mean;
            who = t->process;
            share = (double)t->set_ns /
                    (double)(t->last_set - t->first_set + 1);
        }
    }
    if (n < 3 || share < STRAGGLER_BUSY)
        return false;
    rest = (sum - slowest) / (n - 1);
    if (slowest < STRAGGLER_TIMES * rest)
        return false;
    /* Whoever is free takes the next batch: all work as long as the mean. */
    wr_find_cost(f, (busiest - busy / n) * 1e-9 / wr_find_epochs(a), 1,
                 WR_TRACE_FINDING_MAYBE);
    wr_find_what(
        f,
        "One worker is slow: batches come in order, so every %u-th one is "
        "late.",
        a->workers_at_once);
    wr_find_evidence(f,
                     "Process %d spends %.2f ms per read, the others %.2f ms.",
                     (int)wr_trace_file_process(a->file, who)->pid,
                     slowest * 1e-6, rest * 1e-6);
    wr_find_change(
        f, "DataLoader(..., prefetch_factor=8, in_order=False) (PyTorch 2.6 "
           "on); tf.data: options.deterministic = False");
    return wr_find_matters(a, f->seconds);
}

/* --- workers are started anew in every epoch --- */

/* When generation `g` of workers was born, and when it first read. */
static bool generation_born(const struct wr_trace_analysis *a, uint32_t g,
                            uint64_t *ret_born, uint64_t *ret_read)
{
    uint64_t from = UINT64_MAX, read = UINT64_MAX;

    for (size_t k = 0; k < a->actor_count; k++) {
        const struct wr_trace_actor *p = &a->actors[k];

        if (p->generation != g)
            continue;
        from = WR_MIN(from, wr_trace_file_process(a->file, k)->start_ns);
        read = WR_MIN(read, p->first_set_ns);
    }
    *ret_born = from;
    *ret_read = read;
    return from != UINT64_MAX && read != UINT64_MAX && read > from;
}

bool wr_find_respawn(const struct wr_trace_analysis *a,
                     struct wr_trace_finding *f)
{
    double sum = 0;
    unsigned n = 0;

    for (uint32_t g = 2; g <= a->generations; g++) {
        struct wr_trace_finding_example *x = &f->examples[f->example_count];
        uint64_t from, read;

        if (!generation_born(a, g, &from, &read))
            continue;
        sum += (double)(read - from) * 1e-9;
        n++;
        if (f->example_count == WR_TRACE_FINDING_EXAMPLES)
            continue;
        *x = (struct wr_trace_finding_example){.at_ns = from,
                                               .file = WR_TRACE_NO_FILE};
        wr_format_ns(x->detail, sizeof(x->detail), (double)(read - from));
        f->example_count++;
    }
    if (!n)
        return false;
    wr_find_cost(f, sum / wr_find_epochs(a), 1, WR_TRACE_FINDING_SURE);
    wr_find_what(
        f,
        "Every epoch starts its workers anew: the first batch waits for "
        "%.2f s.",
        sum / n);
    wr_find_evidence(
        f,
        "%u generations of %u workers in %.0f epochs; from their birth to "
        "their first read %.2f s on average.",
        a->generations, a->workers_at_once, wr_find_epochs(a), sum / n);
    wr_find_change(f,
                   "DataLoader(..., num_workers=%u, persistent_workers=True)",
                   a->workers_at_once);
    return sum / n > 1 || sum > 0.01 * wr_find_run(a);
}

/* --- ranks or workers read what others have read --- */

#define OVERLAP_RATIO 1.05

static uint64_t shared_bytes(const struct wr_trace_use *u)
{
    return u->role == WR_TRACE_ROLE_SET && __builtin_popcountll(u->groups) > 1
               ? u->bytes_read
               : 0;
}

bool wr_find_overlap(const struct wr_trace_analysis *a,
                     struct wr_trace_finding *f)
{
    double epochs = wr_find_epochs(a), ratio;
    uint64_t shared = 0;

    if (a->mains < 2 && a->workers_at_once < 2)
        return false;
    if (a->ranks > 1 && a->same_bytes > a->set_bytes / 3)
        return false; /* it is for the next rule to say whether that matters */
    for (size_t k = 0; k < a->use_count; k++)
        shared += shared_bytes(&a->uses[k]);
    if (!a->set_unique || shared < a->set_bytes / 20)
        return false;
    ratio = (double)a->set_bytes / ((double)a->set_unique * epochs);
    if (ratio < OVERLAP_RATIO)
        return false;
    /* As many batches less. */
    wr_find_cost(f, window_of(a) * (1 - 1 / ratio), 1, WR_TRACE_FINDING_LIKELY);
    wr_find_what(
        f,
        "%s read the same data in one epoch: %.2f times what the data set "
        "has.",
        a->ranks > 1 ? "Ranks" : "Workers", ratio);
    wr_find_evidence(
        f,
        "%.1f MB read in %.0f epochs of %.1f MB; %.0f %% of it from files "
        "that several of them read.",
        (double)a->set_bytes * 1e-6, epochs, (double)a->set_unique * 1e-6,
        100 * (double)shared / (double)a->set_bytes);
    wr_find_change(
        f, "%s",
        a->ranks > 1
            ? "DataLoader(..., sampler=DistributedSampler(dataset)) and "
              "sampler.set_epoch(epoch); tf.data: ds.shard(world, rank) "
              "before reading; WebDataset: wds.split_by_node"
            : "IterableDataset: take every n-th item by "
              "torch.utils.data.get_worker_info(); WebDataset: "
              "wds.split_by_worker");
    wr_find_files(a, f, shared_bytes);
    return wr_find_matters(a, f->seconds);
}

/* --- every rank reads the same places of the same files --- */

#define SAME_SHARE 0.02

bool wr_find_same_offsets(const struct wr_trace_analysis *a,
                          struct wr_trace_finding *f)
{
    double share = a->ranks > 1 ? 1 - 1.0 / a->ranks : 0;

    if (a->ranks < 2 ||
        (double)a->same_bytes < 0.5 * share * (double)a->set_bytes)
        return false;
    /* As many batches less. */
    wr_find_cost(f, window_of(a) * share, 1, WR_TRACE_FINDING_SURE);
    wr_find_what(
        f,
        "All %u ranks read the same places of the same files: each sees "
        "the whole data set, not its share.",
        a->ranks);
    wr_find_evidence(
        f,
        "%" PRIu64 " files are read by several ranks, %.0f %% of the bytes "
        "at the same places.",
        a->shared_files,
        100 * (double)a->same_bytes / (share * (double)a->set_bytes));
    wr_find_change(f,
                   "DataLoader(..., sampler=DistributedSampler(dataset, "
                   "num_replicas=%u, rank=rank)); tf.data: ds.shard(%u, rank)",
                   a->ranks, a->ranks);
    wr_find_files(a, f, shared_bytes);
    return f->seconds * wr_find_epochs(a) >= SAME_SHARE * wr_find_run(a);
}

/* --- files of the data set that no epoch reads --- */

#define FOLDER_LEAST 20 /* files of a folder that are read */

static uint64_t hash_of(const char *s, size_t len)
{
    uint64_t h = len;

    for (size_t k = 0; k < len; k++)
        h = wr_mix64(h ^ (uint8_t)s[k]);
    return h;
}

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Hashes of the folders of all names of one sort, in order. */
static size_t list_folders(const struct wr_trace_analysis *a, bool is_read,
                           uint64_t *to)
{
    size_t n = 0;

    for (size_t k = 0; k < a->use_count; k++) {
        const char *path = wr_trace_file_name(a->file, k)->path;
        const char *slash = strrchr(path, '/');
        const struct wr_trace_use *u = &a->uses[k];

        if (slash && (is_read ? u->role == WR_TRACE_ROLE_SET : u->entries > 0))
            to[n++] = hash_of(path, (size_t)(slash - path));
    }
    qsort(to, n, sizeof(*to), by_hash);
    return n;
}

static size_t count_of(const uint64_t *list, size_t n, uint64_t h)
{
    size_t lo = 0, hi = n, first;

    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (list[mid] < h)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (first = lo; lo < n && list[lo] == h; lo++)
        ;
    return lo - first;
}

static void add_folder(struct wr_trace_finding *f,
                       const struct wr_trace_analysis *a, size_t k,
                       uint64_t missing)
{
    struct wr_trace_finding_example *x = &f->examples[f->example_count];

    if (f->example_count == WR_TRACE_FINDING_EXAMPLES)
        return;
    *x = (struct wr_trace_finding_example){.at_ns = a->uses[k].first_ns,
                                           .file = (uint32_t)k};
    snprintf(x->detail, sizeof(x->detail), "%" PRIu64 " not read", missing);
    f->example_count++;
}

/* Folders that were listed, and have more than was read of them. */
static uint64_t missing_in(const struct wr_trace_analysis *a,
                           struct wr_trace_finding *f, uint64_t *files,
                           uint64_t *ret_all)
{
    uint64_t *below = files + a->use_count, missing = 0;
    size_t n = list_folders(a, true, files), m = list_folders(a, false, below);

    for (size_t k = 0; k < a->use_count; k++) {
        const char *path = wr_trace_file_name(a->file, k)->path;
        uint64_t h = hash_of(path, strlen(path));
        size_t read = a->uses[k].entries ? count_of(files, n, h) : 0, there;

        if (read < FOLDER_LEAST)
            continue;
        there = read + count_of(below, m, h);
        *ret_all += a->uses[k].entries;
        if (a->uses[k].entries <= there)
            continue;
        missing += a->uses[k].entries - there;
        add_folder(f, a, k, a->uses[k].entries - there);
    }
    return missing;
}

bool wr_find_coverage(const struct wr_trace_analysis *a,
                      struct wr_trace_finding *f)
{
    uint64_t *files, missing, all = 0;

    if (a->epoch_count < 2) /* else the first may not be over */
        return false;
    files = malloc((2 * a->use_count + 1) * sizeof(*files));
    if (!files)
        return false;
    missing = missing_in(a, f, files, &all);
    free(files);
    if (missing * 1000 < all || !missing)
        return false;
    f->risk = true;
    f->sure = WR_TRACE_FINDING_LIKELY;
    wr_find_what(f,
                 "%" PRIu64 " of %" PRIu64
                 " files in the folders of the data set "
                 "are read in no epoch.",
                 missing, all);
    wr_find_evidence(f,
                     "The folders were listed with %" PRIu64
                     " entries; %" PRIu64 " files were read in %zu epochs.",
                     all, a->set_files, a->epoch_count);
    wr_find_change(
        f,
        "Check drop_last, the sampler's length and the shard of each rank: "
        "len(sampler) * world_size should be %" PRIu64,
        all);
    return true;
}

/* --- is it the storage, or what is done with the data? ---
 *
 * What the storage gave is compared with what it can give: by a record of weir
 * probe, or by how busy its disk was. Without either nothing is said. */

#define BOUND_FULL  0.8 /* of what storage can give */
#define BOUND_IDLE  0.2
#define BOUND_WAITS 0.3 /* of the time: then input holds the training up */
#define BOUND_IN_IO 0.5 /* of the readers' time: below, it is something else */
#define BOUND_SMALL (UINT64_C(1) << 20)
#define BOUND_SHORT 0.1 /* seconds of reading that say nothing */

struct bound_rates {
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

static double used_of(const struct wr_trace_analysis *a,
                      const struct bound_rates *r)
{
    const struct wr_trace_baseline *b = &a->baseline;
    bool small = a->set_sizes / WR_MAX(1, a->set_files) < BOUND_SMALL;
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
static bool input_waits(const struct wr_trace_analysis *a, double window)
{
    double compute;

    if (a->workers)
        return wr_find_exposed(a) > BOUND_WAITS;
    compute = a->gap_split_ns
                  ? (double)wr_gaps_above(&a->gaps, a->gap_split_ns, NULL) *
                        1e-9 / wr_find_readers(a)
                  : 0;
    return window - compute > BOUND_WAITS * window;
}

static struct bound_rates rates_of(const struct wr_trace_analysis *a)
{
    struct bound_rates r = {.window = window_of(a) * wr_find_epochs(a)};
    double readers = wr_find_readers(a);
    double stored = stored_bytes(a);

    if (r.window < BOUND_SHORT || stored * 2 < (double)a->set_bytes)
        return (struct bound_rates){.used = -1};
    r.bytes = stored / r.window;
    r.files = (double)a->set_opens * stored / (double)a->set_bytes / r.window;
    r.used = used_of(a, &r);
    r.in_io = (double)(a->set_ns + a->set_meta_ns) * 1e-9 /
              (r.window * readers);
    r.waits = input_waits(a, r.window);
    return r;
}

static void storage_bound(const struct wr_trace_analysis *a,
                          struct wr_trace_finding *f)
{
    char root[512], quoted[600];

    wr_find_quote(wr_find_root(a, root, sizeof(root)), quoted, sizeof(quoted));
    wr_find_what(f,
                 "Storage-bound: training waits for storage that gives all it "
                 "can.");
    wr_find_change(
        f,
        "More workers will not help. Read less (smaller samples, packed "
        "files), keep the data set in memory, or take faster storage: "
        "weir probe --replay TRACE emu:nvme:%.200s says what that brings",
        quoted);
}

static void cpu_bound(struct wr_trace_finding *f)
{
    f->over = ""; /* more workers are what it advises, too */
    wr_find_what(
        f, "CPU-bound: training waits for its input, but storage could give "
           "far more; decoding or Python takes the time.");
    wr_find_change(
        f, "Leave the storage as it is. More workers while cores are idle, "
           "cheaper decoding, or data that are decoded once: weir convert "
           "... --to tensor; weir bench shows the limit of decoding");
}

bool wr_find_bound(const struct wr_trace_analysis *a,
                   struct wr_trace_finding *f)
{
    struct bound_rates r = rates_of(a);
    bool full = r.used >= BOUND_FULL && r.in_io >= BOUND_IN_IO;
    /* Without batches or workers, computing is not told from decoding. */
    bool idle = r.used >= 0 && r.used <= BOUND_IDLE && r.in_io < BOUND_IN_IO &&
                (a->workers || a->gap_split_ns);

    if (r.used < 0 || !r.waits || !wr_find_trains(a) || (!full && !idle))
        return false;
    f->sure = WR_TRACE_FINDING_LIKELY;
    if (full)
        storage_bound(a, f);
    else
        cpu_bound(f);
    wr_find_evidence(
        f,
        "Storage gives %.1f MB/s and %.0f files/s, %.0f %% of what it can "
        "(%.100s); calls on files take %.0f %% of the readers' time.",
        r.bytes * 1e-6, r.files, 100 * r.used, a->baseline.source,
        100 * r.in_io);
    return true;
}
