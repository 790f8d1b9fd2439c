/* jpegenc.h - pixels -> a baseline JPEG in memory.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_JPEGENC_H
#define WR_CODEC_JPEGENC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

/* Belongs to one thread; keeps its memory from picture to picture. */
struct wr_jpegenc;

struct wr_jpegenc_picture {
    const uint8_t *pixels; /* borrowed; rows follow one another */
    uint32_t width, height;
    uint32_t channels; /* 1: gray, 3: RGB, 4: RGB and a byte that is ignored */
    unsigned quality;  /* 1 to 100, as the IJG's software counts */
    bool full_chroma;  /* 4:4:4, else 4:2:0 */
    unsigned restart;  /* blocks (MCUs) between restart markers; 0: none */
};

int wr_jpegenc_new(struct wr_jpegenc **ret, weir_err *err);
void wr_jpegenc_free(struct wr_jpegenc *e); /* takes NULL */

/* *ret_bytes is lent until the next call. */
int wr_jpegenc_encode(struct wr_jpegenc *e, const struct wr_jpegenc_picture *p,
                      const uint8_t **ret_bytes, size_t *ret_len,
                      weir_err *err);

#endif
