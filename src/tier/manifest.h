/* manifest.h - what a saved step consists of, with the checksums of all of it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The file MANIFEST of a step folder: one line of JSON and a line with the
 * CRC32C of the first (docs/formats/checkpoint.md). The checksums of a shard
 * are one for its head, [0, data_offset), and one for each `chunk` bytes of its
 * data. */
#ifndef WR_TIER_MANIFEST_H
#define WR_TIER_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "safetensors/head.h"
#include "safetensors/shard_sum.h"
#include "weir/checkpoint.h"

#define WR_MANIFEST_NAME "MANIFEST"
#define WR_MANIFEST_MAX  ((size_t)256 << 20)
#define WR_MANIFEST_ID   33 /* 32 hexadecimal digits and NUL */

/* A save among all saves of a store: they are counted, not timed. */
struct wr_ordinal {
    uint64_t generation; /* opening for saving; 0: an earlier version's */
    char nonce[WR_MANIFEST_ID]; /* random, of that opening: tells two apart that
                                   got the same number, because the tier that
                                   counts was restored from a backup; "": an
                                   earlier version's */
    uint64_t seq;               /* saves of that writer, from 1 */
    uint64_t part;              /* seq of the first save since the writer last
                                   went back; 0: an earlier version's */
    uint64_t step;
};

struct wr_manifest {
    uint64_t step;
    uint32_t world;
    uint64_t epoch;             /* of the writer that published it first */
    char store[WR_MANIFEST_ID]; /* "": an earlier version's, as 0 below */
    struct wr_ordinal turn;     /* its step is `step` */
    bool continues;             /* `from` is known */
    struct wr_ordinal
        from; /* the save that the run restored, or went on from */
    char id[WR_MANIFEST_ID]; /* random: tells two saves of one step apart */
    uint64_t time_ns;
    uint32_t chunk;
    struct wr_st_shard *shards;  /* owned: `world`, by rank */
    struct wr_st_pair *metadata; /* owned */
    size_t metadata_count;
    char *text; /* owned: as it was read from a step; NULL */
    size_t text_len;
};

/* "r00007.safetensors" */
void wr_shard_name(uint32_t rank, char ret[WR_SHARD_NAME]);

/* Refuses what is damaged (WEIR_EDAMAGED: the checksum) or no manifest
 * (WEIR_EFORMAT); messages say "'NAME': ...". */
int wr_manifest_parse(const char *text, size_t len, const char *name,
                      struct wr_manifest *ret, weir_err *err);
/* NUL-terminated fresh memory (free()); NULL when memory is short. Parses to
 * the same manifest. */
char *wr_manifest_text(const struct wr_manifest *m, size_t *ret_len);
/* The same, but as it was read from a step, where it was: with what this program
 * does not know. For copies. */
char *wr_manifest_as_read(const struct wr_manifest *m, size_t *ret_len);
void wr_manifest_done(struct wr_manifest *m); /* leaves it zeroed */

/* The same for one shard, for sending it to rank 0. */
int wr_shard_parse(const char *text, size_t len, uint32_t chunk,
                   struct wr_st_shard *ret, weir_err *err);
char *wr_shard_text(const struct wr_st_shard *s, uint32_t chunk,
                    size_t *ret_len);

/* Bytes of all shards. */
uint64_t wr_manifest_bytes(const struct wr_manifest *m);

/* A new random id. */
void wr_manifest_new_id(char ret[WR_MANIFEST_ID]);

#endif
