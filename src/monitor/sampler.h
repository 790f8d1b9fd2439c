/* sampler.h - what the machine did meanwhile: disks, CPU, memory, page cache.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A thread reads the kernel's counters (by default ten times a second) and
 * keeps what happened between two readings in a series of fixed memory. Files
 * of /proc stay open; one reading costs tens of microseconds. What the kernel
 * does not tell is NaN. */
#ifndef WR_MONITOR_SAMPLER_H
#define WR_MONITOR_SAMPLER_H

#include "base/series.h"
#include "monitor/host.h"
#include "base/procfs.h"

#define WR_SAMPLER_DISKS 8

/* Columns of the machine's series. */
enum wr_sampler_column {
    WR_SAMPLE_CPU_PROCESS,  /* cores that this process kept busy */
    WR_SAMPLE_CPU_MACHINE,  /* cores busy in all */
    WR_SAMPLE_CPU_IOWAIT,   /* cores idle while a read or write waited */
    WR_SAMPLE_RSS,          /* bytes */
    WR_SAMPLE_PAGE_CACHE,   /* bytes of the machine's page cache */
    WR_SAMPLE_DIRTY,        /* bytes of it not yet written */
    WR_SAMPLE_ASKED,        /* bytes/s that the process read by system calls
                               (reads by io_uring are not counted by Linux) */
    WR_SAMPLE_DEVICE_READ,  /* bytes/s it caused to be read from devices */
    WR_SAMPLE_DEVICE_WRITE, /* bytes/s it caused to be written */
    WR_SAMPLE_MAJOR_FAULTS, /* per second */
    WR_SAMPLE_COLUMNS
};

/* Columns of a disk's series. */
enum wr_sampler_disk_column {
    WR_DISK_READS,       /* per second */
    WR_DISK_WRITES,      /* per second */
    WR_DISK_READ_BYTES,  /* per second */
    WR_DISK_WRITE_BYTES, /* per second */
    WR_DISK_QUEUE,       /* requests in it, mean */
    WR_DISK_BUSY,        /* part of the time, 0..1 */
    WR_DISK_COLUMNS
};

struct wr_sampler_config {
    const char *const *paths; /* borrowed during the call: the disks behind
                                 these are watched; none: all real disks */
    size_t path_count;
    double hz;       /* 0: 10 */
    size_t max_rows; /* of each series, 0: 8192 */
};

struct wr_sampler_disk {
    char name[64]; /* "sda" */
    struct wr_series series;
};

/* Names for records and headings: "cpu_process_cores", "read_bytes_per_s". */
extern const char *const wr_sampler_column_names[WR_SAMPLE_COLUMNS];
extern const char *const wr_sampler_disk_column_names[WR_DISK_COLUMNS];

struct wr_sampler;

int wr_sampler_start(const struct wr_sampler_config *cfg,
                     struct wr_sampler **ret, weir_err *err);

/* The 0 of the time axis of the series, by wr_clock_ns. */
uint64_t wr_sampler_start_ns(const struct wr_sampler *s);

/* Takes a last sample and ends the thread. Takes NULL; may be called twice. */
void wr_sampler_stop(struct wr_sampler *s);

/* After the stop. */
const struct wr_series *wr_sampler_machine(const struct wr_sampler *s);
size_t wr_sampler_disk_count(const struct wr_sampler *s);
const struct wr_sampler_disk *wr_sampler_disk(const struct wr_sampler *s,
                                              size_t k);
double wr_sampler_cpu_s(const struct wr_sampler *s); /* used by its thread */

void wr_sampler_free(struct wr_sampler *s);

/* The files; -1 where the kernel does not have it or does not let us. */
struct wr_counters {
    int stat, meminfo; /* of the machine */
    int statm, io;     /* of the process */
    int disk[WR_DISKS_MAX];
    size_t disk_count;
    uint64_t taken_bytes; /* by reading these files */
};

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
