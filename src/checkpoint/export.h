/* export.h - files that left a store: checked by what they say themselves.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CHECKPOINT_EXPORT_H
#define WR_CHECKPOINT_EXPORT_H

#include "safetensors/shard.h"

/* Reads a lone safetensors file that weir wrote and compares its data with the
 * checksums in its head. Nothing tells whether the head is as it was: that is in
 * the manifest beside it. WEIR_ENOTSUP: it has no checksums. `read` may be
 * NULL. */
int wr_export_check(const struct wr_shard_at *file, struct wr_byte_count *read,
                    weir_err *err);

#endif
