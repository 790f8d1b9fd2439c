/* jpeg_parts.h - a JPEG with restart markers, taken apart.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_GEN_JPEG_PARTS_H
#define WR_GEN_JPEG_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

#define WR_JPEG_RST0 0xd0u
#define WR_JPEG_EOI  0xd9u
#define WR_JPEG_COM  0xfeu

/* Entropy-coded bytes between two markers; offsets into the file. */
struct wr_jpeg_interval {
    uint32_t at, len;
};

struct wr_jpeg_parts {
    uint32_t
        soi_len; /* SOI and the first segment (JFIF's), which stays first */
    uint32_t head_len;                  /* up to the first interval */
    struct wr_jpeg_interval *intervals; /* owned */
    size_t count;
};

/* Takes apart what wr_jpegenc made. *ret is to be ended with
 * wr_jpeg_parts_done. */
int wr_jpeg_parts_find(const uint8_t *bytes, size_t len,
                       struct wr_jpeg_parts *ret, weir_err *err);
void wr_jpeg_parts_done(struct wr_jpeg_parts *p);

#endif
