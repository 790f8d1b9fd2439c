/* usage.c - what this process has used so far: CPU, memory, storage.
 * SPDX-License-Identifier: Apache-2.0 */
#include "monitor/usage.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/procfs.h"

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
