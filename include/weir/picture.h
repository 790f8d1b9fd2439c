/* picture.h - how pictures become tensors.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_PICTURE_H
#define WEIR_PICTURE_H

#include <stdint.h>

#include "weir/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

enum weir_layout { WEIR_NHWC = 0, WEIR_NCHW };

enum weir_resize {
    WEIR_RESIZE_BILINEAR = 0,  /* antialiased: as PIL, torchvision and
                                 tf.image.resize(antialias=True) */
    WEIR_RESIZE_BILINEAR_NOAA, /* two taps: tf.image.resize's default */
    WEIR_RESIZE_AREA,          /* mean of the covered area: tf's AREA */
};

enum weir_decode {
    WEIR_DECODE_EXACT = 0, /* libjpeg's accurate DCT and fancy upsampling */
    WEIR_DECODE_FAST,      /* scaled DCT and planar scaling where they help;
                              docs/decode.md states the error */
};

/* Cameras store pictures as the sensor lay, and say in EXIF how to turn them. */
enum weir_orient {
    WEIR_ORIENT_IGNORE = 0, /* as stored: as PIL and torchvision open them */
    WEIR_ORIENT_EXIF,       /* upright: as PIL's ImageOps.exif_transpose */
};

/* Which part of a picture is used; it is scaled to width x height. */
enum weir_crop {
    WEIR_CROP_NONE = 0, /* all of it */
    WEIR_CROP_CENTER,   /* evaluation: the middle, in the shape of the output */
    WEIR_CROP_RANDOM,   /* training: a random area and shape, another one in
                           each epoch (random-resized-crop) */
};

/* What is made of each picture; defaults (weir_pipeline_defaults) are in
 * brackets. Random choices are a function of (seed, epoch, sample): the same
 * pixels for any number of threads and after a resume, and the same crop and
 * flip for all pictures of one sample. */
typedef struct weir_picture_config {
    uint32_t width;          /* of the delivered tensors [224] */
    uint32_t height;         /* [224] */
    uint32_t channels;       /* 3 or 1 [3] */
    enum weir_dtype dtype;   /* F32, F16 or U8 [WEIR_F32] */
    enum weir_layout layout; /* [WEIR_NHWC] */
    enum weir_resize resize; /* [WEIR_RESIZE_BILINEAR] */
    enum weir_decode decode; /* [WEIR_DECODE_EXACT] */
    enum weir_orient orient; /* before crops [WEIR_ORIENT_IGNORE] */
    /* f32 and f16: value = (v / 255 - mean[c]) / std[c]; u8 stays as it is.
     * [ImageNet's 0.485 0.456 0.406, 0.229 0.224 0.225] */
    float mean[3], std[3];
    enum weir_crop crop;  /* [WEIR_CROP_NONE] */
    float crop_center;    /* center: side of the crop as a fraction of the
                            largest possible [0.875, as 224 of 256] */
    float crop_area[2];   /* random: fraction of its area [0.08 to 1] */
    float crop_ratio[2];  /* random: width over height [3/4 to 4/3] */
    int flip;             /* mirror samples at random, half of them [0] */
    uint32_t reserved[8]; /* 0 */
} weir_picture_config;

#ifdef __cplusplus
}
#endif
#endif
