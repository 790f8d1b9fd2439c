/* find_run.c - findings on the rest of a run: its start, what it saves, stalls, and
 * what the trace does not show.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/finding_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/top.h"
#include "base/units.h"

/* --- the data set is scanned before training begins --- */

#define SCAN_LONG  5.0  /* seconds */
#define SCAN_SHARE 0.05 /* of the run */
#define SCAN_LEAST 100  /* calls */

static uint64_t entries_of(const struct wr_trace_use *u)
{
    return u->entries ? (uint64_t)u->entries + u->stats : 0;
}

bool wr_find_scan(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    double wall = 0, idle = 0;
    uint64_t ops = 0;
    bool trains = false;

    for (size_t k = 0; k < a->phase_count; k++) {
        const struct wr_trace_phase *p = &a->phases[k];

        trains = p->kind == WR_TRACE_PHASE_TRAIN;
        if (trains)
            break;
        if (p->kind == WR_TRACE_PHASE_IDLE && ops)
            idle += (double)(p->end_ns - p->start_ns) * 1e-9;
        if (p->kind != WR_TRACE_PHASE_SCAN)
            continue;
        /* Between two calls of a scan it waits for the first one. */
        wall += (double)(p->end_ns - p->start_ns) * 1e-9 + idle;
        idle = 0;
        ops += p->sums.scan_ops;
    }
    if (!trains || !wr_find_trains(a) || ops < SCAN_LEAST ||
        (wall < SCAN_LONG && wall < SCAN_SHARE * wr_find_run(a)))
        return false;
    f->once = true;
    wr_find_cost(f, wall, 0.95, WR_TRACE_FINDING_SURE);
    wr_find_what(
        f, "Training begins after a scan of the data set's folders: %.1f s.",
        wall);
    wr_find_evidence(f,
                     "%" PRIu64
                     " calls of stat, opendir and readdir before the first "
                     "batch.",
                     ops);
    wr_find_change(
        f, "Keep the list: torch.save(dataset.samples, 'samples.pt') once, "
           "then load it instead of ImageFolder(root)");
    wr_find_files(a, f, entries_of);
    return true;
}

/* Whether a program waited for it, and did not copy what it read. */
static bool is_checkpoint(const struct wr_trace_save *s)
{
    return s->main_thread && s->read_bytes < s->bytes / 4;
}

/* Pauses of main threads for checkpoints, in seconds: all of them, per main
 * process; on network file systems alone if `network`. 0 unless there are two. */
static double pauses_of(const struct wr_trace_analysis *a, bool network,
                        struct wr_trace_finding *f)
{
    double scores[WR_TRACE_FINDING_EXAMPLES];
    struct wr_top top = {f->examples, scores, sizeof(*f->examples),
                         WR_TRACE_FINDING_EXAMPLES, 0};
    unsigned bursts = 0;
    double sum = 0;

    for (size_t k = 0; k < a->save_count; k++) {
        const struct wr_trace_save *s = &a->saves[k];
        const struct wr_trace_mount *m = wr_trace_mount_of(
            a, wr_trace_file_name(a->file, s->file)->path);
        struct wr_trace_finding_example *x;
        double ns = (double)s->pause_ns;

        if (!is_checkpoint(s) || (network && !(m && m->network)))
            continue;
        bursts += s->bursts;
        sum += ns * 1e-9;
        x = wr_top_add(&top, ns);
        if (!x)
            continue;
        *x = (struct wr_trace_finding_example){.at_ns = s->start_ns,
                                               .file = s->file};
        wr_format_ns(x->detail, sizeof(x->detail), ns);
    }
    f->example_count = top.count;
    if (bursts < 2) /* one output at the end, perhaps */
        return 0;
    return sum / (a->mains ? a->mains : 1);
}

/* --- training stops while a checkpoint is written --- */

#define SAVE_SHARE   0.05
#define SAVE_LEAST_S 0.05 /* of a whole run: less is nobody's trouble */
#define DAY          86400.0

bool wr_find_checkpoint(const struct wr_trace_analysis *a,
                        struct wr_trace_finding *f)
{
    double all = pauses_of(a, false, f), each;
    struct wr_trace_finding other = {0};
    double far = pauses_of(a, true, &other);
    unsigned n = 0;
    uint64_t bytes = 0;

    if (all < SAVE_LEAST_S || all < SAVE_SHARE * wr_find_run(a) ||
        far > all / 2)
        return false; /* most of them on a slow tier, see below */
    for (size_t k = 0; k < a->save_count; k++) {
        const struct wr_trace_save *s = &a->saves[k];

        n += is_checkpoint(s) ? s->bursts : 0;
        bytes += is_checkpoint(s) ? s->bytes : 0;
    }
    each = all * a->mains / n;
    wr_find_cost(f, all / wr_find_epochs(a), 1, WR_TRACE_FINDING_SURE);
    wr_find_what(f,
                 "Training stops while checkpoints are written: %.1f s each, "
                 "%.0f %% of the run.",
                 each, 100 * all / wr_find_run(a));
    wr_find_evidence(
        f,
        "%u saves of %.1f MB at %.0f MB/s on the main thread. Against one "
        "failure a day, one save every %.0f min loses least (Young, Daly).",
        n, (double)bytes / n * 1e-6, (double)bytes / (all * a->mains) * 1e-6,
        sqrt(2 * each * DAY) / 60);
    wr_find_change(
        f, "Save in the background: state = {k: v.cpu() for k, v in "
           "model.state_dict().items()}; "
           "threading.Thread(target=torch.save, args=(state, path)).start(); "
           "in C: weir_ckpt_save at level snapshot");
    return true;
}

/* --- checkpoints go to a slow shared file system --- */

#define TIER_SHARE 0.01

bool wr_find_slow_tier(const struct wr_trace_analysis *a,
                       struct wr_trace_finding *f)
{
    double all = pauses_of(a, true, f);
    const struct wr_trace_mount *m;
    uint64_t bytes = 0;
    double seconds = 0;
    unsigned n = 0;

    if (all <= 0 || all < TIER_SHARE * wr_find_run(a))
        return false;
    m = wr_trace_mount_of(
        a, wr_trace_file_name(a->file, f->examples[0].file)->path);
    for (size_t k = 0; k < a->save_count; k++) {
        const struct wr_trace_save *s = &a->saves[k];

        if (!is_checkpoint(s))
            continue;
        n += s->bursts;
        bytes += s->bytes;
        seconds += (double)s->pause_ns * 1e-9;
    }
    wr_find_cost(f, all / wr_find_epochs(a), 1, WR_TRACE_FINDING_LIKELY);
    wr_find_what(f,
                 "Training waits while checkpoints go to a shared file system "
                 "(%.60s).",
                 m ? m->type : "?");
    wr_find_evidence(f, "%u saves of %.1f MB at %.0f MB/s, %.0f %% of the run.",
                     n, (double)bytes / n * 1e-6,
                     (double)bytes / seconds * 1e-6,
                     100 * all / wr_find_run(a));
    wr_find_change(
        f,
        "Save to a local disk and copy on in the background: weir ckpt "
        "drain --watch /local/ssd/ckpt %.200s/ckpt",
        m ? m->path : "/shared");
    return true;
}

/* --- a crash while saving can lose the checkpoint --- */

static uint64_t unsafe_bytes(const struct wr_trace_use *u)
{
    return u->fault & (WR_TRACE_UNSAFE_IN_PLACE | WR_TRACE_UNSAFE_RENAME)
               ? u->bytes_written
               : 0;
}

/* rsync and the like can copy again; they read what they write. */
static bool copies_files(const struct wr_trace_analysis *a)
{
    return !wr_find_trains(a) && a->set_bytes &&
           a->set_bytes >= a->kinds[WR_TRACE_DATA].bytes_written / 2;
}

bool wr_find_unsafe(const struct wr_trace_analysis *a,
                    struct wr_trace_finding *f)
{
    unsigned in_place = 0, renamed = 0;

    for (size_t k = 0; k < a->use_count; k++) {
        const struct wr_trace_use *u = &a->uses[k];

        if (u->role != WR_TRACE_ROLE_OUTPUT)
            continue;
        in_place += !!(u->fault & WR_TRACE_UNSAFE_IN_PLACE);
        renamed += !!(u->fault & WR_TRACE_UNSAFE_RENAME);
    }
    if ((!in_place && !renamed) || copies_files(a))
        return false;
    f->risk = true;
    f->sure = WR_TRACE_FINDING_SURE;
    wr_find_what(f, "%s",
                 in_place
                     ? "Checkpoints are written over in place: a crash while "
                       "saving loses both the old and the new one."
                     : "Checkpoints are renamed into place before they are on "
                       "the device: a power failure can leave an empty file.");
    wr_find_evidence(
        f,
        "%u files were cut and written over, %u renamed without an fsync "
        "before.",
        in_place, renamed);
    wr_find_change(
        f, "with open(path + '.tmp', 'wb') as f: torch.save(state, f); "
           "f.flush(); os.fsync(f.fileno()); then os.replace(path + '.tmp', "
           "path) and fsync the folder");
    wr_find_files(a, f, unsafe_bytes);
    return true;
}

/* --- reads are slow while a checkpoint is written --- */

#define SAVING_TIMES 3.0
#define SAVING_LEAST 100

bool wr_find_interference(const struct wr_trace_analysis *a,
                          struct wr_trace_finding *f)
{
    const struct wr_hist *quiet = a->latency[WR_TRACE_LAT_READ_QUIET];
    const struct wr_hist *saving = a->latency[WR_TRACE_LAT_READ_SAVING];
    double q, s, usual;

    if (quiet->count < SAVING_LEAST || saving->count < SAVING_LEAST)
        return false;
    q = (double)wr_hist_quantile(quiet, 0.99);
    s = (double)wr_hist_quantile(saving, 0.99);
    usual = (double)quiet->sum / (double)quiet->count * (double)saving->count;
    if (s < SAVING_TIMES * q || (double)saving->sum <= usual)
        return false;
    wr_find_cost(f, wr_find_lost(a, (double)saving->sum - usual), 0.7,
                 WR_TRACE_FINDING_LIKELY);
    wr_find_what(
        f, "Reads of the data set are slower while something is written.");
    wr_find_evidence(
        f,
        "The slowest 1 %% of reads take %.2f ms while writing, %.2f ms "
        "else (%" PRIu64 " and %" PRIu64 " reads).",
        s * 1e-6, q * 1e-6, saving->count, quiet->count);
    wr_find_change(
        f, "Write checkpoints to another device than the data set's, or in "
           "pieces: weir ckpt bench FOLDER shows what each way costs");
    return wr_find_matters(a, f->seconds);
}

/* --- single calls that take a hundred times as long as usual --- */

#define STALL_TIMES 100
#define STALL_LEAST 1000
#define STALL_NS                                                               \
    (UINT64_C(20) * 1000000) /* shorter: the thread may have lacked a core */

/* The time of all values from `from` on, each range of two percent by its
 * middle. */
static double tail_of(const struct wr_hist *h, uint64_t from)
{
    double sum = 0;

    for (uint64_t lo = from; lo && lo <= h->max && lo < UINT64_MAX / 2;) {
        uint64_t next = lo + lo / 50 + 1;

        sum += (double)wr_hist_count_between(h, lo, next) *
               ((double)lo + (double)next) / 2;
        lo = next;
    }
    return sum;
}

static void add_slowest(const struct wr_trace_analysis *a,
                        struct wr_trace_finding *f)
{
    for (size_t k = 0; k < a->slowest_count && k < WR_TRACE_FINDING_EXAMPLES;
         k++) {
        const struct wr_trace_event *e = &a->slowest[k];
        char took[32];

        f->examples[k] = (struct wr_trace_finding_example){.at_ns = e->start_ns,
                                                           .file = e->file};
        snprintf(f->examples[k].detail, sizeof(f->examples[k].detail), "%s %s",
                 wr_trace_op_name(e->op),
                 wr_format_ns(took, sizeof(took), (double)e->dur_ns));
        f->example_count++;
    }
}

bool wr_find_outliers(const struct wr_trace_analysis *a,
                      struct wr_trace_finding *f)
{
    const struct wr_hist *h = a->latency[WR_TRACE_LAT_SET_READ];
    uint64_t usual, rare;

    if (h->count < STALL_LEAST)
        return false;
    usual = wr_hist_quantile(h, 0.5);
    rare = wr_hist_quantile(h, 0.999);
    if (!usual || rare / STALL_TIMES < usual || rare < STALL_NS)
        return false;
    wr_find_cost(f, wr_find_lost(a, tail_of(h, usual * STALL_TIMES)), 0,
                 WR_TRACE_FINDING_LIKELY);
    wr_find_what(f,
                 "Some reads take over %d times as long as usual: the storage "
                 "stalls now and then.",
                 STALL_TIMES);
    wr_find_evidence(
        f,
        "Half of the reads take at most %.3f ms, one of a thousand %.1f "
        "ms, the slowest %.1f ms.",
        (double)usual * 1e-6, (double)rare * 1e-6, (double)h->max * 1e-6);
    wr_find_change(
        f, "Look at the storage at these times (throttling, a busy server); "
           "keep more batches ahead meanwhile: prefetch_factor=8");
    add_slowest(a, f);
    return wr_find_matters(a, f->seconds);
}

/* --- loading programs and modules takes long --- */

#define IMPORT_LEAST 0.25 /* seconds */
#define IMPORT_SHARE 0.02

/* Whether code on this mount waits for other machines. */
static bool is_remote(const struct wr_trace_mount *m)
{
    return m && (m->network || !strncmp(m->type, "fuse", 4));
}

/* Seconds of calls on code that lies elsewhere, and where most of it is. */
static double remote_s(const struct wr_trace_analysis *a,
                       const struct wr_trace_mount **ret)
{
    uint64_t ns = 0, most = 0;

    for (size_t k = 0; k < a->use_count; k++) {
        const struct wr_trace_use *u = &a->uses[k];
        const struct wr_trace_name *name = wr_trace_file_name(a->file, k);
        const struct wr_trace_mount *m;

        if (u->role != WR_TRACE_ROLE_AMBIENT || !u->meta_ns)
            continue;
        m = wr_trace_mount_of(a, name->path);
        if (!is_remote(m))
            continue;
        ns += u->meta_ns;
        if (u->meta_ns > most) {
            most = u->meta_ns;
            *ret = m;
        }
    }
    return (double)ns * 1e-9;
}

bool wr_find_imports(const struct wr_trace_analysis *a,
                     struct wr_trace_finding *f)
{
    const struct wr_trace_io *io = &a->kinds[WR_TRACE_RUNTIME];
    const struct wr_trace_mount *m = NULL;
    uint64_t ops = 0, most = 0;
    double wall, remote = remote_s(a, &m);
    size_t who = 0;

    for (int c = 0; c < WR_TRACE_CLASSES; c++)
        ops += io->ops[c];
    for (size_t k = 0; k < a->actor_count; k++) {
        uint64_t ns = 0;

        for (int c = 0; c < WR_TRACE_CLASSES; c++)
            ns += a->actors[k].ambient.ns[c];
        if (ns > most) {
            most = ns;
            who = k;
        }
    }
    wall = (double)most * 1e-9;
    wall = WR_MIN(wall, remote);
    if (!m || wall < IMPORT_LEAST || wall < IMPORT_SHARE * wr_find_run(a))
        return false;
    f->once = true;
    wr_find_cost(f, wall, 1, WR_TRACE_FINDING_LIKELY);
    wr_find_what(
        f,
        "Loading programs and modules from %.60s (%.30s) takes %.1f s of a "
        "process's time.",
        m->path, m->type, wall);
    wr_find_evidence(f,
                     "%" PRIu64 " calls on code in %zu processes (%" PRIu64
                     " opens, %" PRIu64 " stats, %" PRIu64
                     " of all failed); the "
                     "slowest is process %d.",
                     ops, a->actor_count, io->opens, io->stats, io->failed,
                     (int)wr_trace_file_process(a->file, who)->pid);
    wr_find_change(
        f, "Keep the environment on a local disk: cp -r \"$VIRTUAL_ENV\" "
           "/tmp/venv && /tmp/venv/bin/python ...; one archive unpacked per "
           "node is faster than a shared folder");
    return true;
}

/* --- small writes to logs hold up the main thread --- */

#define LOG_SHARE 0.01

static uint64_t log_ns(const struct wr_trace_use *u)
{
    return u->role == WR_TRACE_ROLE_OUTPUT && !(u->fault & WR_TRACE_SAVED)
               ? u->write_ns + u->sync_ns
               : 0;
}

bool wr_find_logs(const struct wr_trace_analysis *a, struct wr_trace_finding *f)
{
    uint64_t ns = 0, n = 0;
    double all;

    for (size_t k = 0; k < a->thread_count; k++) {
        const struct wr_trace_thread *t = &a->threads[k];

        if (!wr_find_is_main(a, t))
            continue;
        ns += t->small_output_ns;
        n += t->small_outputs;
    }
    all = (double)ns * 1e-9 / WR_MAX(1, a->mains);
    if (all < LOG_SHARE * wr_find_run(a) || n < 10 || !wr_find_trains(a))
        return false;
    wr_find_cost(f, all / wr_find_epochs(a), 0.9, WR_TRACE_FINDING_SURE);
    wr_find_what(
        f,
        "Small writes and syncs of logs take %.1f %% of the main thread's "
        "time.",
        100 * all / wr_find_run(a));
    wr_find_evidence(f,
                     "%" PRIu64 " writes below 4 KiB and syncs, %.2f ms each.",
                     n, (double)ns / (double)n * 1e-6);
    wr_find_change(f,
                   "SummaryWriter(..., max_queue=1000, flush_secs=60); "
                   "open(log, 'a', buffering=1 << 16) and no fsync per line");
    wr_find_files(a, f, log_ns);
    return true;
}

/* --- the kernel counted more than the trace has --- */

#define UNSEEN_SHARE 0.05
#define UNSEEN_AHEAD (UINT64_C(1) << 20)
#define UNSEEN_LEAST (UINT64_C(16) << 20)

/* What devices may have given for mapped code: not much more than is read ahead
 * for each fault. */
static uint64_t paged_in(const struct wr_trace_analysis *a)
{
    uint64_t faults = 0;

    for (size_t k = 0; k < a->actor_count; k++) {
        uint64_t n = wr_trace_file_process(a->file, k)->major_faults;

        faults += n == UINT64_MAX ? 0 : n;
    }
    return WR_MIN(faults, UINT64_MAX / UNSEEN_AHEAD) * UNSEEN_AHEAD;
}

/* The kernel counts system calls, and what devices gave; requests of rings are
 * in the second alone. */
static uint64_t missing_bytes(const struct wr_trace_analysis *a)
{
    uint64_t calls = a->traced_read - a->async_read, n = 0;
    uint64_t known = a->traced_read + paged_in(a);

    if (a->counted_read != UINT64_MAX && a->counted_read > calls)
        n = a->counted_read - calls;
    if (a->device_read != UINT64_MAX && a->device_read > known)
        n = WR_MAX(n, a->device_read - known);
    return n;
}

static void say_what(const struct wr_trace_info *info, double share,
                     struct wr_trace_finding *f)
{
    if (!info->by_kernel) {
        wr_find_what(
            f,
            "The trace does not show %.0f %% of what was read: io_uring, "
            "mapped files or a static program.",
            share);
        wr_find_change(f, "weir trace --kernel -- %.400s",
                       info->command ? info->command : "COMMAND");
        return;
    }
    wr_find_what(f,
                 "The trace does not show %.0f %% of what was read, though the "
                 "kernel was asked: %s.",
                 share,
                 info->lost_records ? "records were lost"
                                    : "mapped files, or programs of 32 bits");
    wr_find_change(
        f, "%s",
        info->lost_records
            ? "trace a shorter run, or leave weir trace a core of its own"
            : "none: reads of mapped memory have no calls to record");
}

bool wr_find_unseen(const struct wr_trace_analysis *a,
                    struct wr_trace_finding *f)
{
    const struct wr_trace_info *info = wr_trace_file_info(a->file);
    uint64_t kernel = a->traced_read, unseen = missing_bytes(a);

    kernel += unseen;
    if (a->lost_events) /* which is told elsewhere */
        return false;
    if (unseen < UNSEEN_LEAST || (double)unseen < UNSEEN_SHARE * (double)kernel)
        return false;
    f->risk = true;
    f->sure = WR_TRACE_FINDING_SURE;
    say_what(info, 100 * (double)unseen / (double)kernel, f);
    wr_find_evidence(
        f,
        "The kernel counted %.1f MB (from devices %.1f MB), the trace has "
        "%.1f MB.",
        (double)kernel * 1e-6,
        a->device_read == UINT64_MAX ? 0 : (double)a->device_read * 1e-6,
        (double)a->traced_read * 1e-6);
    return true;
}
