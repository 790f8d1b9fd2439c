/* photo.h - sample number -> JPEG, with the sizes of a known data set.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_GEN_PHOTO_H
#define WR_GEN_PHOTO_H

#include <stddef.h>
#include <stdint.h>

#include "weir/error.h"

struct wr_textures;

/* A width and height, and how many pictures of 1,000 have it. */
struct wr_photo_dims {
    uint16_t width, height, per_mille;
};

#define WR_PHOTO_QUANTILES 11

/* How the pictures of a data set are distributed. */
struct wr_photo_profile {
    const char *name;
    const struct wr_photo_dims *dims; /* ends with width 0; what they leave of
                                         1,000 has sides in [min, max] */
    uint16_t side_min, side_max;
    uint16_t gray_per_mille, full_chroma_per_mille;
    /* Hundredths of a bit per pixel at the quantiles 0, 1, 5, 10, 25, 50, 75,
     * 90, 95, 99 and 100 %. */
    uint16_t bits[WR_PHOTO_QUANTILES];
};

extern const struct wr_photo_profile wr_photo_imagenet;
extern const struct wr_photo_profile wr_photo_caltech;

/* Belongs to one thread. */
struct wr_photo;

struct wr_photo_sample {
    uint64_t seed, index;
    uint32_t label;
};

int wr_photo_new(struct wr_photo **ret, const struct wr_photo_profile *profile,
                 const struct wr_textures *textures, weir_err *err);
void wr_photo_free(struct wr_photo *ph); /* takes NULL */

/* Makes one picture: a function of sample, profile and textures alone.
 * *ret_bytes is lent until the next call. */
int wr_photo_make(struct wr_photo *ph, const struct wr_photo_sample *s,
                  const uint8_t **ret_bytes, size_t *ret_len, weir_err *err);

#endif
