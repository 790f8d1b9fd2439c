/* jpeg_rows.h - where the rows of blocks lie in the bits of a JPEG.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The bits of a row of blocks depend on what comes before in one thing alone:
 * the first block of each component has its mean (DC) as the difference to the
 * block before. Where those differences stand, and what the means are, is enough
 * to put rows together in another order. */
#ifndef WR_GEN_JPEG_ROWS_H
#define WR_GEN_JPEG_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

#define WR_JPEG_COMPONENTS 3

struct wr_jpeg_row {
    /* Of each component: the bits of its first difference, the mean of its first
     * and of its last block. */
    uint32_t from[WR_JPEG_COMPONENTS], to[WR_JPEG_COMPONENTS];
    int16_t first[WR_JPEG_COMPONENTS], last[WR_JPEG_COMPONENTS];
    uint32_t end; /* bits; it begins at from[0] */
};

/* How a difference is written: code and number of bits by its category. */
struct wr_jpeg_code {
    uint16_t code[12];
    uint8_t len[12]; /* 0: there is none */
};

struct wr_jpeg_rows {
    uint32_t
        soi_len; /* SOI and the first segment (JFIF's), which stays first */
    uint32_t head_len;              /* up to the scan */
    uint32_t width, height, across; /* `across`: blocks (MCUs) in a row */
    unsigned components;
    unsigned sampling; /* of brightness, as the frame says it: 0x22 is 4:2:0 */
    uint8_t *bits; /* owned: the scan without stuffed bytes, 16 more behind */
    struct wr_jpeg_row *rows; /* owned */
    size_t count;
    struct wr_jpeg_code dc[2]; /* of brightness, of colour */
};

/* Takes apart a baseline JPEG without restart markers, as wr_jpegenc makes it.
 * *ret is to be ended with wr_jpeg_rows_done. */
int wr_jpeg_rows_find(const uint8_t *bytes, size_t len,
                      struct wr_jpeg_rows *ret, weir_err *err);
void wr_jpeg_rows_done(struct wr_jpeg_rows *r);

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
