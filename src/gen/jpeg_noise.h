/* jpeg_noise.h - gray JPEGs of noise, of exactly so many bytes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Between two restart markers a JPEG is independent of the rest. So a few
 * thousand such intervals are encoded once, and a picture is a header and a
 * random choice of them. The rest up to its size is a comment. */
#ifndef WR_GEN_JPEG_NOISE_H
#define WR_GEN_JPEG_NOISE_H

#include <stddef.h>
#include <stdint.h>

#include "gen/pen.h"
#include "weir/error.h"

#define WR_JPEG_SIDE_MAX 65500u /* of libjpeg */

struct wr_jpeg_noise;

/* Immutable once made; a function of the seed. */
int wr_jpeg_noise_new(struct wr_jpeg_noise **ret, uint64_t seed, weir_err *err);
void wr_jpeg_noise_free(struct wr_jpeg_noise *j); /* takes NULL */

struct wr_jpeg_noise_picture {
    uint64_t seed, number;
    uint32_t width, height; /* at most WR_JPEG_SIDE_MAX */
    uint64_t bytes;         /* of the file; one that cannot be as small as that
                               is as small as it can be */
};
int wr_jpeg_noise_put(const struct wr_jpeg_noise *j,
                      const struct wr_jpeg_noise_picture *pic,
                      struct wr_pen *pen, weir_err *err);

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
