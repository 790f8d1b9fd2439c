/* cache.h - tiers in front of the storage: memory, then folders.
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is put stays: nothing is evicted, so a fixed part of the data set is
 * served by the tiers in every epoch, however small they are. A tier takes
 * samples until its budget is spent; what does not fit goes to the next one.
 * A sample that lies in a folder is taken by a faster tier as well: a folder
 * that was filled by an earlier run would else keep the memory empty.
 *
 * A folder tier outlives the process and is shared by the processes of one
 * machine: an entry is published after its bytes are written, and its checksum
 * is verified when it is read, so that neither a kill nor a power cut can make
 * it lie. */
#ifndef WR_PIPELINE_CACHE_H
#define WR_PIPELINE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/storage.h"
#include "weir/pipeline.h"

#define WR_CACHE_TIERS 4

struct wr_cache;

struct wr_cache_config {
    const char *spec;    /* "ram:4GiB,/fast/dir:200GiB": fastest first, sizes as
                             wr_parse_size reads them, ram at most once;
                             behind a folder's size ":share=group" or
                             ":share=all" */
    uint64_t samples;    /* ids are below this */
    size_t sample_bytes; /* of every sample; 0: they differ (encoded) */
    uint64_t fingerprint; /* of what is cached: data set, and what was done to
                             it */
    const char *name;     /* of what is cached, or NULL: in a folder, what has
                             the same name but another fingerprint is taken
                             for an older state of it, and removed when nobody
                             holds it; so the name says, too, what was done to
                             the data set */
};

/* Where a sample lies. */
struct wr_cache_hit {
    unsigned tier;
    const uint8_t *bytes; /* in memory (borrowed until the cache is closed);
                             NULL: to be read from `object` at `offset` */
    size_t len;
    uint32_t label;
    struct wr_object *object; /* borrowed until the cache is closed */
    uint64_t offset;
    uint32_t crc; /* CRC32C of the bytes; folders only */
};

struct wr_cache_stats {
    bool is_dir;
    uint64_t hits, damaged; /* in folders hits are counted by wr_cache_check */
    uint64_t entries;
    uint64_t bytes; /* of the budget, overhead included; in a folder: of this
                       data set, by all processes */
    uint64_t budget;
};

/* Checks the text of cfg->spec alone: every tier has a name and a size. */
int wr_cache_check_spec(const char *spec, weir_err *err);

/* Opens or makes the tiers. A folder must exist; `weir-cache-UID`, or
 * `weir-cache-shared`, is made in it (cache_map.h).
 * One that may only be read is used for reading, and one that other processes
 * hold but is damaged is off; both are told by wr_cache_error. */
int wr_cache_open(struct wr_cache **ret, const struct wr_cache_config *cfg,
                  weir_err *err);
void wr_cache_close(struct wr_cache *c); /* takes NULL */

/* All below: any thread. */

bool wr_cache_find(struct wr_cache *c, uint64_t id, struct wr_cache_hit *ret);

/* To be called with the bytes that were read for a hit in a folder, or NULL
 * when they could not be read or are too many or too few; false: they are not
 * what was put (the entry is not found again, but may be put anew). */
bool wr_cache_check(struct wr_cache *c, uint64_t id,
                    const struct wr_cache_hit *hit, const void *bytes);

/* Would wr_cache_put keep a sample of `len` bytes now? Cheap: to be asked
 * before the bytes are made. Ask after a hit in a folder, too. */
bool wr_cache_wants(struct wr_cache *c, uint64_t id, size_t len);

/* Keeps a copy in the first tier that has room, unless it lies there or before
 * it already. Never fails: a tier that cannot be written takes nothing more
 * (wr_cache_error). `len` is sample_bytes where that is not 0. */
void wr_cache_put(struct wr_cache *c, uint64_t id, uint32_t label,
                  const void *bytes, size_t len);

unsigned wr_cache_tier_count(const struct wr_cache *c);
void wr_cache_tier_stats(const struct wr_cache *c, unsigned tier,
                         struct wr_cache_stats *ret);

/* A store (borrowed) of the kind that all folder tiers have, to open a queue
 * on; NULL: there are none. */
struct wr_store *wr_cache_store(const struct wr_cache *c);

/* Why a tier takes nothing more, though it is not full: 0, or a negative
 * WEIR_E... and *err, the first reason of the first such tier. */
int wr_cache_error(const struct wr_cache *c, weir_err *err);

#endif
