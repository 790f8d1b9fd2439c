/* stage_tree.h - looking at whole folders.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CONVERT_STAGE_TREE_H
#define WR_CONVERT_STAGE_TREE_H

#include <stdbool.h>

#include "storage/storage.h"

/* Whether a folder holds nothing but names that begin so; holds the job file
 * that says that it may be removed. */
bool wr_stage_tree_has_only(struct wr_store *st, const char *path,
                            const char *begin);
bool wr_stage_tree_is_ours(struct wr_store *st, const char *path);

#endif
