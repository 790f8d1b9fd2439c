/* exif.h - which way up a picture is: EXIF's orientation.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_CODEC_EXIF_H
#define WR_CODEC_EXIF_H

#include <stddef.h>
#include <stdint.h>

#include "codec/picture.h"

/* The orientation, 1 to 8, that a block of EXIF (a TIFF header and its
 * directories) or a TIFF file says; WR_PICTURE_UPRIGHT if it says none, or is
 * damaged. */
unsigned wr_exif_orientation(const uint8_t *bytes, size_t len);

/* The same for EXIF with "Exif\0\0" in front, as JPEG has it always and WebP
 * sometimes. */
unsigned wr_exif_orientation_named(const uint8_t *bytes, size_t len);

#endif
