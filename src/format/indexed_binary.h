/* indexed_binary.h - names of DLIO's indexed binary files.
 * SPDX-License-Identifier: Apache-2.0
 *
 * FILE holds the samples' bytes; FILE.off.idx and FILE.sz.idx have the offset
 * and the size of each, 64 bits in little-endian byte order. */
#ifndef WR_FORMAT_INDEXED_BINARY_H
#define WR_FORMAT_INDEXED_BINARY_H

#define WR_INDEXED_BINARY_EXT     ".indexed_binary"
#define WR_INDEXED_BINARY_OFFSETS ".off.idx"
#define WR_INDEXED_BINARY_SIZES   ".sz.idx"

#endif
