/* mount.h - an emulated device as a file system, served by this process.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Open mounts it and serves it from threads of its own until it is unmounted,
 * by wr_mount_end or from outside. Open forks for a moment to measure its own
 * mount, so it must be called while the process has one thread. A build
 * without libfuse3 has it all, but opening and removing fail and say so. */
#ifndef WR_MOUNT_MOUNT_H
#define WR_MOUNT_MOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/device.h"
#include "weir/error.h"

struct wr_mount_config {
    const char *source, *mountpoint;         /* borrowed */
    const struct wr_device_profile *profile; /* borrowed */
    unsigned threads;                        /* that receive; 0: a default */
    bool read_only;
    bool allow_other; /* users other than the one who mounts, who is not root */
    bool force;       /* the mount point need not be empty */
    bool compensate;  /* answers leave earlier by what the mount costs */
};

/* What was found out when it was mounted. */
struct wr_mount_facts {
    uint64_t floor_ns; /* round trip of a request that is answered at once */
    uint64_t cost_ns;  /* what a request that waits costs besides; 0: not
                          measured */
    bool readahead_wanted, readahead_set;
    uint64_t readahead_bytes; /* that the kernel reads ahead; 0: unknown */
};

struct wr_mount_stats {
    uint64_t reads, writes, others; /* requests */
    uint64_t read_bytes, write_bytes;
};

struct wr_mount;

/* Why this build cannot mount, or NULL when it can. */
const char *wr_mount_missing(void);

int wr_mount_open(const struct wr_mount_config *cfg, struct wr_mount **ret,
                  weir_err *err);

void wr_mount_facts(const struct wr_mount *m, struct wr_mount_facts *ret);
void wr_mount_stats(const struct wr_mount *m, struct wr_mount_stats *ret);

/* Readable (poll) when the file system was unmounted and nobody uses it. */
int wr_mount_event(const struct wr_mount *m);

/* Unmounts. True when nobody uses it any more; else it is out of sight, and
 * served until wr_mount_event says that the last user left, or until close. */
bool wr_mount_end(struct wr_mount *m);

/* Ends serving: what is still open gives errors from here on. Takes NULL. */
void wr_mount_close(struct wr_mount *m);

/* Unmounts what another process serves; `lazy`: also when it is in use. */
int wr_mount_remove(const char *mountpoint, bool lazy, weir_err *err);

#endif
