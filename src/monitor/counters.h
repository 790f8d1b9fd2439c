/* counters.h - one reading of the kernel's counters from files kept open.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MONITOR_COUNTERS_H
#define WR_MONITOR_COUNTERS_H

#include "monitor/disks.h"
#include "base/procfs.h"

/* The files; -1 where the kernel does not have it or does not let us. */
struct wr_counters {
    int stat, meminfo; /* of the machine */
    int statm, io;     /* of the process */
    int disk[WR_DISKS_MAX];
    size_t disk_count;
    uint64_t taken_bytes; /* by reading these files */
};

void wr_counters_open(struct wr_counters *c, const struct wr_disks *disks);
void wr_counters_close(struct wr_counters *c);

/* Of this process and the disks. What is not known is marked by has_*. */
struct wr_counters_own {
    uint64_t at_ns; /* wr_clock_ns */
    uint64_t cpu_ns, major_faults;
    bool has_rss, has_io;
    uint64_t rss_bytes;
    uint64_t asked_bytes; /* without taken_bytes */
    uint64_t read_bytes, write_bytes;
    bool has_disk[WR_DISKS_MAX];
    struct wr_procfs_disk disk[WR_DISKS_MAX];
};

void wr_counters_read_own(struct wr_counters *c, struct wr_counters_own *ret);

/* Of the whole machine: for these the kernel visits every core, which takes
 * milliseconds where there are hundreds. */
struct wr_counters_machine {
    uint64_t at_ns;
    bool has_cpu, has_memory;
    struct wr_procfs_cpu cpu;
    uint64_t page_cache_bytes, dirty_bytes;
};

void wr_counters_read_machine(struct wr_counters *c,
                              struct wr_counters_machine *ret);

#endif
