/* tfrecord.h - how a record of a TFRecord shard is framed.
 * SPDX-License-Identifier: Apache-2.0
 *
 * length (8 bytes), masked CRC32C of these 8, data, masked CRC32C of the data;
 * all little-endian. */
#ifndef WR_FORMAT_TFRECORD_H
#define WR_FORMAT_TFRECORD_H

#include <stdbool.h>
#include <stdint.h>

#define WR_TFRECORD_HEADER 12
#define WR_TFRECORD_EXTRA  16 /* header and footer */

/* The length in a header; false when its checksum does not match. */
bool wr_tfrecord_header(const uint8_t *header, uint64_t *ret_len);

#endif
