/* cache_map.h - the map of a folder tier: which sample lies where.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file that every process maps and changes by atomics; docs/formats/cache.md
 * is its layout. Who uses it holds a shared lock on it; who holds it alone may
 * mend it or make it anew. An entry goes empty -> writing -> ready, and back to
 * empty when it was found damaged; what it points at is never written again. */
#ifndef WR_PIPELINE_CACHE_MAP_H
#define WR_PIPELINE_CACHE_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/storage.h"
#include "weir/error.h"

#define WR_CACHE_MAP_SEGMENTS 1024u /* data files, at most */
#define WR_CACHE_MAP_HEADER   4096u
#define WR_CACHE_MAP_ALIGN    64u /* of offsets */

/* The first WR_CACHE_MAP_HEADER bytes of the file. */
struct wr_cache_map_header {
    uint8_t magic[8];
    uint32_t version, entry_bytes;
    uint64_t fingerprint, samples, sample_bytes;
    uint64_t budget; /* when it was made; for people */
    uint64_t name_hash;
    char name[256]; /* for people; cut */
    uint8_t reserved[3716];
    uint32_t crc;             /* of all before; what follows changes */
    _Atomic uint64_t used;    /* bytes of budget that the data files take */
    _Atomic uint64_t entries; /* that are ready */
    uint8_t rest[48];
};

struct wr_cache_map_entry {
    _Atomic uint64_t word; /* state, data file, offset */
    _Atomic uint32_t len, label;
    _Atomic uint32_t crc;  /* of the sample's bytes */
    _Atomic uint32_t self; /* CRC32C of this entry and its id */
};

/* What a map must say of itself to be ours. */
struct wr_cache_map_id {
    uint64_t fingerprint, samples, sample_bytes;
    uint64_t budget;
    const char *name; /* borrowed */
};

/* Where a sample lies, and what it is. */
struct wr_spot {
    uint64_t word; /* as found; for wr_cache_map_reset */
    unsigned segment;
    uint64_t offset;
    uint32_t len, label, crc;
};

enum wr_cache_map_hold { WR_CACHE_MAP_SHARED, WR_CACHE_MAP_ALONE };

struct wr_cache_map {
    int fd;
    struct wr_cache_map_header *head;   /* owned: the mapping */
    struct wr_cache_map_entry *entries; /* borrowed from it */
    size_t size;
    uint64_t samples;
    bool read_only; /* another's: a copy of the file, changes stay here. Who
                       may write to a mapped file could cut it, and kill this
                       process */
};

/* Bytes of the file for that many samples; false: too many. */
bool wr_cache_map_bytes(uint64_t samples, size_t *ret);

/* Opens or makes the file at `path`, which must be ours (base/own.h; `share`:
 * WR_OWN_GROUP, WR_OWN_ALL or 0), and locks it: alone when nobody else has it.
 * The content is not looked at; *m is to be closed. */
int wr_cache_map_lock(struct wr_cache_map *m, const char *path, unsigned share,
                      enum wr_cache_map_hold *ret, weir_err *err);
void wr_cache_map_close(struct wr_cache_map *m);

/* Maps a file that is what `id` says; WEIR_EFORMAT: it is not. */
int wr_cache_map_load(struct wr_cache_map *m, const struct wr_cache_map_id *id,
                      enum wr_cache_map_hold hold, weir_err *err);
/* Makes it anew, empty, and maps it; only when held alone. */
int wr_cache_map_make(struct wr_cache_map *m, const struct wr_cache_map_id *id,
                      weir_err *err);

/* From alone to shared. Others may have come in between: look again whether
 * it is still there. */
int wr_cache_map_share(struct wr_cache_map *m, weir_err *err);
/* Is it still the file at `path`? Not when it was removed before the lock. */
bool wr_cache_map_is_at(const struct wr_cache_map *m, const char *path);

/* Whose map are these WR_CACHE_MAP_HEADER bytes? False: they are none. */
bool wr_cache_map_peek(const void *bytes, uint64_t *ret_fingerprint,
                       uint64_t *ret_name_hash);

/* --- entries; any thread --- */

enum wr_cache_map_state {
    WR_CACHE_MAP_EMPTY,
    WR_CACHE_MAP_WRITING,
    WR_CACHE_MAP_READY,
    WR_CACHE_MAP_BROKEN, /* it contradicts itself */
};

/* *ret is filled when READY; only the word when BROKEN. */
enum wr_cache_map_state wr_cache_map_read(const struct wr_cache_map *m,
                                          uint64_t id, struct wr_spot *ret);
/* Not empty, whatever else. */
bool wr_cache_map_has(const struct wr_cache_map *m, uint64_t id);
/* Empty -> writing; false: it was not empty. */
bool wr_cache_map_claim(struct wr_cache_map *m, uint64_t id);
/* Writing -> ready, or back to empty. */
void wr_cache_map_publish(struct wr_cache_map *m, uint64_t id,
                          const struct wr_spot *spot);
void wr_cache_map_release(struct wr_cache_map *m, uint64_t id);
/* Back to empty if it is still as found. */
bool wr_cache_map_reset(struct wr_cache_map *m, uint64_t id, uint64_t word);

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
