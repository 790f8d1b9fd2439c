/* shrink.h - an encoded picture as a smaller JPEG.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CONVERT_SHRINK_H
#define WR_CONVERT_SHRINK_H

#include "convert/convert.h"
#include "codec/picture.h"
#include "format/index.h"

#define WR_CONVERT_QUALITY 90 /* where none was asked for */

/* Belongs to one thread. */
struct wr_shrink;

int wr_shrink_new(struct wr_shrink **ret, const struct wr_convert_config *cfg,
                  weir_err *err);
void wr_shrink_free(struct wr_shrink *s); /* takes NULL */

struct wr_shrink_picture {
    const uint8_t *bytes; /* borrowed; out: lent until the next call */
    size_t len;
    struct wr_picture_info info; /* out */
};

/* Whether the samples are pictures, or arrays that are encoded as such: u8, of
 * one channel or three. */
int wr_shrink_takes(const struct wr_index *ix, weir_err *err);

/* Makes of *io what the settings ask for: a JPEG that fits already and of
 * which no quality was asked for keeps its bytes; so does any other picture that
 * goes into records. Measures what decoding cost
 * and will cost when `saving` is not NULL. */
int wr_shrink_apply(struct wr_shrink *s, struct wr_shrink_picture *io,
                    struct wr_convert_saving *saving, weir_err *err);

/* The size of a picture whose longer side is at most `max_side` (0: any). */
void wr_shrink_size(uint32_t max_side, uint32_t *width, uint32_t *height);

#endif
