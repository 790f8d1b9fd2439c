/* lz4_blocks.h - chunks of HDF5 that are packed as blocks of LZ4.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_LZ4_BLOCKS_H
#define WR_CODEC_LZ4_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

/* Undoes `len` bytes of filter 32004 into exactly `want`; false: they are no such
 * stream, at *ret_at. */
bool wr_lz4_undo(const void *in, size_t len, void *out, size_t want,
                 size_t *ret_at);

/* The same for filter 32008 (bitshuffle) with LZ4, of elements of `size`
 * bytes. */
bool wr_bitshuffle_lz4_undo(const void *in, size_t len, void *out, size_t want,
                            size_t size, size_t *ret_at);

#endif
