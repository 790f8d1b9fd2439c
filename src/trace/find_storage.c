/* find_storage.c - findings on what a program asks of the storage of its data set.
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/finding_private.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"

/* Whether it reads its files as a training does, or more than once. */
static bool loads_data(const struct wr_trace_analysis *a)
{
    return a->epoch_count > 1 || wr_find_trains(a);
}

/* The mount of the folder that most of the data set comes from, or NULL. */
static const struct wr_trace_mount *mount_of(const struct wr_trace_analysis *a)
{
    char root[512];

    return wr_trace_mount_of(a, wr_find_root(a, root, sizeof(root)));
}

/* Whether all of the data set can stay in memory. */
static bool fits_memory(const struct wr_trace_analysis *a)
{
    return (double)a->set_unique <=
           0.8 * (double)wr_trace_file_info(a->file)->available_bytes;
}

/* --- a data set that fits into memory is read from storage again --- */

static uint64_t reread_bytes(const struct wr_trace_use *u)
{
    return u->role == WR_TRACE_ROLE_SET && u->passes > 1 ? u->bytes_read : 0;
}

/* What reads of all epochs but the first took longer than from memory, in ns. */
static double waited_ns(const struct wr_trace_analysis *a)
{
    double ns = 0, cached = 0;

    for (size_t k = 1; k < a->epoch_count; k++) {
        ns += (double)a->epochs[k].set_ns;
        cached += wr_find_cached((double)a->epochs[k].set_reads,
                                 (double)a->epochs[k].set_bytes);
    }
    return ns > 2 * cached ? ns - cached : 0;
}

static double later_s(const struct wr_trace_analysis *a)
{
    double s = 0;

    for (size_t k = 1; k < a->epoch_count; k++)
        s += (double)a->epochs[k].set_ns * 1e-9;
    return s;
}

/* The share of what was read again that came from storage; where the kernel does
 * not count that, the time of reads says it. */
static double from_storage(const struct wr_trace_analysis *a)
{
    double again = (double)(a->set_bytes - a->set_unique), share;

    if (a->device_read == UINT64_MAX || !a->set_counted)
        return 1;
    if (a->device_read <= a->set_unique)
        return 0;
    share = (double)(a->device_read - a->set_unique) / again;
    return share < 1 ? share : 1;
}

bool wr_find_cacheable(const struct wr_trace_analysis *a,
                       struct wr_trace_finding *f)
{
    uint64_t memory = wr_trace_file_info(a->file)->available_bytes;
    double later;
    char root[512], quoted[600];

    if (a->epoch_count < 2 || a->set_bytes <= a->set_unique || !fits_memory(a))
        return false;
    later = from_storage(a);
    if (later < 0.2)
        return false;
    wr_find_cost(f, wr_find_lost(a, waited_ns(a)), 1, WR_TRACE_FINDING_LIKELY);
    if (!wr_find_matters(a, f->seconds))
        return false;
    wr_find_root(a, root, sizeof(root));
    wr_find_what(
        f,
        "The data set (%.1f GB) fits into memory (%.1f GB free), and is "
        "still read from storage in each epoch.",
        (double)a->set_unique * 1e-9, (double)memory * 1e-9);
    wr_find_evidence(
        f,
        "%zu epochs; %.0f %% of what was read again came from storage; "
        "reads of the later epochs took %.1f s, from memory %.1f s.",
        a->epoch_count, 100 * later, later_s(a),
        later_s(a) - waited_ns(a) * 1e-9);
    wr_find_change(
        f,
        "cp -r %.300s /dev/shm/ and train from there; tf.data: "
        "ds.cache(); PyTorch: keep what __getitem__ has read in a dict",
        wr_find_quote(root, quoted, sizeof(quoted)));
    wr_find_files(a, f, reread_bytes);
    return true;
}

/* --- the data set is read over the network in each epoch --- */

#define STAGING_SHARE 0.05

static uint64_t reread_ns(const struct wr_trace_use *u)
{
    return u->role == WR_TRACE_ROLE_SET && u->passes > 1 ? u->read_ns : 0;
}

bool wr_find_staging(const struct wr_trace_analysis *a,
                     struct wr_trace_finding *f)
{
    const struct wr_trace_mount *m = mount_of(a);
    double epochs = wr_find_epochs(a), lost;
    char root[512], quoted[600];

    if (!m || !m->network || a->epoch_count < 2)
        return false;
    if ((fits_memory(a) && waited_ns(a) <= 0) ||
        (a->device_read != UINT64_MAX && a->set_counted &&
         a->device_read < a->set_bytes / 2))
        return false; /* the page cache serves it already */
    lost = wr_find_lost(a, (double)(a->set_ns + a->set_meta_ns)) *
           (epochs - 1) / epochs;
    if (lost * epochs < STAGING_SHARE * wr_find_run(a))
        return false;
    wr_find_cost(f, lost, 0.7, WR_TRACE_FINDING_MAYBE);
    wr_find_root(a, root, sizeof(root));
    wr_find_what(
        f, "The data set is read over the network (%.60s) in every epoch.",
        m->type);
    wr_find_evidence(
        f, "%.0f epochs of %.1f GB from %.60s; %.0f MB/s per request.", epochs,
        (double)a->set_unique * 1e-9, m->path,
        (double)a->set_bytes / (double)WR_MAX(1, a->set_ns) * 1e3);
    wr_find_change(f,
                   "Copy it to a local disk first: weir stage %.300s "
                   "/local/ssd:%.0fGB",
                   wr_find_quote(root, quoted, sizeof(quoted)),
                   (double)a->set_unique * 1e-9 + 1);
    wr_find_files(a, f, reread_ns);
    return true;
}

/* --- files are read in small pieces, one after the other --- */

#define SMALL_SHARE 0.2
#define SMALL_LEAST 100
#define SMALL_BELOW 65536.0 /* bytes: pieces from here on are not small */

static uint64_t small_ns(const struct wr_trace_use *u)
{
    return u->role == WR_TRACE_ROLE_SET ? u->small_ns : 0;
}

bool wr_find_small_reads(const struct wr_trace_analysis *a,
                         struct wr_trace_finding *f)
{
    uint64_t reads = 0, ns = 0, bytes = 0;
    double size, each, saved, all = (double)(a->set_ns + a->set_meta_ns);

    for (size_t k = 0; k < a->use_count; k++) {
        const struct wr_trace_use *u = &a->uses[k];

        if (u->role != WR_TRACE_ROLE_SET || !u->small_reads)
            continue;
        reads += u->small_reads;
        ns += u->small_ns;
        bytes += u->bytes_read / WR_MAX(1, u->reads - u->zero_reads) *
                 u->small_reads;
    }
    if (reads < SMALL_LEAST || (double)ns < SMALL_SHARE * all)
        return false;
    size = (double)bytes / (double)reads;
    size = size < SMALL_BELOW ? size : SMALL_BELOW;
    /* A wait for the device that few of them have (the kernel reads ahead) stays
     * with large reads; what each one costs does not. */
    each = (double)wr_hist_quantile(a->latency[WR_TRACE_LAT_SMALL_READ], 0.5) -
           wr_find_cached(0, size);
    saved = (double)reads * (each > 0 ? each : 0) * (1 - size / SMALL_BELOW);
    if (saved < SMALL_SHARE * all)
        return false;
    wr_find_cost(f, wr_find_lost(a, saved), 1, WR_TRACE_FINDING_LIKELY);
    wr_find_what(
        f,
        "Files are read in small pieces, one behind the other: %.1f KB on "
        "average.",
        size * 1e-3);
    wr_find_evidence(f,
                     "%" PRIu64
                     " reads below 64 KiB follow the one before; they take "
                     "%.1f s in all, %.0f %% of the time on the data set.",
                     reads, (double)ns * 1e-9, 100 * (double)ns / all);
    wr_find_change(
        f, "open(path, 'rb', buffering=1 << 20), or read the whole file: "
           "io.BytesIO(open(path, 'rb').read()); tf.data: "
           "TFRecordDataset(files, buffer_size=8 << 20)");
    wr_find_files(a, f, small_ns);
    return wr_find_matters(a, f->seconds);
}

/* --- several calls where one would do --- */

#define SAMPLE_CALLS 5.0 /* per sample: open, read, close and two more */
#define SAMPLE_LEAST 20
#define SAMPLE_SHARE 0.02

static uint64_t calls_ns(const struct wr_trace_use *u)
{
    uint64_t calls = (uint64_t)u->opens + u->stats + u->seeks + u->zero_reads;

    return u->role == WR_TRACE_ROLE_SET && calls > 5 * (uint64_t)u->passes
               ? u->meta_ns
               : 0;
}

struct calls {
    double passes, opens, stats, seeks, zeros, others, ns;
    unsigned files;
};

static struct calls calls_of(const struct wr_trace_analysis *a)
{
    struct calls c = {0};

    for (size_t k = 0; k < a->use_count; k++) {
        const struct wr_trace_use *u = &a->uses[k];
        uint64_t size = wr_trace_file_name(a->file, k)->size;

        if (u->role != WR_TRACE_ROLE_SET || size >= (8 << 20))
            continue;
        c.files++;
        c.passes += u->passes;
        c.opens += u->opens;
        c.stats += u->stats;
        c.seeks += u->seeks;
        c.zeros += u->zero_reads;
        c.others += u->closes;
        c.ns += (double)u->meta_ns;
    }
    return c;
}

static double mean_ns(const struct wr_hist *h)
{
    return h->count ? (double)h->sum / (double)h->count : 0;
}

/* Time of calls beyond one open and one close per sample. Opens and stats have
 * times of their own; seeks and closes share what is left. */
static double extra_ns(const struct wr_trace_analysis *a, const struct calls *c)
{
    double open = mean_ns(a->latency[WR_TRACE_LAT_OPEN]);
    double stat = mean_ns(a->latency[WR_TRACE_LAT_STAT]);
    double rest = c->ns - c->opens * open - c->stats * stat;
    double others = c->seeks + c->others, ns = c->stats * stat;

    if (c->opens > c->passes)
        ns += (c->opens - c->passes) * open;
    if (rest > 0 && others > c->passes)
        ns += rest * (others - c->passes) / others;
    return ns < c->ns ? ns : c->ns;
}

bool wr_find_double_work(const struct wr_trace_analysis *a,
                         struct wr_trace_finding *f)
{
    struct calls c = calls_of(a);
    double meta = c.opens + c.stats + c.seeks + c.others;
    double per = c.passes ? (meta + c.zeros + c.passes) / c.passes : 0;

    if (!loads_data(a) || c.files < SAMPLE_LEAST || per <= SAMPLE_CALLS ||
        meta <= 2 * c.passes)
        return false;
    wr_find_cost(f, wr_find_lost(a, extra_ns(a, &c)), 1,
                 WR_TRACE_FINDING_LIKELY);
    if (f->seconds * wr_find_epochs(a) < SAMPLE_SHARE * wr_find_run(a))
        return false;
    wr_find_what(
        f,
        "Each sample takes %.1f calls where open, read and close would "
        "do.",
        per);
    wr_find_evidence(
        f,
        "Per sample: %.1f opens, %.1f stats, %.1f seeks, %.1f reads of no "
        "bytes.",
        c.opens / c.passes, c.stats / c.passes, c.seeks / c.passes,
        c.zeros / c.passes);
    wr_find_change(f, "Read each file once, unbuffered: with open(path, 'rb', "
                      "buffering=0) as f: data = f.read(); then "
                      "Image.open(io.BytesIO(data))");
    wr_find_files(a, f, calls_ns);
    return true;
}

/* --- opening files takes long: they are to be packed --- */

#define PACK_OPENS 100
#define PACK_FILES 100
#define PACK_SHARE 0.1 /* of the time on the data set, to open */
#define PACK_SMALL (UINT64_C(1) << 20)  /* a file with several samples */
#define PACK_LARGE (UINT64_C(64) << 20) /* large enough */

static uint64_t meta_ns(const struct wr_trace_use *u)
{
    return u->role == WR_TRACE_ROLE_SET ? u->meta_ns : 0;
}

/* What the two findings say alike: pack them `how`, into a folder with this
 * suffix. */
static bool pack_files(const struct wr_trace_analysis *a,
                       struct wr_trace_finding *f, const char *suffix,
                       const char *how)
{
    char root[512], from[600], to[620];

    wr_find_root(a, root, sizeof(root));
    snprintf(to, sizeof(to), "%s-%s", root, suffix);
    wr_find_quote(root, from, sizeof(from));
    wr_find_quote(to, root, sizeof(root));
    wr_find_change(f, "weir convert %.180s %.180s --to %s", from, root, how);
    wr_find_files(a, f, meta_ns);
    return loads_data(a) && wr_find_matters(a, f->seconds);
}

bool wr_find_metadata(const struct wr_trace_analysis *a,
                      struct wr_trace_finding *f)
{
    if (a->set_opens < PACK_OPENS || a->set_meta_ns <= a->set_ns)
        return false;
    wr_find_cost(f, wr_find_lost(a, (double)a->set_meta_ns), 0.95,
                 WR_TRACE_FINDING_SURE);
    wr_find_what(f,
                 "Opening and closing files takes longer than reading them.");
    wr_find_evidence(f,
                     "%" PRIu64 " opens of %" PRIu64
                     " files of %.1f KB: %.1f s of "
                     "metadata calls, %.1f s of reads.",
                     a->set_opens, a->set_files,
                     (double)a->set_sizes / (double)a->set_files * 1e-3,
                     (double)a->set_meta_ns * 1e-9, (double)a->set_ns * 1e-9);
    return pack_files(a, f, "shards", "tar --shard-size 256MiB");
}

bool wr_find_record_files(const struct wr_trace_analysis *a,
                          struct wr_trace_finding *f)
{
    uint64_t size = a->set_sizes / WR_MAX(1, a->set_files);
    double share = (double)a->set_meta_ns /
                   (double)WR_MAX(1, a->set_ns + a->set_meta_ns);

    if (a->set_files < PACK_FILES || size < PACK_SMALL || size > PACK_LARGE ||
        share < PACK_SHARE)
        return false;
    wr_find_cost(f, wr_find_lost(a, (double)a->set_meta_ns), 0.9,
                 WR_TRACE_FINDING_LIKELY);
    wr_find_what(f,
                 "The data set is in %" PRIu64
                 " files of %.1f MB: opening them "
                 "takes %.0f %% of the time.",
                 a->set_files, (double)size * 1e-6, 100 * share);
    wr_find_evidence(
        f, "%" PRIu64 " opens; %.1f s of metadata calls, %.1f s of reads.",
        a->set_opens, (double)a->set_meta_ns * 1e-9, (double)a->set_ns * 1e-9);
    return pack_files(a, f, "packed", "tfrecord --shard-size 1GiB");
}

/* --- a file is opened for each part that is read of it --- */

#define REOPEN_TIMES 4   /* per pass: some look at a file before they read it */
#define REOPEN_LEAST 100 /* opens too many */
#define REOPEN_SHARE 0.5 /* of all metadata calls: else packing comes first */

static uint64_t reopened_ns(const struct wr_trace_use *u)
{
    uint64_t usual = REOPEN_TIMES * (uint64_t)u->passes;

    return u->role == WR_TRACE_ROLE_SET && u->opens > usual ? u->meta_ns : 0;
}

bool wr_find_reopened(const struct wr_trace_analysis *a,
                      struct wr_trace_finding *f)
{
    double enough = 0, opens = 0, extra = 0, ns = 0;
    unsigned files = 0;

    /* Once in each epoch by each process that reads the data set. */
    for (size_t k = 0; k < a->actor_count; k++)
        enough += a->actors[k].set_bytes ? wr_find_epochs(a) : 0;
    for (size_t k = 0; k < a->use_count; k++) {
        const struct wr_trace_use *u = &a->uses[k];

        if (!reopened_ns(u) || u->opens <= enough)
            continue;
        files++;
        opens += u->opens;
        extra += u->opens - enough;
        ns += (double)u->meta_ns * (1 - enough / u->opens);
    }
    if (!loads_data(a) || extra < REOPEN_LEAST ||
        ns < REOPEN_SHARE * (double)a->set_meta_ns)
        return false;
    wr_find_cost(f, wr_find_lost(a, ns), 1, WR_TRACE_FINDING_SURE);
    wr_find_what(f,
                 "Files are opened again for each part that is read of them: "
                 "%.0f times each.",
                 opens / files);
    wr_find_evidence(
        f,
        "%.0f opens of %u files, where %.0f would do; opening them "
        "again takes %.1f s of all threads.",
        opens, files, opens - extra, ns * 1e-9);
    wr_find_change(
        f, "Open a file once in each worker and keep it: in __getitem__ "
           "(not in __init__) if self.file is None: self.file = "
           "h5py.File(path, 'r'); or fd = os.open(path, os.O_RDONLY) "
           "once, then os.pread(fd, size, offset)");
    wr_find_files(a, f, reopened_ns);
    return wr_find_matters(a, f->seconds);
}

/* --- random reads of big files fetch more than is used --- */

#define RANDOM_FILE  (UINT64_C(64) << 20)
#define RANDOM_SHARE 0.2
#define RANDOM_WASTE 1.5
#define RANDOM_LEAST 100

static uint64_t random_reads(const struct wr_trace_use *u)
{
    uint64_t reads = u->reads - u->zero_reads;

    return u->role == WR_TRACE_ROLE_SET && u->end_read >= RANDOM_FILE
               ? reads - WR_MIN(reads, u->consecutive)
               : 0;
}

/* What is in memory of a file at the end was read, unless it was there before:
 * where reads are slow, it was not. */
static uint64_t resident_of(const struct wr_trace_analysis *a, size_t k)
{
    uint64_t n = wr_trace_file_name(a->file, k)->resident;

    return n == UINT64_MAX ? 0 : n;
}

/* Nanoseconds for what is not used: at the rate of the device, if a probe says
 * it; else as if all time went with bytes, which is the most it can be. */
static double in_vain(const struct wr_trace_analysis *a, double ns,
                      double bytes, double waste)
{
    double most = ns * (1 - 1 / waste), rate = a->baseline.sequential_rate;
    double took = rate > 0 ? bytes * (waste - 1) / rate * 1e9 : most;

    return WR_MIN(took, most);
}

bool wr_find_random(const struct wr_trace_analysis *a,
                    struct wr_trace_finding *f)
{
    uint64_t reads = 0, random = 0, ns = 0, bytes = 0;
    uint64_t unique = 0, resident = 0;
    double waste;

    for (size_t k = 0; k < a->use_count; k++) {
        const struct wr_trace_use *u = &a->uses[k];

        if (u->role != WR_TRACE_ROLE_SET || u->end_read < RANDOM_FILE)
            continue;
        reads += u->reads - u->zero_reads;
        random += random_reads(u);
        ns += u->read_ns;
        bytes += u->bytes_read;
        unique += WR_MIN(u->bytes_read, u->end_read);
        resident += resident_of(a, k);
    }
    if (random < RANDOM_LEAST ||
        (double)random < RANDOM_SHARE * (double)reads || !bytes ||
        (double)ns < 2 * wr_find_cached((double)reads, (double)bytes))
        return false; /* few, or from memory */
    waste = a->set_counted && a->device_read != UINT64_MAX
                ? (double)a->device_read / (double)a->set_bytes
                : (double)resident / (double)unique;
    if (waste < RANDOM_WASTE)
        return false;
    wr_find_cost(
        f, wr_find_lost(a, in_vain(a, (double)ns, (double)bytes, waste)), 1,
        a->baseline.sequential_rate > 0 ? WR_TRACE_FINDING_LIKELY
                                        : WR_TRACE_FINDING_MAYBE);
    wr_find_what(f,
                 "Random reads of big files make the device deliver %.1f times "
                 "what the program uses.",
                 waste);
    wr_find_evidence(
        f,
        "%" PRIu64 " of %" PRIu64
        " reads do not follow the one before; %.1f KB "
        "each on average. The device gave about %.2f GB for %.2f GB.",
        random, reads, (double)bytes / (double)reads * 1e-3,
        waste * (double)bytes * 1e-9, (double)bytes * 1e-9);
    wr_find_change(
        f, "os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_RANDOM) after "
           "open, or read shards in order and shuffle in memory: "
           "tf.data: ds.shuffle(10000)");
    wr_find_files(a, f, random_reads);
    return wr_find_matters(a, f->seconds);
}

/* --- mapped files are read page by page --- */

#define FAULT_SHARE 0.05

static uint64_t fault_ns(const struct wr_trace_use *u)
{
    return u->fault_ns;
}

bool wr_find_faults(const struct wr_trace_analysis *a,
                    struct wr_trace_finding *f)
{
    uint64_t faults = 0, ns = 0, mapped = 0;

    for (size_t k = 0; k < a->use_count; k++) {
        const struct wr_trace_use *u = &a->uses[k];

        if (u->role == WR_TRACE_ROLE_AMBIENT)
            continue;
        faults += u->faults;
        ns += u->fault_ns;
        mapped += u->mmaps;
    }
    wr_find_cost(f, wr_find_lost(a, (double)ns), 0.8, WR_TRACE_FINDING_LIKELY);
    if (f->seconds * wr_find_epochs(a) < FAULT_SHARE * wr_find_run(a) ||
        !faults)
        return false;
    wr_find_what(
        f, "Mapped files are read page by page: each first touch waits for "
           "the device.");
    wr_find_evidence(f,
                     "%" PRIu64 " major page faults in %" PRIu64
                     " mappings, %.2f ms "
                     "each.",
                     faults, mapped, (double)ns / (double)faults * 1e-6);
    wr_find_change(f, "Ask for the pages before they are used: "
                      "mm.madvise(mmap.MADV_WILLNEED), or read them: "
                      "np.load(path) without mmap_mode");
    wr_find_files(a, f, fault_ns);
    return true;
}

/* --- requests are smaller than the file system's stripes --- */

bool wr_find_request_size(const struct wr_trace_analysis *a,
                          struct wr_trace_finding *f)
{
    const struct wr_trace_mount *m = mount_of(a);
    const struct wr_trace_common *c = &a->common_reads[0];
    char root[512], quoted[600], path[600];
    double share = (double)(a->set_ns) * 1e-9 / wr_find_readers(a);

    if (!m || !m->network || m->block < 65536 || c->bytes < 4096 ||
        c->bytes >= m->block || c->count * 2 < a->set_reads ||
        a->set_sizes / WR_MAX(1, a->set_files) < m->block ||
        share < 0.02 * wr_find_run(a))
        return false;
    wr_find_root(a, root, sizeof(root));
    wr_find_quote(root, quoted, sizeof(quoted));
    wr_find_quote(m->path, path, sizeof(path));
    f->sure = WR_TRACE_FINDING_MAYBE;
    wr_find_what(
        f,
        "Most reads ask for %.0f KB of a file system that works in pieces "
        "of %.0f KB.",
        (double)c->bytes * 1e-3, (double)m->block * 1e-3);
    wr_find_evidence(f,
                     "%.0f %% of %" PRIu64
                     " reads have that size; %.40s on %.40s. What "
                     "it costs is not in the trace.",
                     100 * (double)c->count / (double)a->set_reads,
                     a->set_reads, m->type, m->path);
    wr_find_change(
        f,
        "TFRecordDataset(files, buffer_size=%" PRIu64 ") (or lfs setstripe "
        "-S %" PRIu64 " for the folder); weir probe %.200s measures both",
        m->block, c->bytes, path);
    return true;
}

/* --- a small file is read in many pieces, here and there --- */

#define PIECES_BELOW (UINT64_C(1) << 20)
#define PIECES_LEAST 10

static uint64_t pieces_ns(const struct wr_trace_use *u)
{
    uint32_t reads = u->reads - u->zero_reads;

    if (u->role != WR_TRACE_ROLE_SET || u->end_read >= PIECES_BELOW ||
        !u->passes || reads / u->passes < PIECES_LEAST ||
        u->consecutive * 2 > reads)
        return 0; /* they are small reads, one behind the other */
    return u->read_ns;
}

bool wr_find_pieces(const struct wr_trace_analysis *a,
                    struct wr_trace_finding *f)
{
    uint64_t ns = 0, files = 0, reads = 0;

    for (size_t k = 0; k < a->use_count; k++)
        if (pieces_ns(&a->uses[k])) {
            ns += pieces_ns(&a->uses[k]);
            files++;
            reads += a->uses[k].reads - a->uses[k].zero_reads;
        }
    if (!files)
        return false;
    wr_find_cost(
        f, wr_find_lost(a, (double)ns) * (1 - (double)files / (double)reads),
        0.9, WR_TRACE_FINDING_LIKELY);
    wr_find_what(f,
                 "Small files are read in many pieces that do not follow each "
                 "other.");
    wr_find_evidence(f,
                     "%" PRIu64 " files below 1 MiB are read by %" PRIu64
                     " calls, %.2f s in all.",
                     files, reads, (double)ns * 1e-9);
    wr_find_change(f, "Read the file once and use it from memory: "
                      "h5py.File(path, 'r', driver='core'), or "
                      "io.BytesIO(open(path, 'rb').read())");
    wr_find_files(a, f, pieces_ns);
    return wr_find_matters(a, f->seconds);
}
