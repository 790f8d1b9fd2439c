/* cores.c - who had the cores meanwhile: this program, others, nobody; what this one used.
 * SPDX-License-Identifier: Apache-2.0 */
#include "monitor/cores.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/procfs.h"

#define STAT_BYTES  (128 << 10) /* the lines of a thousand cores */
#define LEAST_S     0.1         /* the kernel counts in steps of 10 ms */
#define LOST_PART   0.1         /* of the cores: less is the usual noise */
#define IDLE_PART   0.15        /* more was there for the taking */
#define GOT_PART    0.9         /* of what it wanted: it had enough */
#define CGROUP_ROOT "/sys/fs/cgroup"

/* Of the cgroup and of those around it: each may have a limit of its own. */
static uint64_t throttled_ns(void)
{
    char text[4096], path[PATH_MAX], group[PATH_MAX / 2];
    uint64_t sum = 0, us;
    const struct wr_procfs_field field = {"throttled_usec", 1, &us};

    if (wr_procfs_read_path("/proc/self/cgroup", text, sizeof(text)) < 0 ||
        !wr_cgroup_path(text, "", group, sizeof(group)))
        return 0;
    for (;;) {
        char *slash = strrchr(group, '/');

        snprintf(path, sizeof(path), CGROUP_ROOT "%s/cpu.stat", group);
        if (wr_procfs_read_path(path, text, sizeof(text)) > 0 &&
            wr_procfs_fields(text, &field, 1) == 1)
            sum += us * 1000;
        if (!slash)
            return sum;
        *slash = '\0';
    }
}

static bool read_cores(struct wr_cores *to)
{
    struct wr_procfs_cores sum;
    long hz = sysconf(_SC_CLK_TCK);
    char *text = malloc(STAT_BYTES);
    cpu_set_t allowed;
    uint64_t tick_ns;
    bool ok;

    ok = text && hz > 0 && !sched_getaffinity(0, sizeof(allowed), &allowed) &&
         wr_procfs_read_path("/proc/stat", text, STAT_BYTES) > 0 &&
         wr_procfs_cores(text, &allowed, &sum);
    free(text);
    if (!ok)
        return false;
    tick_ns = WR_NS_PER_SEC / (uint64_t)hz;
    to->count = sum.count;
    to->busy_ns = sum.busy * tick_ns;
    to->stolen_ns = sum.steal * tick_ns;
    to->idle_ns = sum.idle * tick_ns;
    return true;
}

void wr_cores_now(struct wr_cores *ret)
{
    struct wr_cores n = {.at_ns = wr_clock_ns(),
                         .own_ns = wr_clock_process_cpu_ns()};

    n.known = read_cores(&n);
    if (n.known)
        n.throttled_ns = throttled_ns();
    *ret = n;
}

/* A counter may go back a little: idle time is estimated. */
static double grown(uint64_t from, uint64_t to, double seconds)
{
    return to > from ? (double)(to - from) / 1e9 / seconds : 0;
}

void wr_cores_between(const struct wr_cores *from, const struct wr_cores *to,
                      struct wr_cores_use *ret)
{
    double s = to->at_ns > from->at_ns ? (double)(to->at_ns - from->at_ns) / 1e9
                                       : 0;
    double busy;

    *ret = (struct wr_cores_use){0};
    if (!from->known || !to->known || from->count != to->count || s < LEAST_S)
        return;
    busy = grown(from->busy_ns, to->busy_ns, s);
    ret->known = true;
    ret->count = to->count;
    ret->own = grown(from->own_ns, to->own_ns, s);
    ret->others = WR_MAX(busy - ret->own, 0);
    ret->idle = grown(from->idle_ns, to->idle_ns, s);
    ret->stolen = grown(from->stolen_ns, to->stolen_ns, s);
    ret->throttled = WR_MIN(grown(from->throttled_ns, to->throttled_ns, s),
                            ret->count);
}

bool wr_cores_is_starved(const struct wr_cores_use *u, unsigned wanted)
{
    double most = wanted ? WR_MIN((double)wanted, u->count) : u->count;

    if (!u->known || u->own >= GOT_PART * most)
        return false;
    return u->throttled >= LOST_PART * u->count ||
           (u->others + u->stolen >= LOST_PART * u->count &&
            u->idle < IDLE_PART * u->count);
}

/* More than these files have: the line of a user's groups, which stands before
 * the memory, is the long one. */
#define TEXT_BYTES 65536

/* Reads the fields from `path`; 0, or a negative errno when not all are
 * there. */
static int read_fields(const char *path, const struct wr_procfs_field *fields,
                       size_t count)
{
    char text[TEXT_BYTES];
    int n = wr_procfs_read_path(path, text, sizeof(text));

    if (n < 0)
        return n;
    return wr_procfs_fields(text, fields, count) == count ? 0 : -EIO;
}

static double seconds(const struct timeval *tv)
{
    return (double)tv->tv_sec + (double)tv->tv_usec / 1e6;
}

int wr_usage_now(struct wr_usage *ret, weir_err *err)
{
    struct wr_usage u = {0};
    const struct wr_procfs_field memory[] = {
        {"VmRSS:", 1024, &u.rss_bytes}, {"VmHWM:", 1024, &u.peak_rss_bytes}};
    const struct wr_procfs_field io[] = {{"read_bytes:", 1, &u.read_bytes},
                                         {"write_bytes:", 1, &u.write_bytes}};
    struct rusage ru;

    if (getrusage(RUSAGE_SELF, &ru))
        return wr_fail_errno(err, errno, "cannot ask for the CPU time");
    /* Without /proc what is known is the most that it ever was. */
    if (read_fields("/proc/self/status", memory, WR_ARRAY_LEN(memory)) != 0)
        u.rss_bytes = u.peak_rss_bytes = (uint64_t)ru.ru_maxrss * 1024;
    u.has_io = read_fields("/proc/self/io", io, WR_ARRAY_LEN(io)) == 0;
    u.user_s = seconds(&ru.ru_utime);
    u.sys_s = seconds(&ru.ru_stime);
    u.major_faults = (uint64_t)ru.ru_majflt;
    *ret = u;
    return 0;
}

struct wr_usage wr_usage_between(const struct wr_usage *from,
                                 const struct wr_usage *to)
{
    struct wr_usage d = *to;

    d.user_s -= from->user_s;
    d.sys_s -= from->sys_s;
    d.major_faults -= from->major_faults;
    d.has_io = from->has_io && to->has_io;
    d.read_bytes = d.has_io ? to->read_bytes - from->read_bytes : 0;
    d.write_bytes = d.has_io ? to->write_bytes - from->write_bytes : 0;
    return d;
}

int wr_usage_reset_peak(weir_err *err)
{
    FILE *f = fopen("/proc/self/clear_refs", "we");
    int e;

    if (!f)
        return wr_fail_errno(err, errno, "cannot open '/proc/self/clear_refs'");
    e = fputs("5", f) < 0 || fflush(f) ? errno : 0;
    fclose(f);
    if (e)
        return wr_fail_errno(err, e, "cannot reset the peak of memory");
    return 0;
}
