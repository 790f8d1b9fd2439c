/* codec.c - what every picture codec needs: limits, crops, grey.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/codec.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"

int wr_codec_check_size(const struct wr_picture_info *info,
                        const struct wr_picture_crop *crop, weir_err *err)
{
    if (!info->width || !info->height)
        return wr_fail(err, WEIR_EFORMAT,
                       "picture of %" PRIu32 "x%" PRIu32 " pixels", info->width,
                       info->height);
    if (info->width > WR_PICTURE_MAX_SIDE ||
        info->height > WR_PICTURE_MAX_SIDE ||
        (uint64_t)info->width * info->height > WR_PICTURE_MAX_PIXELS)
        return wr_fail(err, WEIR_ELIMIT,
                       "picture of %" PRIu32 "x%" PRIu32 " pixels: the limit "
                       "is %u a side and %" PRIu64 " in all",
                       info->width, info->height, WR_PICTURE_MAX_SIDE,
                       WR_PICTURE_MAX_PIXELS);
    if (crop->width &&
        (!crop->height || (uint64_t)crop->x + crop->width > info->width ||
         (uint64_t)crop->y + crop->height > info->height))
        return wr_fail(err, WEIR_EINVAL,
                       "crop %" PRIu32 "x%" PRIu32 "+%" PRIu32 "+%" PRIu32
                       " leaves the picture of %" PRIu32 "x%" PRIu32,
                       crop->width, crop->height, crop->x, crop->y, info->width,
                       info->height);
    return 0;
}

void wr_codec_whole_plane(const struct wr_codec_job *job,
                          const struct wr_picture_info *info,
                          struct wr_codec_plane *ret)
{
    const struct wr_picture_crop *crop = &job->crop;

    *ret = (struct wr_codec_plane){
        .width = crop->width ? crop->width : info->width,
        .height = crop->width ? crop->height : info->height,
        .skip = crop->width ? crop->x : 0,
        .upsample_x = 1,
        .upsample_y = 1,
    };
    ret->box_x[1] = ret->width;
    ret->box_y[1] = ret->height;
}

void wr_codec_gray_row(uint8_t *row, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *p = row + 3 * i;

        row[i] = (uint8_t)((p[0] * 19595u + p[1] * 38470u + p[2] * 7471u +
                            0x8000u) >>
                           16);
    }
}

void wr_codec_drop_large(uint8_t **memory, size_t *cap, size_t need)
{
    if (*cap <= WR_CODEC_KEEP_BYTES || need >= *cap / 4)
        return;
    free(*memory);
    *memory = NULL;
    *cap = 0;
}
