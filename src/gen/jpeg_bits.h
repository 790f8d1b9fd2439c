/* jpeg_bits.h - rows of blocks -> the scan of a JPEG.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_GEN_JPEG_BITS_H
#define WR_GEN_JPEG_BITS_H

#include "gen/jpeg_rows.h"

struct wr_jpeg_bits {
    uint8_t *out;  /* borrowed: the next byte; there must be room */
    uint64_t bits; /* the last `count` of them are not written yet */
    unsigned count;
    int16_t mean[WR_JPEG_COMPONENTS]; /* of the last blocks */
};

/* Bytes that a row takes at most, stuffed ones included. */
size_t wr_jpeg_row_room(const struct wr_jpeg_row *row);

/* Appends a row of `from`. */
void wr_jpeg_bits_row(struct wr_jpeg_bits *b, const struct wr_jpeg_rows *from,
                      const struct wr_jpeg_row *row);

/* The last byte, filled up with ones. */
void wr_jpeg_bits_end(struct wr_jpeg_bits *b);

#endif
