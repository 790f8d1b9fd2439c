/* cache_place.h - the folder of a cache: what lies in it, and who is stale.
 * SPDX-License-Identifier: Apache-2.0
 *
 *   PATH/weir-cache-UID/<16 hex digits>/map        one folder per data set
 *                                       data-0000  one file per writing process
 *
 * The store of a tier is PATH/weir-cache-UID, which nobody but this user can
 * write to (WR_STORE_PRIVATE), or PATH/weir-cache-shared, which its owner fills
 * and others read.
 */
#ifndef WR_PIPELINE_CACHE_PLACE_H
#define WR_PIPELINE_CACHE_PLACE_H

#include <stdint.h>

#include "pipeline/cache_map.h"
#include "storage/storage.h"

#define WR_PLACE_BLOCK 4096u /* what a file or folder takes is rounded to */

struct wr_cache_place {
    struct wr_store *store; /* borrowed */
    const char *root;       /* borrowed: its path, as the kernel knows it */
    unsigned share;         /* WR_STORE_GROUP, WR_STORE_ALL or 0 */
    char dir[40];           /* below the store */
};

/* The folder of all tiers at `url`, as a URL in fresh memory; NULL: none left.
 * `share` as below. */
char *wr_place_root(const char *url, unsigned share);

/* Names the folder of a data set in the store at `root` (borrowed), a URL that
 * wr_place_root made; touches nothing. */
void wr_place_init(struct wr_cache_place *p, struct wr_store *st,
                   const char *root, unsigned share,
                   const struct wr_cache_map_id *id);

/* Makes the folder where it is missing. */
int wr_place_make(const struct wr_cache_place *p, weir_err *err);

/* Path of a data file below the store, and of the map for the kernel. */
void wr_place_segment(const struct wr_cache_place *p, unsigned segment,
                      char *buf, size_t cap);
int wr_place_map_path(const struct wr_cache_place *p, char *buf, size_t cap,
                      weir_err *err);

/* Sizes of the data files, UINT64_MAX where there is none. */
int wr_place_sizes(const struct wr_cache_place *p,
                   uint64_t sizes[WR_CACHE_MAP_SEGMENTS], weir_err *err);
int wr_place_remove_segment(const struct wr_cache_place *p, unsigned segment,
                            weir_err *err);

/* Removes the folders of data sets that have our name but another fingerprint
 * and are held by nobody; *ret_bytes is what all others take. */
int wr_place_sweep(const struct wr_cache_place *p,
                   const struct wr_cache_map_id *id, uint64_t *ret_bytes,
                   weir_err *err);

#endif
