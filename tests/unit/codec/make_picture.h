/* make_picture.h - encoded pictures for the tests, made on the spot.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TEST_MAKE_PICTURE_H
#define WR_TEST_MAKE_PICTURE_H

#include <stddef.h>
#include <stdint.h>

enum make_color { MAKE_GRAY, MAKE_RGB, MAKE_CMYK, MAKE_YCCK };

struct make_jpeg {
    uint32_t width, height;
    enum make_color color;
    int h_samp, v_samp; /* of luma against chroma: 2, 2 is 4:2:0; 0 is 1 */
    int progressive, arithmetic, restart_rows;
    int separate; /* a scan for each component */
};

struct make_png {
    uint32_t width, height;
    uint8_t color_type, bit_depth; /* as in IHDR */
    int interlaced;
};

struct made {
    uint8_t *bytes; /* the caller's, to be freed; exactly `len` bytes */
    size_t len;
};

/* Value of component c of the pixel at (x, y): shades, edges and texture. */
uint8_t make_value(uint32_t x, uint32_t y, uint32_t c);

struct made make_jpeg(const struct make_jpeg *how);
struct made make_png(const struct make_png *how); /* len 0: not built */

#endif
