/* image.h - a shard in memory: the snapshot of a rank's tensors.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The memory is laid out as the file will be, head included, and starts at a
 * page: writing needs no further copy. Whole pages of the tensors can be lent:
 * then they are written from where they are, and have no place in it. It is
 * kept and touched beforehand, because memory that is touched for the first time
 * is 10 times as slow as a copy (docs/decisions/0014).
 *
 * One thread fills an image while another may write it already: chunks become
 * ready in rising order. */
#ifndef WR_SAFETENSORS_IMAGE_H
#define WR_SAFETENSORS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "safetensors/head.h"

/* Metadata: the checksums of the chunks, 8 digits each. */
#define WR_IMAGE_CRC_KEY "weir.crc32c"

struct wr_image;

/* Threads that copy; 0: one per core. They are started once and sleep. */
int wr_image_new(unsigned threads, struct wr_image **ret, weir_err *err);
void wr_image_free(struct wr_image *img);

/* Memory for a file of so many bytes, touched. Never shrinks. */
int wr_image_reserve(struct wr_image *img, uint64_t bytes, weir_err *err);
uint64_t wr_image_memory(const struct wr_image *img);

/* Plans the head (metadata: `metadata`, and room for the checksums of the
 * chunks under "weir.crc32c"), and reserves. Nothing is ready yet. */
int wr_image_plan(struct wr_image *img, const weir_tensor *tensors,
                  size_t count, const weir_pair *metadata,
                  size_t metadata_count, weir_err *err);
/* The same, but the writer takes whole pages from the tensors' own memory,
 * which then stays as it is until the writer is done. They take no memory
 * here. */
int wr_image_plan_lent(struct wr_image *img, const weir_tensor *tensors,
                       size_t count, const weir_pair *metadata,
                       size_t metadata_count, weir_err *err);
/* Whether there are any. */
bool wr_image_lends(const struct wr_image *img);
/* Copies the tensors of the last plan, but for what was lent, all threads
 * together. `eager`: in small pieces, in order, for a writer that follows; else
 * in pieces that are copied fastest. */
void wr_image_fill(struct wr_image *img, const weir_tensor *tensors,
                   bool eager);

uint64_t wr_image_size(const struct wr_image *img);        /* of the file */
uint64_t wr_image_data_offset(const struct wr_image *img); /* page-aligned */
/* The head, and the data but for what was lent, without gaps; zeros up to the
 * next page behind them. */
uint8_t *wr_image_bytes(struct wr_image *img);
/* Where the bytes of the file from `offset` on are; *len is cut to what lies
 * there in one. */
const uint8_t *wr_image_part(const struct wr_image *img, uint64_t offset,
                             uint64_t *len);
/* Waits until the data [0, bytes) are there. */
void wr_image_wait(struct wr_image *img, uint64_t bytes);
/* Prints the head, with the checksums of the chunks, into the image. */
int wr_image_finish(struct wr_image *img, const uint32_t *crcs, size_t count,
                    weir_err *err);

/* Copies past the caches, for what is not read again soon: `to` is not fetched
 * before it is overwritten. */
void wr_copy_past(void *to, const void *from, size_t len);

/* --- bytes of a shard's data and the memory that they belong to --- */

/* Direct I/O moves whole pages, from and to whole pages. Where a tensor's
 * memory lies as its bytes do in the file, they need no copy in between. */

struct wr_stretch {
    uint64_t begin, end; /* in the data */
    void *at;            /* borrowed; of byte `begin` */
};

/* Stretches that adjoin in the data and in memory become one. They rise and do
 * not overlap; those without bytes go. Returns how many are left. */
size_t wr_stretches_join(struct wr_stretch *x, size_t count);

/* The part of it that direct I/O can move without a copy; no bytes when there
 * is none, or too little to be worth it. The data of the file start at a
 * page. */
struct wr_stretch wr_stretch_pages(const struct wr_stretch *x);

#endif
