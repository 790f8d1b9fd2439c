/* frame.h - pictures that are decoded at once, then delivered row by row.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where a library gives all pixels or none, or where rows come in another
 * order than from top to bottom, a codec is two functions: read the header
 * (info), paint the pixels (paint). The rest of its hooks is here. */
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

struct wr_frame_state {
    uint8_t *rgb; /* owned */
    size_t cap;
    uint32_t channels, width;
    uint32_t row, end; /* next row to deliver; the one behind the last */
};

/* Hooks for struct wr_codec. */
void wr_frame_done(void *state);
int wr_frame_start(const struct wr_codec *self, void *state,
                   const struct wr_codec_job *job, struct wr_codec_shape *ret,
                   weir_err *err);
int wr_frame_read(void *state, struct wr_codec_rows *rows, weir_err *err);
int wr_frame_finish(void *state, weir_err *err);

#endif
