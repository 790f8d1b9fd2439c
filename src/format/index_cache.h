/* index_cache.h - where index files live, and when they are true.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing here fails: whatever is wrong with a side file or its folder, the
 * data set is indexed as if there were none. A folder that was named may be one
 * that everybody can write to: what lies there is believed if it is ours
 * (base/own.h), and each user has files of their own. */
#ifndef WR_FORMAT_INDEX_CACHE_H
#define WR_FORMAT_INDEX_CACHE_H

#include "format/format.h"

/* The place of one data set's index. Zeroed memory is none; end it with
 * wr_index_cache_done. */
struct wr_index_cache {
    char *folder;      /* owned; NULL: no side file for this data set */
    char *key;         /* owned: what the data set is called */
    char file[48];     /* name in the folder */
    bool named;        /* the folder was named by somebody */
    weir_err strange;  /* code: what is there is not ours, it says whose */
    uint64_t began_ns; /* when indexing began: monotonic, */
    uint64_t wall_ns;  /* and since 1970 */
};

/* The folder that is used when a program names none: fresh memory, or NULL when
 * WEIR_INDEX_DIR is empty or no folder is known. It need not exist. */
char *wr_index_cache_folder(void);

/* Whether indexes may be kept in that folder, as far as it exists: one in the
 * user's home must be ours, and the folders on the way to it, or WEIR_EACCES. */
int wr_index_cache_check(const char *folder, weir_err *err);

/* Finds the place: for local files only, unless it is forbidden. Looks at
 * job->store, leaf_store, leaf and cfg. */
void wr_index_cache_init(struct wr_index_cache *c,
                         const struct wr_index_job *job);

/* The index that is kept there, if it is ours and whole and nothing changed
 * since: true, *ret is the caller's. */
bool wr_index_cache_load(struct wr_index_cache *c, struct wr_store *store,
                         struct wr_index **ret,
                         const struct wr_format_ops **ret_format);

/* Keeps an index that was just built, where that is worth it and can be
 * relied on; true if it did. */
bool wr_index_cache_save(const struct wr_index_cache *c,
                         const struct wr_index *ix, const char *format);

void wr_index_cache_done(struct wr_index_cache *c);

#endif
