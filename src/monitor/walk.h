/* walk.h - the regular files below some paths.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MONITOR_WALK_H
#define WR_MONITOR_WALK_H

#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

struct wr_walk {
    char **paths; /* owned, as is each */
    size_t count;
    uint64_t bytes;   /* sum of their sizes */
    uint64_t skipped; /* that could not be looked at */
    char reason[512]; /* of the first one skipped */
};

/* Collects each regular file once (by inode, in that order), symbolic links
 * followed, loops cut. A path in `roots` that cannot be looked at is a failure;
 * deeper down it counts as skipped, and a link to nothing is passed over. Free
 * with wr_walk_done. */
int wr_walk_init(struct wr_walk *ret, char *const *roots, size_t root_count,
                 weir_err *err);
void wr_walk_done(struct wr_walk *w);

#endif
