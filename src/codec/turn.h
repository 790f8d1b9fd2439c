/* turn.h - pictures turned upright: what EXIF says, and the pixels.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A turn makes the upright picture of the stored one: first rows and columns
 * are exchanged (if `swap`), then what came of it is mirrored. */
#ifndef WR_CODEC_TURN_H
#define WR_CODEC_TURN_H

#include <stddef.h>
#include <stdint.h>

#include "codec/picture.h"

struct wr_turn {
    bool swap;           /* rows become columns */
    bool flip_x, flip_y; /* left to right; upside down */
};

/* For EXIF's orientation 1 to 8. */
struct wr_turn wr_turn_of(unsigned orientation);

/* A region of the upright picture of width x height, as it lies in the stored
 * one; its flip is taken over. */
struct wr_picture_crop wr_turn_crop(struct wr_turn t, uint32_t width,
                                    uint32_t height,
                                    const struct wr_picture_crop *crop);

/* Pixels of `pixel` bytes in `planes` planes of width x height each, as they
 * come out. */
struct wr_turn_pixels {
    uint32_t width, height, planes;
    size_t pixel;
};

/* Turns the stored pixels at `from` (of p->height x p->width when rows become
 * columns) into `to`, which is another place. */
void wr_turn_copy(const struct wr_turn_pixels *p, struct wr_turn t,
                  const void *from, void *to);

/* The orientation, 1 to 8, that a block of EXIF (a TIFF header and its
 * directories) or a TIFF file says; WR_PICTURE_UPRIGHT if it says none, or is
 * damaged. */
unsigned wr_exif_orientation(const uint8_t *bytes, size_t len);

/* The same for EXIF with "Exif\0\0" in front, as JPEG has it always and WebP
 * sometimes. */
unsigned wr_exif_orientation_named(const uint8_t *bytes, size_t len);

#endif
