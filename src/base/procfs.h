/* procfs.h - what the texts of /proc and /sys say.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reading and parsing are apart: texts of other kernels and machines are
 * parsed in the tests. A text may be cut at the end of a buffer; what stands
 * in a line that is not whole is not used. */
#ifndef WR_BASE_PROCFS_H
#define WR_BASE_PROCFS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The beginning of a file that stays open, as it is now: one pread at 0, and a
 * NUL behind it. The length, or a negative errno. */
int wr_procfs_read(int fd, char *buf, size_t cap);

/* The same by its path. */
int wr_procfs_read_path(const char *path, char *buf, size_t cap);

/* A field of a "Name:  123 kB" text. */
struct wr_procfs_field {
    const char *name; /* with its colon */
    uint64_t unit;
    uint64_t *value; /* borrowed; left alone when it is not there */
};

/* How many of the fields were there. */
size_t wr_procfs_fields(const char *text, const struct wr_procfs_field *fields,
                        size_t count);

/* The first line of /proc/stat: all cores since the start, in clock ticks. */
struct wr_procfs_cpu {
    uint64_t busy; /* user, nice, system, interrupts; not what a hypervisor
                      gave to others (steal). Guests are within user. */
    uint64_t iowait;
};

bool wr_procfs_cpu(const char *text, struct wr_procfs_cpu *ret);

/* The lines of /proc/stat of some cores, in clock ticks; false when one of
 * them is missing. */
struct wr_procfs_cores {
    unsigned count;
    uint64_t busy, steal;
    uint64_t idle; /* and waiting for reads and writes */
};

bool wr_procfs_cores(const char *text, const cpu_set_t *which,
                     struct wr_procfs_cores *ret);

/* /proc/self/statm: resident pages. */
bool wr_procfs_resident(const char *text, uint64_t *ret_pages);

/* /sys/block/NAME/stat, which is the line of /proc/diskstats without its
 * names: at least 11 numbers, later kernels have 15 or 17. */
struct wr_procfs_disk {
    uint64_t reads, writes;
    uint64_t read_sectors, write_sectors; /* of 512 bytes, always */
    uint64_t busy_ms, queue_ms;           /* 32 bits wide: they wrap */
};

bool wr_procfs_disk(const char *text, struct wr_procfs_disk *ret);

/* What a counter grew; those of 32 bits may have wrapped. */
uint64_t wr_procfs_grown(uint64_t from, uint64_t to);

/* A line of /proc/self/mountinfo, which is cut up in place. */
struct wr_procfs_mount {
    const char *dev, *point, *type, *source; /* borrowed; dev: "8:1" */
};

bool wr_procfs_mount(char *line, struct wr_procfs_mount *ret);

#endif
