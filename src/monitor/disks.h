/* disks.h - the disks behind paths.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A path's file system lies on a disk, on a part of one, or on a device made
 * of others (device mapper, RAID): then those are listed behind it. Network
 * and memory file systems and overlays have none. */
#ifndef WR_MONITOR_DISKS_H
#define WR_MONITOR_DISKS_H

#include <stddef.h>

#define WR_DISKS_MAX 8

struct wr_disks {
    const char *sys; /* borrowed: where sysfs is; NULL: "/sys" */
    size_t count;
    char name[WR_DISKS_MAX][64]; /* as in /sys/block */
};

/* Adds a block device by its name, and what it is made of. A partition stands
 * for its disk. What is there already, not known, or does not fit is passed
 * over. */
void wr_disks_add(struct wr_disks *d, const char *name);

/* Adds what is behind a path; nothing, when that cannot be told. */
void wr_disks_add_path(struct wr_disks *d, const char *path);

/* Adds every disk that is a piece of hardware. */
void wr_disks_add_all(struct wr_disks *d);

/* The path of a file of a disk; NULL when it does not fit. */
const char *wr_disks_file(const struct wr_disks *d, size_t k, const char *file,
                          char *buf, size_t cap);

#endif
