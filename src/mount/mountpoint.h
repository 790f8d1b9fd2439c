/* mountpoint.h - the source and the mount point: checks, and what is mounted.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MOUNT_MOUNTPOINT_H
#define WR_MOUNT_MOUNTPOINT_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "weir/error.h"

struct wr_mountpoint {
    char source[PATH_MAX], mountpoint[PATH_MAX]; /* without links, absolute */
};

/* Both must be folders, the mount point empty (unless `force`) and neither
 * the source nor inside it. */
int wr_mountpoint_find(struct wr_mountpoint *ret, const char *source,
                       const char *mountpoint, bool force, weir_err *err);

/* The absolute path of a mount point, also of one whose server is dead. */
int wr_mountpoint_resolve(const char *mountpoint, char ret[PATH_MAX],
                          weir_err *err);

/* The device number of what weir has mounted at the absolute path. Returns 0,
 * -ENOENT when weir's is not what is seen there, or another negative errno when
 * it cannot be known. */
int wr_mountpoint_device(const char *mountpoint, dev_t *ret);

/* Takes the file system away from the absolute path: by the system call, or
 * by fusermount3 for those who are not root. `lazy`: also when it is in use.
 * Returns 0 or a negative errno; -EBUSY when it is in use. */
int wr_mountpoint_unmount(const char *mountpoint, bool lazy);

#endif
