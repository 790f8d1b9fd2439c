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

struct wr_augment {
    weir_picture_config picture;
    uint64_t seed;
};

/* Fails with the name of a setting of crops that is out of range; those of a
 * crop that is not asked for are not looked at. */
int wr_augment_check(const weir_picture_config *picture, weir_err *err);

/* What to do with sample `id` in `epoch`, a picture of width x height. */
struct wr_picture_crop wr_augment_plan(const struct wr_augment *a,
                                       uint32_t width, uint32_t height,
                                       uint64_t epoch, uint64_t id);

#endif
