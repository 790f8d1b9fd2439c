/* collage.h - pictures put together from the rows of others.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Drawing and encoding a picture takes milliseconds, copying one microseconds.
 * So some hundred pictures are drawn. Every further one is one of them of the
 * same class, its rows of blocks turned round from a place of its own, a stretch
 * of them taken from a second picture, and a comment that says its number. The
 * encoded bits are copied (jpeg_rows.h): sizes and the cost of decoding are those
 * of the pictures that were drawn. */
#ifndef WR_GEN_COLLAGE_H
#define WR_GEN_COLLAGE_H

#include "format/writer.h"
#include "gen/photo.h"

struct wr_collage_config {
    const struct wr_photo_profile *profile; /* borrowed, static */
    double
        mean_bytes; /* of a file; sides are scaled for it; 0: the profile's */
    uint64_t seed;
    uint32_t classes;
    uint32_t count; /* pictures to be drawn */
    unsigned threads;
};

/* Immutable once made; a function of the settings but threads. */
struct wr_collage;

int wr_collage_new(struct wr_collage **ret, const struct wr_collage_config *cfg,
                   weir_err *err);
void wr_collage_free(struct wr_collage *c); /* takes NULL */

/* Appends picture number `index`, which is of class index % classes. *ret_info:
 * its kind and size; may be NULL. */
int wr_collage_make(const struct wr_collage *c, uint64_t index,
                    struct wr_bytes *to, struct wr_picture_info *ret_info,
                    weir_err *err);

/* Picture `k` of those that were drawn; lent by the collage. */
struct wr_slice wr_collage_drawn(const struct wr_collage *c, uint32_t k);

/* Mean bytes of a file. */
double wr_collage_mean(const struct wr_collage *c);

#endif
