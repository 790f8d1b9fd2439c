/* pngenc.h - pixels -> a PNG in memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_PNGENC_H
#define WR_CODEC_PNGENC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

/* Whether this build can encode PNG. */
bool wr_pngenc_is_there(void);

/* RGB, 8 bits a channel, rows one after the other, with the filters and the
 * level of compression that libpng has by default. *ret_bytes is fresh memory
 * (free()). WEIR_ENOTSUP: this build has no libspng. */
struct wr_pngenc_picture {
    const uint8_t *pixels; /* borrowed */
    uint32_t width, height;
};
int wr_pngenc_encode(const struct wr_pngenc_picture *p, uint8_t **ret_bytes,
                     size_t *ret_len, weir_err *err);

#endif
