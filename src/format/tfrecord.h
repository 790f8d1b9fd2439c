/* tfrecord.h - records of a TFRecord shard: framing and fields.
 * SPDX-License-Identifier: Apache-2.0
 *
 * length (8 bytes), masked CRC32C of these 8, data, masked CRC32C of the data;
 * all little-endian. */
#ifndef WR_FORMAT_TFRECORD_H
#define WR_FORMAT_TFRECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "format/format.h"

#define WR_TFRECORD_HEADER 12
#define WR_TFRECORD_EXTRA  16 /* header and footer */

/* The length in a header; false when its checksum does not match. */
bool wr_tfrecord_header(const uint8_t *header, uint64_t *ret_len);
/* A whole record: its lengths and checksums. */
int wr_tfrecord_check(const uint8_t *p, size_t len, weir_err *err);

/* In wr_field.scalar: searched for in each record, whatever it is called. */
#define WR_TFRECORD_SEARCHED 1u

/* The fields that the first records of an index show. */
#define WR_TFRECORD_LOOK 16u /* records whose features are the fields */
int wr_tfrecord_add_fields(struct wr_index_job *job, weir_err *err);
/* Those of a record that was checked: the second half of unpack. */
int wr_tfrecord_take_fields(const struct wr_index *ix, struct wr_sample *io,
                            struct wr_unpack *out, weir_err *err);

#endif
