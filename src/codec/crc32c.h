/* crc32c.h - the checksum of records and cache entries.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_CRC32C_H
#define WR_CODEC_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* CRC32C (Castagnoli) of `len` bytes; `crc` is 0, or the result for the bytes
 * before these. */
uint32_t wr_crc32c(uint32_t crc, const void *bytes, size_t len);

/* As TFRecord stores it: a checksum of data that contain checksums should not
 * be one of them. */
static inline uint32_t wr_crc32c_mask(uint32_t crc)
{
    return ((crc >> 15) | (crc << 17)) + UINT32_C(0xa282ead8);
}

#endif
