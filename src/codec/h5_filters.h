/* h5_filters.h - how HDF5 packs chunks: shuffles, checksums, LZ4, LZF.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_H5_FILTERS_H
#define WR_CODEC_H5_FILTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Byte k of every element of `size` bytes lies together; bytes behind the last
 * whole element lie as they were. `out` does not overlap `in`. */
void wr_unshuffle(const void *in, void *out, size_t len, size_t size);

/* The same in blocks, as the library bitshuffle makes them if not told how
 * large: all of `len` bytes. */
void wr_bitunshuffle_blocks(const void *in, void *out, size_t len, size_t size);

#define WR_FLETCHER32_BYTES 4u

/* Do the four bytes behind these `len` say their checksum? */
bool wr_fletcher32_holds(const void *bytes, size_t len);

/* Undoes `len` bytes of filter 32004 into exactly `want`; false: they are no such
 * stream, at *ret_at. */
bool wr_lz4_undo(const void *in, size_t len, void *out, size_t want,
                 size_t *ret_at);

/* The same for filter 32008 (bitshuffle) with LZ4, of elements of `size`
 * bytes. */
bool wr_bitshuffle_lz4_undo(const void *in, size_t len, void *out, size_t want,
                            size_t size, size_t *ret_at);

/* Undoes `len` bytes into exactly `want`; false: they are no such stream, at
 * *ret_at. */
bool wr_lzf_undo(const void *in, size_t len, void *out, size_t want,
                 size_t *ret_at);

#endif
