/* tiff_rows.c - samples as TIFF stores them -> RGB.
 * SPDX-License-Identifier: Apache-2.0
 *
 * As PIL's convert('RGB'): alpha is dropped, 16 bits lose the lower 8. */
#include "codec/tiff_rows.h"

#include <string.h>

#include "base/mem.h"

uint32_t wr_tiff_color_samples(enum wr_tiff_color color)
{
    static const uint32_t samples[] = {
        [WR_TIFF_GRAY] = 1,    [WR_TIFF_GRAY_INVERTED] = 1,
        [WR_TIFF_RGB] = 3,     [WR_TIFF_RGB_MULTIPLIED] = 4,
        [WR_TIFF_PALETTE] = 1, [WR_TIFF_CMYK] = 4,
    };

    return samples[color];
}

/* Sample k of a row, as it is stored; of 16 bits the upper 8. */
static uint8_t stored(const uint8_t *in, uint32_t bits, size_t k)
{
    uint16_t wide;

    switch (bits) {
    case 8:
        return in[k];
    case 16:
        memcpy(&wide, in + 2 * k, 2);
        return (uint8_t)(wide >> 8);
    default:
        return in[k * bits / 8] >> (8 - bits - k * bits % 8) &
               ((1u << bits) - 1);
    }
}

static uint8_t sample(const struct wr_tiff_rows *how, const uint8_t *in,
                      uint32_t x, uint32_t c)
{
    if (how->is_planar)
        return stored(in + c * how->plane_bytes, how->bits, x);
    return stored(in, how->bits, (size_t)x * how->samples + c);
}

static uint8_t gray(const struct wr_tiff_rows *how, uint8_t v)
{
    uint32_t bits = WR_MIN(how->bits, 8u);
    uint32_t full = v * 255u / ((1u << bits) - 1);

    return (uint8_t)(how->color == WR_TIFF_GRAY ? full : 255 - full);
}

/* Divides by alpha, as PIL does. */
static uint8_t divide(uint8_t v, uint8_t alpha)
{
    return alpha ? (uint8_t)WR_MIN(255u * v / alpha, 255u) : 0;
}

/* Ink c under black k, rounded as PIL does. */
static uint8_t ink(uint8_t c, uint8_t k)
{
    uint32_t light = 255u - k, product = c * light + 128;

    return (uint8_t)(light - (((product >> 8) + product) >> 8));
}

static void convert(const struct wr_tiff_rows *how, const uint8_t s[4],
                    uint8_t *rgb)
{
    switch (how->color) {
    case WR_TIFF_GRAY:
    case WR_TIFF_GRAY_INVERTED:
        memset(rgb, gray(how, s[0]), 3);
        break;
    case WR_TIFF_RGB:
        memcpy(rgb, s, 3);
        break;
    case WR_TIFF_RGB_MULTIPLIED:
        for (int c = 0; c < 3; c++)
            rgb[c] = divide(s[c], s[3]);
        break;
    case WR_TIFF_PALETTE:
        memcpy(rgb, how->palette[s[0]], 3);
        break;
    case WR_TIFF_CMYK:
        for (int c = 0; c < 3; c++)
            rgb[c] = ink(s[c], s[3]);
        break;
    }
}

void wr_tiff_row(const struct wr_tiff_rows *how, const uint8_t *in, uint32_t n,
                 uint8_t *rgb)
{
    uint32_t samples = wr_tiff_color_samples(how->color);

    if (how->color == WR_TIFF_RGB && how->bits == 8 && how->samples == 3 &&
        !how->is_planar) {
        memcpy(rgb, in, (size_t)n * 3);
        return;
    }
    for (uint32_t x = 0; x < n; x++, rgb += 3) {
        uint8_t s[4];

        for (uint32_t c = 0; c < samples; c++)
            s[c] = sample(how, in, x, c);
        convert(how, s, rgb);
    }
}
