/* tree.h - whose a folder is that measuring made.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MEASURE_TREE_H
#define WR_MEASURE_TREE_H

#include "storage/beside.h"

/* Whether all in the folder has names that a probe gives. */
bool wr_probe_tree_is_ours(struct wr_store *st, const char *folder);

/* A probe that is killed while it cleans up must leave its lock, by which the
 * next one knows the rest. Deeper folders are someone else's. */
#define WR_PROBE_LOCK "lock"
#define WR_PROBE_TREE (&(const struct wr_tree_rule){WR_PROBE_LOCK, 4})

#endif
