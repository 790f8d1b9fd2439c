/* target.h - the file that a shard is written into.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_SAFETENSORS_TARGET_H
#define WR_SAFETENSORS_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "safetensors/shard.h"

struct wr_target {
    const struct wr_place *place; /* borrowed */
    struct wr_object *object;     /* owned */
    struct wr_queue *queue;       /* owned: direct */
};

/* Makes the file, or opens the one that is there, and gives it its size. */
int wr_target_open(const struct wr_place *to, uint64_t size, unsigned depth,
                   struct wr_target *ret, weir_err *err);
/* Closes without looking. For failures. Waits for what is in flight. */
void wr_target_drop(struct wr_target *t);

/* Syncs and closes; nothing is in flight. *ret_again: the sync failed, so what
 * was written is gone for good or not, nobody knows; the file is removed and
 * may be written anew. Never set when there is no space. */
int wr_target_settle(struct wr_target *t, bool *ret_again, weir_err *err);

#endif
