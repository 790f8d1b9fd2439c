/* check_machine.c - kernel, cores, memory and limits of this process, io_uring, the
 * page cache and perf events.
 * SPDX-License-Identifier: Apache-2.0 */
#include "doctor/check.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/procfs.h"
#include "base/thread.h"
#include "base/units.h"
#include "format/index_cache.h"
#include "monitor/pagecache.h"
#include "storage/storage.h"

#define KERNEL_URING 519 /* registered files that need no list: 5.19 */
#define LEAST_MEMORY (UINT64_C(80) << 20)

static void lacks_proc(struct wr_finding *f, const char *path, const char *what)
{
    wr_observed(f, "not known: no %s", path);
    wr_means(f, "/proc is not mounted: weir cannot tell %s.", what);
    wr_remedy(f, WR_HEALTH_LIMITED, "mount -t proc proc /proc");
}

void wr_check_kernel(const struct wr_doctor *d, struct wr_finding *f)
{
    unsigned version = wr_doctor_kernel(d);
    char text[128];

    if (!version) {
        lacks_proc(f, "/proc/sys/kernel/osrelease",
                   "what the machine does while it measures");
        return;
    }
    wr_doctor_read(d, "/proc/sys/kernel/osrelease", text, sizeof(text));
    text[strcspn(text, "\n")] = '\0';
    wr_observed(f, "Linux %s", text);
    if (version >= KERNEL_URING)
        return;
    wr_means(f, "Its io_uring lacks what weir uses since Linux 5.19, so reads "
                "go through a pool of threads.");
    wr_remedy(f, WR_HEALTH_LIMITED, "apt-get install " WR_DOCTOR_KERNEL);
}

void wr_check_cores(const struct wr_doctor *d, struct wr_finding *f)
{
    unsigned mine = wr_cpu_count();
    long all = sysconf(_SC_NPROCESSORS_ONLN);
    struct wr_cgroup group;

    wr_cgroup_limits(d->root, &group);
    if (group.cores > 0 && group.cores < mine) {
        unsigned whole = group.cores < 1 ? 1 : (unsigned)group.cores;

        wr_observed(f, "a quota of %.3g cores on %u", group.cores, mine);
        wr_means(f, "The control group stops all threads for the rest of each "
                    "period when the quota is used up. weir starts one thread "
                    "per core that it may run on: ask for fewer, or raise the "
                    "quota.");
        wr_remedy(f, WR_HEALTH_LIMITED, "weir bench --threads %u ...", whole);
        return;
    }
    if (all > 0 && mine < (unsigned long)all) {
        wr_observed(f, "%u of %ld", mine, all);
        wr_means(f, "This process is bound to some of the cores. In a batch "
                    "job, ask for more.");
        wr_remedy(f, WR_HEALTH_LIMITED, "taskset -c 0-%ld weir ...", all - 1);
        return;
    }
    wr_observed(f, "%u, all of them", mine);
}

/* weir's own wishes: a quarter of the machine's memory with `auto`. */
static void judge_group(struct wr_finding *f, uint64_t total, uint64_t limit)
{
    char a[32], b[32];

    wr_observed(f, "%s of %s", wr_format_bytes(a, sizeof(a), (double)limit),
                wr_format_bytes(b, sizeof(b), (double)total));
    wr_means(f, "The control group allows no more, page cache included; a "
                "process that wants more is killed. With --depth auto or "
                "--prefetch auto weir spends up to a quarter of the machine's "
                "memory unless it is told otherwise.");
    wr_remedy(f, WR_HEALTH_LIMITED, "weir bench --memory %" PRIu64 "MiB ...",
              limit / 4 >> 20);
}

void wr_check_memory(const struct wr_doctor *d, struct wr_finding *f)
{
    uint64_t total = 0, available = 0;
    const struct wr_procfs_field fields[] = {
        {"MemTotal:", 1024, &total}, {"MemAvailable:", 1024, &available}};
    struct wr_cgroup group;
    char text[8192], a[32], b[32];

    if (wr_doctor_read(d, "/proc/meminfo", text, sizeof(text)) < 0 ||
        !wr_procfs_fields(text, fields, 2) || !total) {
        lacks_proc(f, "/proc/meminfo", "how much memory there is");
        return;
    }
    wr_cgroup_limits(d->root, &group);
    if (group.memory_bytes && group.memory_bytes < total) {
        judge_group(f, total, group.memory_bytes);
        if (group.memory_bytes < LEAST_MEMORY)
            f->health = WR_HEALTH_MISSING;
        return;
    }
    wr_observed(f, "%s, %s free", wr_format_bytes(a, sizeof(a), (double)total),
                wr_format_bytes(b, sizeof(b), (double)available));
    if (available >= LEAST_MEMORY)
        return;
    wr_means(f, "Batches, reads in flight and decoders take some 100 MB.");
    wr_remedy(f, WR_HEALTH_MISSING, "ps -eo rss,pid,comm --sort=-rss | head");
}

#define ENOUGH_FILES    1024
#define LEAST_FILES     16
#define KERNEL_UNLOCKED 512 /* rings are charged to the control group: 5.12 */
#define ENOUGH_LOCKED   (UINT64_C(1) << 20)

/* The limit, or RLIM_INFINITY when it is not known; false: that was said. */
static bool has_limit(int which, struct rlimit *lim, struct wr_finding *f)
{
    bool known = getrlimit((__rlimit_resource_t)which, lim) == 0;

    if (known && lim->rlim_cur != RLIM_INFINITY)
        return true;
    wr_observed(f, known ? "unlimited" : "not known");
    return false;
}

void wr_check_files(const struct wr_doctor *d, struct wr_finding *f)
{
    struct rlimit lim;
    char buf[32];

    if (!has_limit(RLIMIT_NOFILE, &lim, f))
        return;
    wr_observed(f, "%s descriptors",
                wr_format_count(buf, sizeof(buf), lim.rlim_cur));
    if (lim.rlim_cur >= ENOUGH_FILES)
        return;
    wr_means(f, "Each file that is being read takes a descriptor: fewer reads "
                "can be in flight, and a mount or many shards may not open.");
    wr_remedy(
        f, lim.rlim_cur < LEAST_FILES ? WR_HEALTH_MISSING : WR_HEALTH_LIMITED,
        lim.rlim_cur < lim.rlim_max && lim.rlim_max >= ENOUGH_FILES
            ? "ulimit -n %u"
            : "sudo prlimit --nofile=%u --pid $$",
        65536u);
}

void wr_check_memlock(const struct wr_doctor *d, struct wr_finding *f)
{
    unsigned kernel = wr_doctor_kernel(d);
    struct rlimit lim;
    char buf[32];

    if (!has_limit(RLIMIT_MEMLOCK, &lim, f))
        return;
    wr_observed(f, "%s",
                wr_format_bytes(buf, sizeof(buf), (double)lim.rlim_cur));
    if (!kernel || kernel >= KERNEL_UNLOCKED || lim.rlim_cur >= ENOUGH_LOCKED)
        return;
    wr_means(f, "Before Linux 5.12 the rings of io_uring count as locked "
                "memory: there is room for few of them.");
    wr_remedy(f, WR_HEALTH_LIMITED, "ulimit -l unlimited");
}

#define SELF     "/proc/self/exe" /* a file that is there and can be read */
#define BYTES    4096
#define DISABLED "/proc/sys/kernel/io_uring_disabled"

/* One read by the engine that pipelines use. */
static int read_once(struct wr_store *st, const char *leaf, weir_err *err)
{
    const struct wr_queue_config cfg = {.depth = 8, .io = WEIR_IO_URING};
    size_t cap = wr_read_cap(BYTES, false);
    struct wr_io io = {.path = leaf, .len = BYTES, .cap = cap}, *one = &io;
    struct wr_queue *q = NULL;
    int r;

    io.buf = malloc(cap);
    r = io.buf ? st->ops->queue_open(st, &cfg, &q, err)
               : wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r == 0) {
        q->ops->submit(q, &one, 1);
        q->ops->reap(q, &one, 1, /* wait= */ true);
        r = io.result < 0 ? wr_io_error(&io, SELF, err) : 0;
        q->ops->close(q);
    }
    free(io.buf);
    return r;
}

static int try_uring(weir_err *err)
{
    struct wr_store *st = NULL;
    char *leaf = NULL;
    int r = wr_store_open(SELF, &st, &leaf, err);

    if (r == 0 && leaf)
        r = read_once(st, leaf, err);
    free(leaf);
    wr_store_close(st);
    return r;
}

/* 0: for all, 1: for the privileged, 2: for nobody; before Linux 6.6: 0. */
static int disabled(const struct wr_doctor *d)
{
    char text[16];

    return wr_doctor_read(d, DISABLED, text, sizeof(text)) < 0 ? 0 : atoi(text);
}

/* From the surest reason to the least sure. */
static void explain(const struct wr_doctor *d, const weir_err *err,
                    struct wr_finding *f)
{
    bool refused = err->os_errno == EPERM || err->os_errno == ENOSYS ||
                   err->os_errno == EACCES;

    if (refused && disabled(d)) {
        wr_observed(f, "turned off: kernel.io_uring_disabled = %d",
                    disabled(d));
        wr_remedy(f, WR_HEALTH_MISSING,
                  "sudo sysctl -w kernel.io_uring_disabled=0");
    } else if (refused && wr_doctor_status(d, "Seccomp:") == 2) {
        wr_observed(f,
                    "blocked by a seccomp filter, as containers have one (%s)",
                    err->msg);
        wr_remedy(f, WR_HEALTH_MISSING,
                  "docker run --security-opt seccomp=unconfined ...");
    } else if (err->code == WEIR_ENOMEM) {
        wr_observed(f, "no memory for a ring (%s)", err->msg);
        wr_remedy(f, WR_HEALTH_MISSING, "ulimit -l unlimited");
    } else if (err->code == WEIR_EMFILE) {
        wr_observed(f, "no descriptor for a ring (%s)", err->msg);
        wr_remedy(f, WR_HEALTH_MISSING, "ulimit -n 65536");
    } else {
        wr_observed(f, "%s", err->msg);
        wr_remedy(f, WR_HEALTH_MISSING, "apt-get install " WR_DOCTOR_KERNEL);
    }
}

void wr_check_uring(const struct wr_doctor *d, struct wr_finding *f)
{
    weir_err err = {0};

    if (access(SELF, R_OK)) {
        wr_observed(f, "not tried: no '" SELF "' to read");
        wr_means(f, "Reads go through a pool of threads if it does not work.");
        wr_remedy(f, WR_HEALTH_LIMITED, "mount -t proc proc /proc");
        return;
    }
    if (try_uring(&err) == 0) {
        wr_observed(f, "works: each thread keeps many reads in flight");
        return;
    }
    explain(d, &err, f);
    wr_means(f, "Reads go through a pool of threads instead, which costs more "
                "CPU time at high depths.");
}

void wr_check_residency(const struct wr_doctor *d, struct wr_finding *f)
{
    int fd = memfd_create("weir-doctor", MFD_CLOEXEC);
    struct wr_residency r = {.means = WR_RESIDENCY_UNKNOWN};

    if (fd >= 0 && write(fd, "x", 1) == 1)
        wr_residency_of(fd, /* mincore_only= */ false, &r, NULL);
    if (fd >= 0)
        close(fd);
    if (r.means == WR_RESIDENCY_CACHESTAT) {
        wr_observed(f, "cachestat: what is cached and dirty is known");
    } else if (r.means == WR_RESIDENCY_MINCORE) {
        wr_observed(f, "mincore: what is cached is known (dirty: Linux 6.5)");
    } else {
        wr_observed(f, "not known: neither cachestat nor mincore answers");
        wr_means(f, "weir cannot verify that a cold run was cold.");
        wr_remedy(f, WR_HEALTH_MISSING,
                  "docker run --security-opt seccomp=unconfined ...");
    }
}

void wr_check_drop(const struct wr_doctor *d, struct wr_finding *f)
{
    char path[PATH_MAX];

    wr_doctor_path(d, "/proc/sys/vm/drop_caches", path, sizeof(path));
    if (faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0) {
        wr_observed(f, "allowed: cold runs are cold");
        return;
    }
    wr_observed(f, "not allowed: %s", strerror(errno));
    wr_means(f, "Cold runs drop the pages of the files that they read, and "
                "verify it; folders and inodes stay cached, so opening files "
                "is not quite cold.");
    wr_remedy(f, WR_HEALTH_LIMITED, "sudo weir cache drop --all --metadata");
}

/* The folder or the nearest one above it that exists; 0 when it can be written
 * to, else an errno. */
static int writable(const char *folder)
{
    char path[PATH_MAX];
    size_t len = strlen(folder);
    struct stat st;

    if (len >= sizeof(path))
        return ENAMETOOLONG;
    memcpy(path, folder, len + 1);
    while (stat(path, &st)) {
        char *slash = strrchr(path, '/');

        if (errno != ENOENT)
            return errno;
        if (!slash)
            memcpy(path, ".", 2);
        else
            slash[slash == path] = '\0';
    }
    if (!S_ISDIR(st.st_mode))
        return ENOTDIR;
    return faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) ? errno : 0;
}

void wr_check_index(const struct wr_doctor *d, struct wr_finding *f)
{
    const char *named = secure_getenv("WEIR_INDEX_DIR");
    char *folder = wr_index_cache_folder();
    int e = folder ? writable(folder) : 0;
    weir_err why;

    if (!folder && named) {
        wr_observed(f, "turned off: WEIR_INDEX_DIR is empty");
        wr_remedy(f, WR_HEALTH_LIMITED, "unset WEIR_INDEX_DIR");
    } else if (!folder) {
        wr_observed(f, "none: HOME is not set");
        wr_remedy(f, WR_HEALTH_LIMITED, "export WEIR_INDEX_DIR=/var/tmp/weir");
    } else if (e) {
        wr_observed(f, "cannot write to '%.150s': %s", folder, strerror(e));
        wr_remedy(f, WR_HEALTH_LIMITED, "export WEIR_INDEX_DIR=/var/tmp/weir");
    } else if (wr_index_cache_check(folder, &why) < 0) {
        wr_observed(f, "not kept: %.230s", why.msg);
        wr_remedy(f, WR_HEALTH_LIMITED, "export WEIR_INDEX_DIR=/var/tmp/weir");
    } else {
        wr_observed(f, "%.250s", folder);
    }
    if (f->health != WR_HEALTH_OK)
        wr_means(f, "Data sets are indexed each time they are opened: minutes "
                    "for a million files.");
    free(folder);
}

#define PARANOID  "/proc/sys/kernel/perf_event_paranoid"
#define SYS_ADMIN (UINT64_C(1) << 21) /* a capability: mounts tracefs */

/* A field of /proc/self/status that is written in base 16. */
static uint64_t capabilities(const struct wr_doctor *d)
{
    char text[8192];
    const char *at;

    if (wr_doctor_read(d, "/proc/self/status", text, sizeof(text)) <= 0)
        return 0;
    at = strstr(text, "CapEff:");
    return at ? strtoull(at + sizeof("CapEff:") - 1, NULL, 16) : 0;
}

void wr_check_kernel_trace(const struct wr_doctor *d, struct wr_finding *f)
{
    char text[32];

    if (wr_doctor_read(d, PARANOID, text, sizeof(text)) < 0) {
        wr_observed(f, "no perf events: weir trace --kernel does not work");
        wr_means(f, "Traces lack static programs and requests of io_uring.");
        wr_remedy(f, WR_HEALTH_LIMITED, "apt-get install " WR_DOCTOR_KERNEL);
        return;
    }
    if (capabilities(d) & SYS_ADMIN) {
        wr_observed(f, "allowed: weir trace --kernel sees static programs and "
                       "io_uring");
        return;
    }
    wr_observed(f,
                "not allowed: kernel.perf_event_paranoid = %d, and this is "
                "not root",
                atoi(text));
    wr_means(f, "weir trace works; --kernel, which sees static programs and "
                "io_uring, does not.");
    wr_remedy(f, WR_HEALTH_LIMITED, "sudo weir trace --kernel -- COMMAND");
}
