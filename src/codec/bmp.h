/* bmp.h - what bmp.c and bmp_rle.c share.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_BMP_H
#define WR_CODEC_BMP_H

#include "codec/frame.h"

struct wr_bmp_head {
    uint32_t width, height;
    bool top_down;
    uint32_t bits; /* of a pixel: 1, 2, 4, 8, 16, 24, 32 */
    uint32_t compression;
    uint32_t mask[3]; /* 16 and 32 bits: red, green, blue */
    uint32_t colors;  /* entries of the palette */
    size_t palette;   /* where it starts in the file */
    size_t entry;     /* bytes of one of its entries: 3 or 4 */
    size_t pixels;    /* where they start in the file */
};

/* Unpacks RLE8 or RLE4 to one byte a pixel, rows as they are in the file;
 * `out` has width * height bytes. Pixels that are skipped are 0. */
int wr_bmp_unpack_rle(const struct wr_bmp_head *h, const uint8_t *in,
                      size_t len, uint8_t *out, weir_err *err);

#endif
