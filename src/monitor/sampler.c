/* sampler.c - what the machine did meanwhile: disks, CPU, memory, page cache.
 * SPDX-License-Identifier: Apache-2.0 */
#include "monitor/sampler.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"

#define TEXT_BYTES 4096 /* more than these files have */
#define LINE_BYTES 512  /* the one line that is used */

static int open_file(const char *path)
{
    return path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

static void counters_open(struct wr_counters *c, const struct wr_disks *disks)
{
    char path[PATH_MAX];

    *c = (struct wr_counters){.stat = open_file("/proc/stat"),
                              .meminfo = open_file("/proc/meminfo"),
                              .statm = open_file("/proc/self/statm"),
                              .io = open_file("/proc/self/io"),
                              .disk_count = disks->count};
    for (size_t k = 0; k < disks->count; k++)
        c->disk[k] = open_file(
            wr_disks_file(disks, k, "stat", path, sizeof(path)));
}

static void close_file(int fd)
{
    if (fd >= 0)
        close(fd);
}

void wr_counters_close(struct wr_counters *c)
{
    close_file(c->stat);
    close_file(c->meminfo);
    close_file(c->statm);
    close_file(c->io);
    for (size_t k = 0; k < c->disk_count; k++)
        close_file(c->disk[k]);
}

/* The text of one of the files; false when there is none. */
static bool take(struct wr_counters *c, int fd, char *text, size_t cap)
{
    int n = fd >= 0 ? wr_procfs_read(fd, text, cap) : -1;

    if (n > 0)
        c->taken_bytes += (uint64_t)n;
    return n > 0;
}

static bool read_io(struct wr_counters *c, struct wr_counters_own *to)
{
    uint64_t taken = c->taken_bytes, asked;
    char text[TEXT_BYTES];
    const struct wr_procfs_field fields[] = {
        {"rchar:", 1, &asked},
        {"read_bytes:", 1, &to->read_bytes},
        {"write_bytes:", 1, &to->write_bytes}};

    if (!take(c, c->io, text, sizeof(text)) ||
        wr_procfs_fields(text, fields, WR_ARRAY_LEN(fields)) !=
            WR_ARRAY_LEN(fields))
        return false;
    to->asked_bytes = asked - taken;
    return true;
}

void wr_counters_read_own(struct wr_counters *c, struct wr_counters_own *ret)
{
    struct wr_counters_own n = {.at_ns = wr_clock_ns(),
                                .cpu_ns = wr_clock_process_cpu_ns()};
    char line[LINE_BYTES];
    struct rusage ru;
    uint64_t pages;

    getrusage(RUSAGE_SELF, &ru);
    n.major_faults = (uint64_t)ru.ru_majflt;
    if (take(c, c->statm, line, sizeof(line)) &&
        wr_procfs_resident(line, &pages)) {
        n.has_rss = true;
        n.rss_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    }
    n.has_io = read_io(c, &n);
    for (size_t k = 0; k < c->disk_count; k++)
        n.has_disk[k] = take(c, c->disk[k], line, sizeof(line)) &&
                        wr_procfs_disk(line, &n.disk[k]);
    *ret = n;
}

static bool read_memory(struct wr_counters *c, struct wr_counters_machine *to)
{
    char text[TEXT_BYTES];
    uint64_t buffers = 0, cached = 0, dirty = 0, writeback = 0;
    const struct wr_procfs_field fields[] = {{"Buffers:", 1024, &buffers},
                                             {"Cached:", 1024, &cached},
                                             {"Dirty:", 1024, &dirty},
                                             {"Writeback:", 1024, &writeback}};

    if (!take(c, c->meminfo, text, sizeof(text)) ||
        wr_procfs_fields(text, fields, WR_ARRAY_LEN(fields)) !=
            WR_ARRAY_LEN(fields))
        return false;
    to->page_cache_bytes = buffers + cached;
    to->dirty_bytes = dirty + writeback;
    return true;
}

void wr_counters_read_machine(struct wr_counters *c,
                              struct wr_counters_machine *ret)
{
    struct wr_counters_machine n = {.at_ns = wr_clock_ns()};
    char line[LINE_BYTES];

    n.has_cpu = take(c, c->stat, line, sizeof(line)) &&
                wr_procfs_cpu(line, &n.cpu);
    n.has_memory = read_memory(c, &n);
    *ret = n;
}

#define HZ_DEFAULT   10
#define HZ_MIN       1e-6 /* its period in nanoseconds is far from 64 bits */
#define HZ_MAX       1000
#define ROWS_DEFAULT 8192
/* Of one core, for the counters of the machine: when they cost more, they are
 * read more seldom. */
#define MACHINE_SHARE 0.002

static_assert(WR_SAMPLER_DISKS == WR_DISKS_MAX, "as many as can be listed");

const char *const wr_sampler_column_names[WR_SAMPLE_COLUMNS] = {
    [WR_SAMPLE_CPU_PROCESS] = "cpu_process_cores",
    [WR_SAMPLE_CPU_MACHINE] = "cpu_machine_cores",
    [WR_SAMPLE_CPU_IOWAIT] = "cpu_iowait_cores",
    [WR_SAMPLE_RSS] = "rss_bytes",
    [WR_SAMPLE_PAGE_CACHE] = "page_cache_bytes",
    [WR_SAMPLE_DIRTY] = "dirty_bytes",
    [WR_SAMPLE_ASKED] = "asked_bytes_per_s",
    [WR_SAMPLE_DEVICE_READ] = "device_read_bytes_per_s",
    [WR_SAMPLE_DEVICE_WRITE] = "device_write_bytes_per_s",
    [WR_SAMPLE_MAJOR_FAULTS] = "major_faults_per_s",
};

const char *const wr_sampler_disk_column_names[WR_DISK_COLUMNS] = {
    [WR_DISK_READS] = "reads_per_s",
    [WR_DISK_WRITES] = "writes_per_s",
    [WR_DISK_READ_BYTES] = "read_bytes_per_s",
    [WR_DISK_WRITE_BYTES] = "write_bytes_per_s",
    [WR_DISK_QUEUE] = "queue",
    [WR_DISK_BUSY] = "busy",
};

/* Of the machine's columns, and of a disk's, which are fewer. */
static const enum wr_series_rule rules[] = {
    [0 ... WR_SAMPLE_COLUMNS - 1] = WR_SERIES_MEAN};

struct wr_sampler {
    struct wr_counters files;
    uint64_t start_ns, period_ns;
    double ticks_per_s, cores;

    /* Of the thread while it runs. */
    struct wr_counters_own own; /* the reading before */
    struct wr_counters_machine machine;
    double busy_cores, iowait_cores; /* by the two last of the machine's */
    unsigned wait; /* samples until the machine's counters are read again */
    struct wr_series series;
    struct wr_sampler_disk disks[WR_SAMPLER_DISKS];
    size_t disk_count;
    double cpu_s;

    pthread_t thread;
    bool running;         /* of the caller */
    pthread_mutex_t lock; /* guards stopping */
    pthread_cond_t wake;
    bool stopping;
};

/* --- what happened between two readings --- */

static double per_s(uint64_t from, uint64_t to, double seconds)
{
    return (double)wr_procfs_grown(from, to) / seconds;
}

/* Also says when the next one is due. */
static void read_machine(struct wr_sampler *s)
{
    const struct wr_counters_machine old = s->machine;
    struct wr_counters_machine *now = &s->machine;
    uint64_t before = wr_clock_thread_cpu_ns();
    double cost, seconds, ticks;

    wr_counters_read_machine(&s->files, now);
    cost = (double)(wr_clock_thread_cpu_ns() - before);
    s->wait = (unsigned)(cost / (double)s->period_ns / MACHINE_SHARE);
    seconds = (double)(now->at_ns - old.at_ns) / 1e9;
    if (!old.has_cpu || !now->has_cpu || seconds <= 0)
        return;
    ticks = s->ticks_per_s * seconds;
    s->busy_cores = fmin(per_s(old.cpu.busy, now->cpu.busy, ticks), s->cores);
    /* The kernel may take back what it has counted as waiting. */
    s->iowait_cores = fmin(now->cpu.iowait > old.cpu.iowait
                               ? per_s(old.cpu.iowait, now->cpu.iowait, ticks)
                               : 0,
                           s->cores);
}

static void add_machine(struct wr_sampler *s, const struct wr_counters_own *now,
                        double seconds)
{
    const struct wr_counters_own *old = &s->own;
    const struct wr_counters_machine *m = &s->machine;
    bool has_io = old->has_io && now->has_io;
    const double row[WR_SAMPLE_COLUMNS] = {
        [WR_SAMPLE_CPU_PROCESS] = per_s(old->cpu_ns, now->cpu_ns,
                                        seconds * 1e9),
        [WR_SAMPLE_CPU_MACHINE] = s->busy_cores,
        [WR_SAMPLE_CPU_IOWAIT] = s->iowait_cores,
        [WR_SAMPLE_RSS] = now->has_rss ? (double)now->rss_bytes : NAN,
        [WR_SAMPLE_PAGE_CACHE] = m->has_memory ? (double)m->page_cache_bytes
                                               : NAN,
        [WR_SAMPLE_DIRTY] = m->has_memory ? (double)m->dirty_bytes : NAN,
        [WR_SAMPLE_ASKED] = has_io ? per_s(old->asked_bytes, now->asked_bytes,
                                           seconds)
                                   : NAN,
        [WR_SAMPLE_DEVICE_READ] = has_io ? per_s(old->read_bytes,
                                                 now->read_bytes, seconds)
                                         : NAN,
        [WR_SAMPLE_DEVICE_WRITE] = has_io ? per_s(old->write_bytes,
                                                  now->write_bytes, seconds)
                                          : NAN,
        [WR_SAMPLE_MAJOR_FAULTS] = per_s(old->major_faults, now->major_faults,
                                         seconds),
    };

    wr_series_add(&s->series, (double)(now->at_ns - s->start_ns) / 1e9, row);
}

static void add_disk(struct wr_sampler *s, size_t k,
                     const struct wr_counters_own *now, double seconds)
{
    const struct wr_procfs_disk *a = &s->own.disk[k], *b = &now->disk[k];
    double row[WR_DISK_COLUMNS];

    if (s->own.has_disk[k] && now->has_disk[k]) {
        row[WR_DISK_READS] = per_s(a->reads, b->reads, seconds);
        row[WR_DISK_WRITES] = per_s(a->writes, b->writes, seconds);
        row[WR_DISK_READ_BYTES] = per_s(a->read_sectors, b->read_sectors,
                                        seconds) *
                                  512;
        row[WR_DISK_WRITE_BYTES] = per_s(a->write_sectors, b->write_sectors,
                                         seconds) *
                                   512;
        row[WR_DISK_QUEUE] = per_s(a->queue_ms, b->queue_ms, seconds * 1e3);
        row[WR_DISK_BUSY] = fmin(per_s(a->busy_ms, b->busy_ms, seconds * 1e3),
                                 1);
    } else {
        for (size_t c = 0; c < WR_DISK_COLUMNS; c++)
            row[c] = NAN;
    }
    wr_series_add(&s->disks[k].series, (double)(now->at_ns - s->start_ns) / 1e9,
                  row);
}

/* The last sample reads all, and is left out when it comes right after another:
 * what happens within milliseconds is no rate. */
static void sample(struct wr_sampler *s, bool last)
{
    struct wr_counters_own now;
    double seconds;

    wr_counters_read_own(&s->files, &now);
    seconds = (double)(now.at_ns - s->own.at_ns) / 1e9;
    if (seconds <= 0 || (last && s->series.added &&
                         now.at_ns - s->own.at_ns < s->period_ns / 4))
        return;
    if (last || !s->wait)
        read_machine(s);
    else
        s->wait--;
    add_machine(s, &now, seconds);
    for (size_t k = 0; k < s->disk_count; k++)
        add_disk(s, k, &now, seconds);
    s->own = now;
}

/* --- the thread --- */

/* The first tick that is at least half a period away: one that came late is
 * not made up for. */
static uint64_t next_tick(const struct wr_sampler *s)
{
    uint64_t gone = wr_clock_ns() - s->start_ns + s->period_ns / 2;

    return s->start_ns + (gone / s->period_ns + 1) * s->period_ns;
}

static bool wait_until(struct wr_sampler *s, uint64_t at_ns)
{
    bool stop;

    pthread_mutex_lock(&s->lock);
    while (!s->stopping && wr_clock_ns() < at_ns)
        wr_cond_wait_until(&s->wake, &s->lock, at_ns);
    stop = s->stopping;
    pthread_mutex_unlock(&s->lock);
    return !stop;
}

static void *run(void *arg)
{
    struct wr_sampler *s = arg;

    while (wait_until(s, next_tick(s)))
        sample(s, /* last= */ false);
    sample(s, /* last= */ true);
    s->cpu_s = (double)wr_clock_thread_cpu_ns() / 1e9;
    return NULL;
}

static void init_sync(struct wr_sampler *s)
{
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->wake, NULL);
}

static int init_series(struct wr_sampler *s, const struct wr_disks *disks,
                       size_t rows, weir_err *err)
{
    int r = wr_series_init(&s->series, rows, WR_SAMPLE_COLUMNS, rules, err);

    for (size_t k = 0; r == 0 && k < disks->count; k++) {
        memcpy(s->disks[k].name, disks->name[k], sizeof(s->disks[k].name));
        r = wr_series_init(&s->disks[k].series, rows, WR_DISK_COLUMNS, rules,
                           err);
        s->disk_count += r == 0;
    }
    return r;
}

/* The first reading, which the others are compared with. */
static void begin(struct wr_sampler *s)
{
    long ticks = sysconf(_SC_CLK_TCK), cores = sysconf(_SC_NPROCESSORS_ONLN);

    s->ticks_per_s = ticks > 0 ? (double)ticks : 100;
    s->cores = cores > 0 ? (double)cores : 1;
    s->busy_cores = s->iowait_cores = NAN;
    wr_counters_read_own(&s->files, &s->own);
    read_machine(s);
    s->wait = 0; /* a rate is known from the first sample on */
    s->start_ns = s->own.at_ns;
}

int wr_sampler_start(const struct wr_sampler_config *cfg,
                     struct wr_sampler **ret, weir_err *err)
{
    double hz = cfg->hz == 0 ? HZ_DEFAULT : cfg->hz;
    struct wr_disks disks = {0};
    struct wr_sampler *s;
    int r;

    if (!(hz >= HZ_MIN && hz <= HZ_MAX))
        return wr_fail(err, WEIR_EINVAL,
                       "%g samples a second is not between %g and %d", hz,
                       HZ_MIN, HZ_MAX);
    for (size_t k = 0; k < cfg->path_count; k++)
        wr_disks_add_path(&disks, cfg->paths[k]);
    if (!cfg->path_count)
        wr_disks_add_all(&disks);
    s = calloc(1, sizeof(*s));
    if (!s)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    s->period_ns = (uint64_t)(1e9 / hz);
    init_sync(s);
    counters_open(&s->files, &disks);
    r = init_series(s, &disks, cfg->max_rows ? cfg->max_rows : ROWS_DEFAULT,
                    err);
    if (r == 0) {
        begin(s);
        r = wr_thread_start(&s->thread, "weir-monitor", run, s, err);
        s->running = r == 0;
    }
    if (r < 0) {
        wr_sampler_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

uint64_t wr_sampler_start_ns(const struct wr_sampler *s)
{
    return s->start_ns;
}

void wr_sampler_stop(struct wr_sampler *s)
{
    if (!s || !s->running)
        return;
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    s->running = false;
}

const struct wr_series *wr_sampler_machine(const struct wr_sampler *s)
{
    return &s->series;
}

size_t wr_sampler_disk_count(const struct wr_sampler *s)
{
    return s->disk_count;
}

const struct wr_sampler_disk *wr_sampler_disk(const struct wr_sampler *s,
                                              size_t k)
{
    return &s->disks[k];
}

double wr_sampler_cpu_s(const struct wr_sampler *s)
{
    return s->cpu_s;
}

void wr_sampler_free(struct wr_sampler *s)
{
    if (!s)
        return;
    wr_sampler_stop(s);
    wr_counters_close(&s->files);
    wr_series_done(&s->series);
    for (size_t k = 0; k < s->disk_count; k++)
        wr_series_done(&s->disks[k].series);
    pthread_cond_destroy(&s->wake);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
