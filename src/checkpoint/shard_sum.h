/* shard_sum.h - the checksums of a shard, checked read by read.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CHECKPOINT_SHARD_SUM_H
#define WR_CHECKPOINT_SHARD_SUM_H

#include "checkpoint/manifest.h"
#include "storage/storage.h"

struct wr_sum {
    const char *path;         /* borrowed; for messages */
    const struct wr_shard *s; /* borrowed */
    uint32_t chunk;
    uint32_t crc; /* of what was seen of the chunk that is not over */
};

/* Refuses a shard whose head cannot be. */
int wr_sum_init(struct wr_sum *m, const char *path, const struct wr_shard *s,
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
