/* exif.c - which way up a picture is: EXIF's orientation.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Orientation is a tag of the first directory. What is wrong with a block of
 * EXIF is no damage of the picture: then nothing says how to turn it. */
#include "codec/exif.h"

#include <stdbool.h>
#include <string.h>

enum { TAG_ORIENTATION = 0x112, TYPE_SHORT = 3, TYPE_LONG = 4 };

struct exif_block {
    const uint8_t *bytes;
    size_t len;
    bool is_big;  /* most significant byte first */
    bool is_wide; /* BigTIFF: 64-bit offsets */
};

/* A number of n bytes at `at`; 0 where there is none. */
static uint64_t number(const struct exif_block *b, uint64_t at, unsigned n)
{
    uint64_t value = 0;

    if (at > b->len || b->len - at < n)
        return 0;
    for (unsigned k = 0; k < n; k++)
        value = value << 8 | b->bytes[at + (b->is_big ? k : n - 1 - k)];
    return value;
}

static bool read_head(struct exif_block *b)
{
    if (b->len < 8)
        return false;
    if (!memcmp(b->bytes, "MM", 2))
        b->is_big = true;
    else if (memcmp(b->bytes, "II", 2) != 0)
        return false;
    b->is_wide = number(b, 2, 2) == 43;
    return b->is_wide || number(b, 2, 2) == 42;
}

unsigned wr_exif_orientation(const uint8_t *bytes, size_t len)
{
    struct exif_block b = {.bytes = bytes, .len = len};
    uint64_t at, count;
    unsigned entry;

    if (!read_head(&b))
        return WR_PICTURE_UPRIGHT;
    entry = b.is_wide ? 20 : 12;
    at = b.is_wide ? number(&b, 8, 8) : number(&b, 4, 4);
    if (at > len)
        return WR_PICTURE_UPRIGHT;
    count = number(&b, at, b.is_wide ? 8 : 2);
    at += b.is_wide ? 8 : 2;
    for (; count && at <= len && len - at >= entry; count--, at += entry) {
        uint64_t type = number(&b, at + 2, 2);
        uint64_t value = number(&b, at + entry - (b.is_wide ? 8 : 4),
                                type == TYPE_LONG ? 4 : 2);

        if (number(&b, at, 2) != TAG_ORIENTATION)
            continue;
        return (type == TYPE_SHORT || type == TYPE_LONG) && value >= 1 &&
                       value <= 8
                   ? (unsigned)value
                   : WR_PICTURE_UPRIGHT;
    }
    return WR_PICTURE_UPRIGHT;
}

unsigned wr_exif_orientation_named(const uint8_t *bytes, size_t len)
{
    if (len < 6 || memcmp(bytes, "Exif\0\0", 6) != 0)
        return WR_PICTURE_UPRIGHT;
    return wr_exif_orientation(bytes + 6, len - 6);
}
