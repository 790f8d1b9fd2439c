/* frame.h - pictures that are decoded at once, then delivered row by row.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where a library gives all pixels or none, or where rows come in another
 * order than from top to bottom, a codec is two functions: read the header,
 * paint the pixels. The rest of struct wr_codec's hooks is here. */
#ifndef WR_CODEC_FRAME_H
#define WR_CODEC_FRAME_H

#include "codec/codec.h"

/* Encoded bytes, and where the pixels go. */
struct wr_frame {
    const uint8_t *bytes; /* borrowed */
    size_t len;
    uint32_t width, height; /* within the limits of picture.h */
    uint8_t *rgb;           /* width * height * 3 bytes; what is in them before
                               is undefined */
};

struct wr_frame_ops {
    /* required, as wr_codec.info */
    int (*info)(const uint8_t *bytes, size_t len, struct wr_picture_info *ret,
                weir_err *err);
    /* optional: refuses bytes that are too few for the header's pixels, before
     * memory is spent on those. Width and height are within the limits. */
    int (*check)(const uint8_t *bytes, size_t len, weir_err *err);
    /* required: all of f->rgb, as PIL's convert('RGB') has it. */
    int (*paint)(const struct wr_frame *f, weir_err *err);
};

/* Hooks for struct wr_codec; `ops` is what the codec's own start adds. */
int wr_frame_state_new(void **ret, weir_err *err);
void wr_frame_state_free(void *state);
int wr_frame_start(void *state, const struct wr_frame_ops *ops,
                   const struct wr_codec_job *job, struct wr_codec_shape *ret,
                   weir_err *err);
int wr_frame_read(void *state, struct wr_codec_rows *rows, weir_err *err);
int wr_frame_finish(void *state, weir_err *err);

#endif
