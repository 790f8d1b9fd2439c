/* shard_sum.h - the checksums of a shard, checked read by read.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_SAFETENSORS_SHARD_SUM_H
#define WR_SAFETENSORS_SHARD_SUM_H

#include <stddef.h>
#include <stdint.h>

#include "storage/storage.h"

#define WR_SHARD_NAME 32                   /* "r00007.safetensors" */
#define WR_CHUNK      ((uint32_t)4 << 20)  /* what is written */
#define WR_CHUNK_MIN  ((uint32_t)64 << 10) /* what is read: powers of 2 */
#define WR_CHUNK_MAX  ((uint32_t)64 << 20)

/* One rank's file. */
struct wr_st_shard {
    char name[WR_SHARD_NAME]; /* made from the rank */
    uint32_t rank;
    uint64_t size;        /* of the file */
    uint64_t data_offset; /* >= 8, <= size */
    uint32_t head_crc;
    uint32_t *crcs;    /* owned: wr_shard_chunks() of them */
    uint8_t *pipeline; /* owned: the pipeline's state on that rank; NULL */
    size_t pipeline_len;
};

/* How many checksums its data have. */
uint64_t wr_shard_chunks(const struct wr_st_shard *s, uint32_t chunk);
void wr_shard_done(struct wr_st_shard *s); /* leaves it zeroed */

struct wr_sum {
    const char *path;            /* borrowed; for messages */
    const struct wr_st_shard *s; /* borrowed */
    uint32_t chunk;
    uint32_t crc; /* of what was seen of the chunk that is not over */
};

/* Refuses a shard whose head cannot be. */
int wr_sum_init(struct wr_sum *m, const char *path, const struct wr_st_shard *s,
                uint32_t chunk, weir_err *err);

/* What a failed read means; 0 for a good one. WEIR_EDAMAGED: the file is
 * short. */
int wr_sum_result(const struct wr_sum *m, const struct wr_io *io,
                  weir_err *err);

/* Bytes of the file. Those of one chunk, or of the head, come in order,
 * beginning with its first. WEIR_EDAMAGED: a checksum differs. */
int wr_sum_add(struct wr_sum *m, uint64_t offset, const uint8_t *bytes,
               size_t len, weir_err *err);

#endif
