/* tiff_rows.h - samples as TIFF stores them -> RGB.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_TIFF_ROWS_H
#define WR_CODEC_TIFF_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WR_TIFF_MAX_SAMPLES 16u /* of a pixel */

enum wr_tiff_color {
    WR_TIFF_GRAY,
    WR_TIFF_GRAY_INVERTED, /* 0 is white */
    WR_TIFF_RGB,
    WR_TIFF_RGB_MULTIPLIED, /* by alpha, the fourth sample */
    WR_TIFF_PALETTE,
    WR_TIFF_CMYK,
};

/* How the samples of a picture are to be read. */
struct wr_tiff_rows {
    enum wr_tiff_color color;
    uint32_t bits;    /* of a sample: 1, 2, 4, 8, 16 in this machine's order */
    uint32_t samples; /* of a pixel, those that are not looked at included */
    bool is_planar;   /* one after the other, instead of pixel by pixel */
    size_t plane_bytes; /* planar: from one sample's rows to the next one's */
    uint8_t palette[256][3];
};

/* Samples of a pixel that a kind of colour needs. */
uint32_t wr_tiff_color_samples(enum wr_tiff_color color);

/* One row of n pixels at `in`. */
void wr_tiff_row(const struct wr_tiff_rows *how, const uint8_t *in, uint32_t n,
                 uint8_t *rgb);

#endif
