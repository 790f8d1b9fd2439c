/* beside.h - what is made beside its place, and appears there whole.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A folder or file NAME is written as `.NAME.part` in the same folder and then
 * renamed; what stood there is `.NAME.old` meanwhile. When to rename, and what
 * may be replaced, is the user's to say. */
#ifndef WR_STORAGE_BESIDE_H
#define WR_STORAGE_BESIDE_H

#include <limits.h>

#include "storage/storage.h"

struct wr_beside {
    struct wr_store *store; /* owned: the folder around it */
    char *name;             /* owned: of what is to be */
    char *part, *old;       /* owned */
};

/* Opens the folder around `url`, which must exist. Zeroed memory at first;
 * wr_beside_done ends it, also after a failure. */
int wr_beside_init(struct wr_beside *b, const char *url, weir_err *err);
void wr_beside_done(struct wr_beside *b);

/* `path` below the part, into buf of PATH_MAX bytes. */
int wr_beside_path(const struct wr_beside *b, const char *path, char *buf,
                   weir_err *err);

/* Whether a folder could be put there by a rename, which is better known before
 * the work: a file, a link or a mount point is refused. *ret_full: there is one
 * that is not empty. */
int wr_beside_check(const struct wr_beside *b, const char *url, bool *ret_full,
                    weir_err *err);

/* How a tree is removed. */
struct wr_tree_rule {
    const char *last; /* or NULL: goes last in its folder, if all else went; by
                         it the rest of a removal that was interrupted is known */
    unsigned depth; /* folders in folders: deeper ones are not ours and stay */
};

#define WR_TREE_ALL (&(const struct wr_tree_rule){NULL, UINT_MAX})

/* Removes a file, or a folder with all in it; links are removed, never followed.
 * Goes on after a failure and returns the first one. One that is not there is
 * fine. */
int wr_tree_remove(struct wr_store *st, const char *path,
                   const struct wr_tree_rule *rule, weir_err *err);

#endif
