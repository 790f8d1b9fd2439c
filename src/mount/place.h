/* place.h - the source and the mount point: checks, and what is mounted.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MOUNT_PLACE_H
#define WR_MOUNT_PLACE_H

#include <limits.h>
#include <stdbool.h>

#include "weir/error.h"

struct wr_place {
    char source[PATH_MAX], mountpoint[PATH_MAX]; /* without links, absolute */
};

/* Both must be folders, the mount point empty (unless `force`) and neither
 * the source nor inside it. */
int wr_place_find(struct wr_place *ret, const char *source,
                  const char *mountpoint, bool force, weir_err *err);

/* The absolute path of a mount point, also of one whose server is dead. */
int wr_place_resolve(const char *mountpoint, char ret[PATH_MAX], weir_err *err);

/* Whether weir has something mounted at the absolute path. */
bool wr_place_is_mounted(const char *mountpoint);

/* Takes the file system away from the absolute path: by the system call, or
 * by fusermount3 for those who are not root. `lazy`: also when it is in use.
 * Returns 0 or a negative errno; -EBUSY when it is in use. */
int wr_place_unmount(const char *mountpoint, bool lazy);

#endif
