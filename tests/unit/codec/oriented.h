/* oriented.h - JPEGs that say which way up they are.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_TEST_ORIENTED_H
#define WR_TEST_ORIENTED_H

#include <stdlib.h>
#include <string.h>

#include "make_picture.h"

/* A JPEG of width x height as stored, with an APP1 segment of EXIF. */
static inline struct made make_oriented(uint32_t width, uint32_t height,
                                        unsigned orientation)
{
    static const char app1[] = "\xff\xe1\0\x22"
                               "Exif\0\0II*\0\x8\0\0\0\1\0\x12\1\3\0\1\0\0\0"
                               "?\0\0\0\0\0\0\0";
    struct made m = make_jpeg(&(struct make_jpeg){
        .width = width, .height = height, .color = MAKE_RGB});
    struct made o = {malloc(m.len + sizeof(app1) - 1),
                     m.len + sizeof(app1) - 1};

    if (!o.bytes)
        abort();
    memcpy(o.bytes, m.bytes, 2);
    memcpy(o.bytes + 2, app1, sizeof(app1) - 1);
    o.bytes[2 + 28] = (uint8_t)orientation;
    memcpy(o.bytes + 2 + sizeof(app1) - 1, m.bytes + 2, m.len - 2);
    free(m.bytes);
    return o;
}

#endif
