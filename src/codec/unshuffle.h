/* unshuffle.h - what HDF5 does to a chunk besides deflating it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_UNSHUFFLE_H
#define WR_CODEC_UNSHUFFLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Byte k of every element of `size` bytes lies together; bytes behind the last
 * whole element lie as they were. `out` does not overlap `in`. */
void wr_unshuffle(const void *in, void *out, size_t len, size_t size);

/* Bit k of every element of `size` bytes lies together: `count` elements, a
 * multiple of 8. `out` does not overlap `in`. */
void wr_bitunshuffle(const void *in, void *out, size_t count, size_t size);

/* The same in blocks, as the library bitshuffle makes them if not told how
 * large: all of `len` bytes. */
void wr_bitunshuffle_blocks(const void *in, void *out, size_t len, size_t size);

#define WR_FLETCHER32_BYTES 4u

/* Do the four bytes behind these `len` say their checksum? */
bool wr_fletcher32_holds(const void *bytes, size_t len);

#endif
