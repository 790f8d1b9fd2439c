/* beside.h - what is made beside its place, and appears there whole.
 * SPDX-License-Identifier: Apache-2.0
 *
 * First folders, in any storage, then single files that the user names.
 *
 * A folder or file NAME is written as `.NAME.part` in the same folder and then
 * renamed; what stood there is `.NAME.old` meanwhile. When to rename, and what
 * may be replaced, is the user's to say.
 *
 * Others may write to that folder, and put things of their own where the part
 * and the old one are expected. So no link in it is followed, a part is for this
 * user alone until it is complete, and one that is found must be ours. */
#ifndef WR_STORAGE_BESIDE_H
#define WR_STORAGE_BESIDE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "storage/storage.h"

struct wr_beside {
    struct wr_store *store;  /* owned: the folder around it, WR_STORE_OWN */
    struct wr_store *inside; /* owned: the part, WR_STORE_MINE; NULL before it
                                is made or entered */
    char *parent;            /* owned: URL of the folder around it */
    char *name;              /* owned: of what is to be */
    char *part, *old;        /* owned */
};

/* Opens the folder around `url`, which must exist. Zeroed memory at first;
 * wr_beside_done ends it, also after a failure. */
int wr_beside_init(struct wr_beside *b, const char *url, weir_err *err);
void wr_beside_done(struct wr_beside *b);

/* Makes the part, a folder (WEIR_EEXIST: something is there), or takes one that
 * is there (WEIR_ENOENT: it is missing; WEIR_EACCES: it is not ours). */
int wr_beside_make(struct wr_beside *b, weir_err *err);
int wr_beside_enter(struct wr_beside *b, weir_err *err);

/* Before the part is renamed: gives it the mode of any other folder. */
int wr_beside_share(struct wr_beside *b, weir_err *err);

/* Whether what a run that was killed may have left is ours: WEIR_EACCES when it
 * is another user's. What is missing is fine. */
int wr_beside_check_owner(const struct wr_beside *b, const char *name,
                          weir_err *err);

/* A path that the kernel knows for an entry of the folder around it, for what
 * the user has named; false: there is none. */
bool wr_beside_local_path(const struct wr_beside *b, const char *name,
                          char *buf, size_t cap);

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

/* --- files --- */

/* What is written. */
struct wr_whole {
    int (*print)(const void *arg, FILE *out, weir_err *err);
    const void *arg;
    bool (*stopped)(void); /* asked before the file appears; may be NULL:
                              WEIR_ECANCELED and no file */
    bool private; /* for this user alone (0600), not as the umask says */
};

/* Writes beside `path` and renames it there. What is no plain file
 * (/dev/stdout, a pipe, a link) is written to in place; a link of another user
 * is refused. */
int wr_whole_write(const char *path, const struct wr_whole *what,
                   weir_err *err);

/* The same below an open folder, at a name that weir chose: whatever has that
 * name, a link as well, is replaced and never written to. */
int wr_whole_write_in(int folder, const char *name, const struct wr_whole *what,
                      weir_err *err);

/* Whether it could be written now; nothing is changed, nothing left behind. */
int wr_whole_check(const char *path, weir_err *err);

#endif
