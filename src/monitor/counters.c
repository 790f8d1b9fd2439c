/* counters.c - one reading of the kernel's counters from files kept open.
 * SPDX-License-Identifier: Apache-2.0 */
#include "monitor/counters.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define TEXT_BYTES 4096 /* more than these files have */
#define LINE_BYTES 512  /* the one line that is used */

static int open_file(const char *path)
{
    return path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

void wr_counters_open(struct wr_counters *c, const struct wr_disks *disks)
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
