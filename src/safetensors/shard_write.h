/* shard_write.h - the file of a shard while it is being written.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_SAFETENSORS_SHARD_WRITE_H
#define WR_SAFETENSORS_SHARD_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "safetensors/shard.h"

struct wr_shard_file {
    const struct wr_shard_at *to; /* borrowed */
    struct wr_object *object;     /* owned */
    struct wr_queue *queue;       /* owned: direct */
};

/* Makes the file, or opens the one that is there, and gives it its size. */
int wr_shard_file_open(const struct wr_shard_at *to, uint64_t size,
                       unsigned depth, struct wr_shard_file *ret,
                       weir_err *err);
/* Closes without looking. For failures. Waits for what is in flight. */
void wr_shard_file_drop(struct wr_shard_file *t);

/* Syncs and closes; nothing is in flight. *ret_again: the sync failed, so what
 * was written is gone for good or not, nobody knows; the file is removed and
 * may be written anew. Never set when there is no space. */
int wr_shard_file_settle(struct wr_shard_file *t, bool *ret_again,
                         weir_err *err);

#endif
