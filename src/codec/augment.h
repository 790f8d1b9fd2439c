/* augment.h - which part of a picture is used, and whether it is mirrored.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Pure functions: a plan depends on the settings, the picture's size and
 * (seed, epoch, sample) alone, and is the same on every machine. */
#ifndef WR_CODEC_AUGMENT_H
#define WR_CODEC_AUGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "codec/picture.h"
#include "weir/pipeline.h"

struct wr_augment {
    enum weir_crop crop;
    double center;         /* as weir_pipeline_config.crop_center */
    double area[2];        /* as crop_area */
    double ratio[2];       /* as crop_ratio */
    uint32_t out_w, out_h; /* of the tensor: the shape of a center crop */
    bool flip;
    uint64_t seed;
};

/* The settings of `cfg`; fails with the name of a field that is out of range.
 * The fields of a crop that is not asked for are not looked at. */
int wr_augment_init(struct wr_augment *a, const weir_pipeline_config *cfg,
                    weir_err *err);

/* What to do with sample `id` in `epoch`, a picture of width x height. */
struct wr_picture_crop wr_augment_plan(const struct wr_augment *a,
                                       uint32_t width, uint32_t height,
                                       uint64_t epoch, uint64_t id);

#endif
