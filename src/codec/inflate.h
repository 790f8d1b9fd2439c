/* inflate.h - gzip or zlib -> bytes, piece by piece, within limits, and back.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_INFLATE_H
#define WR_CODEC_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

/* A shard that inflates to more than this is refused, and so is one that
 * grows more than a thousandfold (a bomb). */
#define WR_INFLATE_MAX   (UINT64_C(4) << 30)
#define WR_INFLATE_RATIO 1100u /* deflate's own limit is 1032 */

struct wr_inflate;

/* Do the bytes start like gzip; may they be zlib's? Of the latter's two bytes one
 * in a thousand pairs looks so: what they inflate to tells more. */
bool wr_is_gzip(const void *bytes, size_t len);
bool wr_is_zlib(const void *bytes, size_t len);

/* The first byte fed decides which of the two it is. */
int wr_inflate_new(struct wr_inflate **ret, weir_err *err);
void wr_inflate_free(struct wr_inflate *z); /* takes NULL */
/* Before anything is fed: it is deflate without a wrapper. */
void wr_inflate_set_raw(struct wr_inflate *z);

/* Hands over the next piece of the compressed bytes; borrowed until
 * wr_inflate_read has used it up. */
void wr_inflate_feed(struct wr_inflate *z, const void *bytes, size_t len);

/* Inflates up to `cap` bytes into buf; returns how many. 0: feed more, or at
 * the end of the input that is the end (wr_inflate_is_done). Several
 * members behind each other are one stream; each one's checksum is verified.
 * WEIR_EFORMAT when the bytes are damaged: the message gives the offset in the
 * compressed bytes. */
int64_t wr_inflate_read(struct wr_inflate *z, void *buf, size_t cap,
                        weir_err *err);

/* True between members: the input may end here. */
bool wr_inflate_is_done(const struct wr_inflate *z);

/* "gzip", "zlib" or "deflate", for messages. */
const char *wr_inflate_name(const struct wr_inflate *z);

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
