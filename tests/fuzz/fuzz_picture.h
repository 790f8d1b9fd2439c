/* fuzz_picture.h - any bytes through wr_picture_decode: exact, fast, cropped.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FUZZ_PICTURE_H
#define WR_FUZZ_PICTURE_H

#include <stdint.h>
#include <stdlib.h>

#include "codec/picture.h"

#define MAX_PIXELS (1u << 21) /* keeps a run short; limits have unit tests */

static void decode(const weir_picture_config *spec, const uint8_t *bytes,
                   size_t len, const struct wr_picture_crop *crop)
{
    struct wr_picture_decoder *d = NULL;
    void *slot = malloc(wr_picture_slot_bytes(spec));
    weir_err err;

    if (slot && wr_picture_new(&d, spec, &err) >= 0) {
        wr_picture_decode(d, bytes, len, crop, slot, NULL, &err);
        wr_picture_decode_only(d, bytes, len, NULL, NULL, &err);
        wr_picture_decode_drop(d, bytes, len, crop, &err);
    }
    wr_picture_free(d);
    free(slot);
}

/* Decodes `data` the way its first byte says. */
static void fuzz_picture(const uint8_t *data, size_t size)
{
    struct wr_picture_info info;
    struct wr_picture_crop crop = {0};
    weir_picture_config spec = {
        .width = 32, .height = 24, .channels = 3, .std = {1, 1, 1}};
    uint8_t how;

    if (size < 1)
        return;
    how = *data++;
    size--;
    if (wr_picture_info(data, size, &info, NULL) < 0 ||
        (uint64_t)info.width * info.height > MAX_PIXELS)
        return;
    spec.decode = how & 1 ? WEIR_DECODE_FAST : WEIR_DECODE_EXACT;
    spec.channels = how & 2 ? 1 : 3;
    spec.resize = (enum weir_resize)(how / 4 % 3);
    spec.layout = how & 16 ? WEIR_NCHW : WEIR_NHWC;
    spec.dtype = (enum weir_dtype)(how / 32 % 3);
    if (how % 4 == 2 || how % 4 == 3)
        spec.orient = WEIR_ORIENT_EXIF;
    if (spec.orient == WEIR_ORIENT_EXIF)
        wr_picture_turn_size(info.orientation, &info.width, &info.height);
    if (how & 128)
        crop = (struct wr_picture_crop){info.width / 3, info.height / 5,
                                        (info.width + 1) / 2,
                                        (info.height + 2) / 3,
                                        /* flip= */ (how & 3) == 3};
    decode(&spec, data, size, &crop);
}

#endif
