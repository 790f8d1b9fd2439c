/* index_cache.h - where index files live, and when they are true.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing here fails: whatever is wrong with a side file or its folder, the
 * data set is indexed as if there were none. */
#ifndef WR_FORMAT_INDEX_CACHE_H
#define WR_FORMAT_INDEX_CACHE_H

#include "format/format.h"

/* The place of one data set's index. Zeroed memory is none; end it with
 * wr_index_cache_done. */
struct wr_index_cache {
    char *folder;      /* owned; NULL: no side file for this data set */
    char *key;         /* owned: what the data set is called */
    char file[32];     /* name in the folder */
    bool named;        /* the folder was named by somebody */
    uint64_t began_ns; /* when indexing began: monotonic, */
    uint64_t wall_ns;  /* and since 1970 */
};

/* The folder that is used when a program names none: fresh memory, or NULL when
 * WEIR_INDEX_DIR is empty or no folder is known. It need not exist. */
char *wr_index_cache_folder(void);

/* Finds the place: for local files only, unless it is forbidden. Looks at
 * job->store, leaf_store, leaf and cfg. */
void wr_index_cache_init(struct wr_index_cache *c,
                         const struct wr_index_job *job);

/* The index that is kept there, if it is whole and nothing changed since:
 * true, *ret is the caller's. */
bool wr_index_cache_load(const struct wr_index_cache *c, struct wr_store *store,
                         struct wr_index **ret,
                         const struct wr_format_ops **ret_format);

/* Keeps an index that was just built, where that is worth it and can be
 * relied on; true if it did. */
bool wr_index_cache_save(const struct wr_index_cache *c,
                         const struct wr_index *ix, const char *format);

void wr_index_cache_done(struct wr_index_cache *c);

#endif
