/* cache_ram.h - the tier in memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One range of addresses as large as the budget, of which memory is touched
 * only as samples come: a table of one word per sample, then the samples one
 * after another. Finding takes no lock.
 *
 * All tiers in memory of a process have one budget, the largest of theirs; those
 * of one size that keep the same samples (cfg->name and fingerprint) have them
 * once. */
#ifndef WR_PIPELINE_CACHE_RAM_H
#define WR_PIPELINE_CACHE_RAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/cache.h"

struct wr_cache_ram;

/* The names of the errors are the caller's to add. */
int wr_cache_ram_open(struct wr_cache_ram **ret, uint64_t budget,
                      const struct wr_cache_config *cfg, weir_err *err);
void wr_cache_ram_close(struct wr_cache_ram *r); /* takes NULL */

/* All below: any thread, id below `samples`. */

bool wr_cache_ram_find(struct wr_cache_ram *r, uint64_t id,
                       struct wr_cache_hit *ret);
bool wr_cache_ram_has(const struct wr_cache_ram *r, uint64_t id);
bool wr_cache_ram_has_room(const struct wr_cache_ram *r, size_t len);

/* False: no room. True: it is there, or another thread is about to put it. */
bool wr_cache_ram_put(struct wr_cache_ram *r, uint64_t id, uint32_t label,
                      const void *bytes, size_t len);

void wr_cache_ram_stats(const struct wr_cache_ram *r,
                        struct wr_cache_stats *ret);

#endif
