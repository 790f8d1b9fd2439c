/* golden_pictures.h - pictures whose pixels no decoding library can change.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All are written here byte by byte. JPEGs have blocks of one level and one
 * colour, so that every inverse DCT and every upsampling gives the same. */
#ifndef TEST_GOLDEN_PICTURES_H
#define TEST_GOLDEN_PICTURES_H

#include <stddef.h>
#include <stdint.h>

#define GP_CAP 20000 /* bytes that the largest picture needs at most */

enum gp_kind { GP_PPM, GP_BMP, GP_JPEG, GP_PGM, GP_GRAY_JPEG, GP_PNG };

/* Writes picture number i, of some size of its own, to `out` (GP_CAP bytes);
 * returns its length. JPEGs have orientation 1 + i % 8. */
size_t gp_make(enum gp_kind kind, uint32_t i, uint8_t *out);

const char *gp_ext(enum gp_kind kind);

/* Fixed noise. */
uint8_t gp_noise(uint32_t i, uint32_t at);

#endif
