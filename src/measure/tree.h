/* tree.h - folders that measuring made: removal; whose a folder is.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_MEASURE_TREE_H
#define WR_MEASURE_TREE_H

#include "storage/storage.h"

/* Whether all in the folder has names that a probe gives. */
bool wr_probe_tree_is_ours(struct wr_store *st, const char *folder);

/* Removes a folder and all in it, folders in folders too. Goes on after a
 * failure and returns the first one. */
int wr_tree_remove(struct wr_store *st, const char *folder, weir_err *err);

#endif
