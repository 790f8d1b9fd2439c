/* picture.h - choices of how pictures become tensors.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_PICTURE_H
#define WEIR_PICTURE_H

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

#ifdef __cplusplus
}
#endif
#endif
