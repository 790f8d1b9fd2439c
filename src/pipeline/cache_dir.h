/* cache_dir.h - a tier in a folder, shared by the processes of a machine.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each process appends to a data file of its own and reads those of all;
 * the map (cache_map.h) says where a sample lies and how much is used. */
#ifndef WR_PIPELINE_CACHE_DIR_H
#define WR_PIPELINE_CACHE_DIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/cache.h"

struct wr_cache_dir;

/* A folder, as it is given. */
struct wr_cache_folder {
    const char *url; /* borrowed: of the store, from wr_place_root */
    uint64_t budget;
    unsigned share; /* WR_STORE_GROUP, WR_STORE_ALL or 0 */
};

/* Takes the store over, also when it fails;
 * `cfg->spec` is not looked at. A tier that other processes hold and that is
 * not what it should be is opened, but off. */
int wr_cache_dir_open(struct wr_cache_dir **ret, struct wr_store *st,
                      const struct wr_cache_folder *at,
                      const struct wr_cache_config *cfg, weir_err *err);
void wr_cache_dir_close(struct wr_cache_dir *d); /* takes NULL */

struct wr_store *wr_cache_dir_store(const struct wr_cache_dir *d);

/* All below: any thread, id below `samples`. */

bool wr_cache_dir_find(struct wr_cache_dir *d, uint64_t id,
                       struct wr_cache_hit *ret);
bool wr_cache_dir_check(struct wr_cache_dir *d, uint64_t id,
                        const struct wr_cache_hit *hit, const void *bytes);
bool wr_cache_dir_has(const struct wr_cache_dir *d, uint64_t id);
bool wr_cache_dir_has_room(const struct wr_cache_dir *d, size_t len);

/* False: it is not taken. True: it is there, or somebody is about to. */
bool wr_cache_dir_put(struct wr_cache_dir *d, uint64_t id, uint32_t label,
                      const void *bytes, size_t len);

void wr_cache_dir_stats(const struct wr_cache_dir *d,
                        struct wr_cache_stats *ret);
int wr_cache_dir_error(const struct wr_cache_dir *d, weir_err *err);

#endif
