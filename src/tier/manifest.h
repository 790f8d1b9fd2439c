/* manifest.h - what a saved step consists of, with the checksums of all of it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The file MANIFEST of a step folder: one line of JSON and a line with the
 * CRC32C of the first (docs/formats/checkpoint.md). The checksums of a shard
 * are one for its head, [0, data_offset), and one for each `chunk` bytes of its
 * data. */
#ifndef WR_TIER_MANIFEST_H
#define WR_TIER_MANIFEST_H

#include <stddef.h>
#include <stdint.h>

#include "safetensors/head.h"
#include "safetensors/shard_sum.h"
#include "weir/checkpoint.h"

#define WR_MANIFEST_NAME "MANIFEST"
#define WR_MANIFEST_MAX  ((size_t)256 << 20)
#define WR_MANIFEST_ID   33 /* 32 hexadecimal digits and NUL */

struct wr_manifest {
    uint64_t step;
    uint32_t world;
    uint64_t epoch;             /* of the writer that published it first */
    char store[WR_MANIFEST_ID]; /* "": an earlier version's, as 0 below */
    uint64_t generation, seq;   /* of the writer in that store; of its saves */
    char id[WR_MANIFEST_ID];    /* random: tells two saves of one step apart */
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
