/* shard.h - a shard on its way: written, read, checked, copied.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All of it past the page cache, in chunks, several in flight. Messages name the
 * file and the offset: "'step-000000000007/r00000.safetensors': checksum
 * mismatch in bytes 4198400 to 8392704". */
#ifndef WR_SAFETENSORS_SHARD_H
#define WR_SAFETENSORS_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "safetensors/image.h"
#include "safetensors/shard_sum.h"
#include "storage/storage.h"

/* Told now and then how many bytes were added; another return than 0 ends it
 * with WEIR_ECANCELED. May be NULL. */
struct wr_byte_meter {
    int (*add)(void *arg, uint64_t bytes);
    void *arg;
};

/* Adds up bytes for a caller that wants to see how far it is: the `arg` of a meter
 * whose `add` is wr_byte_count_add. */
struct wr_byte_count {
    int (*progress)(void *arg, uint64_t done, uint64_t total); /* or NULL */
    void *arg;
    uint64_t done, total; /* which is never below `done` */
};
int wr_byte_count_add(void *count, uint64_t bytes);

/* Where a shard lies. */
struct wr_shard_at {
    struct wr_store *store;
    const char *path;
};

/* Writes an image, as it becomes ready, into a file that is made or, when it is
 * there (a recycled one), overwritten; data first, the head last; synced and
 * closed, with all errors looked at. When the sync fails the file is removed
 * and written anew, once (*ret_retried counts it; may be NULL): what a failed
 * sync leaves in the page cache is not to be trusted. Fills ret's size,
 * data_offset and checksums. */
int wr_shard_write(const struct wr_shard_at *to, struct wr_image *img,
                   struct wr_st_shard *ret, uint64_t *ret_retried,
                   weir_err *err);

/* Reads what is wanted (rising, not overlapping; count 0: all of it, into
 * nowhere) and checks every chunk that it touches, and the head. Whole pages go
 * straight to where they are wanted. WEIR_EDAMAGED: a checksum; the memory may
 * hold anything then. */
int wr_shard_read(const struct wr_shard_at *from, const struct wr_st_shard *s,
                  uint32_t chunk, const struct wr_stretch *wants, size_t count,
                  const struct wr_byte_meter *meter, weir_err *err);

/* From where to where. */
struct wr_way {
    struct wr_shard_at from, to;
    bool to_failed; /* what failed is the target, the source or the caller's
                       wish to end it otherwise */
};

/* Copies a shard to another place, made or overwritten as above, and checks
 * every chunk on the way; synced. After a failure the target holds anything:
 * of a chunk that is larger than a piece the first ones are written before the
 * checksum is known. */
int wr_shard_copy(struct wr_way *way, const struct wr_st_shard *s,
                  uint32_t chunk, const struct wr_byte_meter *meter,
                  weir_err *err);

#endif
