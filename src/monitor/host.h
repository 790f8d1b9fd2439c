/* host.h - the machine, the file system a run was made on, and its disks.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MONITOR_HOST_H
#define WR_MONITOR_HOST_H

#include <stdint.h>
#include <stddef.h>

#include "weir/error.h"

/* Texts are "" where the system does not tell. */
struct wr_host {
    char name[256];
    char kernel[256]; /* "Linux 6.1.0-13-amd64 x86_64" */
    char cpu[256];    /* model name */
    unsigned cores;   /* this process may run on */
    uint64_t memory_bytes;
};

void wr_host_info(struct wr_host *ret);

struct wr_host_fs {
    char type[64];    /* "ext4", "nfs4", "overlay" */
    char mount[256];  /* where it is mounted */
    char source[256]; /* "/dev/sda1", "server:/export" */
    char device[64];  /* the disk behind it: "sda", "nvme0n1"; "" for none */
    char model[64];   /* of the disk */
    int rotational;   /* 1 a spinning disk, 0 not, -1 not known */
};

/* The file system that holds `path`, which must exist. */
int wr_host_fs_of(const char *path, struct wr_host_fs *ret, weir_err *err);

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
