/* shard_reader.h - a shard as one stream of bytes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * As it lies, or inflated when it is gzip or zlib, whatever its name says. A
 * reader belongs to one thread. */
#ifndef WR_FORMAT_SHARD_READER_H
#define WR_FORMAT_SHARD_READER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storage/storage.h"

struct wr_shard_reader;

int wr_shard_reader_open(struct wr_shard_reader **ret, struct wr_store *st,
                         const char *path, weir_err *err);
void wr_shard_reader_close(struct wr_shard_reader *r); /* takes NULL */

/* From now on reads fail with WEIR_ECANCELED once *stop is true. */
void wr_shard_reader_watch(struct wr_shard_reader *r, const atomic_bool *stop);

/* Whether it has to be inflated. */
bool wr_shard_reader_is_packed(const struct wr_shard_reader *r);

/* The object as it was when it was opened. */
const struct wr_stat *wr_shard_reader_stat(const struct wr_shard_reader *r);

/* Where the next read starts, counted in the stream (of gzip: in what it
 * inflates to). At the end it is the length of the stream. */
uint64_t wr_shard_reader_tell(const struct wr_shard_reader *r);

/* Reads `len` bytes from here; returns how many: fewer only at the end of the
 * stream. Small reads come from a buffer. Gzip or zlib that is cut off or damaged, and
 * one over the limits of inflate.h, is an error. Its message gives the offset;
 * the shard's path the caller knows. */
int64_t wr_shard_reader_read(struct wr_shard_reader *r, void *buf, size_t len,
                             weir_err *err);

/* Passes over `n` bytes; returns how many: fewer only at the end. Costs
 * nothing when the shard is plain; else it has to be inflated. */
int64_t wr_shard_reader_skip(struct wr_shard_reader *r, uint64_t n,
                             weir_err *err);

/* For probes: the first bytes of the stream of `path`, at most `len`; returns
 * how many, 0 when it cannot be read (or is no file), negative when resources
 * lacked. */
int64_t wr_shard_head(struct wr_store *st, const char *path, void *buf,
                      size_t len);

#endif
