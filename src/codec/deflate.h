/* deflate.h - bytes -> deflate without a wrapper, piece by piece.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_DEFLATE_H
#define WR_CODEC_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

struct wr_deflate;

int wr_deflate_new(struct wr_deflate **ret, weir_err *err);
void wr_deflate_free(struct wr_deflate *d); /* takes NULL */

/* Hands over the next piece; borrowed until wr_deflate_read gives 0. The last
 * one (it may be empty) ends the stream. */
void wr_deflate_feed(struct wr_deflate *d, const void *bytes, size_t len,
                     bool last);

/* Deflates up to `cap` bytes into buf; returns how many. 0: feed more, or it
 * was the last piece, and this is the end. */
size_t wr_deflate_read(struct wr_deflate *d, void *buf, size_t cap);

/* CRC-32 as ZIP and gzip have it, going on from `crc` (0 at first). */
uint32_t wr_crc32(uint32_t crc, const void *bytes, size_t len);

/* Adler-32 as zlib streams have it, going on from `sum` (1 at first). */
uint32_t wr_adler32(uint32_t sum, const void *bytes, size_t len);

#endif
