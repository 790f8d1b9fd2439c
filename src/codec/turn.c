/* turn.c - pictures turned upright: what EXIF says, and the pixels.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/turn.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

#define TILE 16u /* pixels: both sides of a block stay in the cache */

struct wr_turn wr_turn_of(unsigned orientation)
{
    static const struct wr_turn turns[] = {
        [2] = {false, true, false}, [3] = {false, true, true},
        [4] = {false, false, true}, [5] = {true, false, false},
        [6] = {true, true, false},  [7] = {true, true, true},
        [8] = {true, false, true},
    };

    return orientation < WR_ARRAY_LEN(turns) ? turns[orientation]
                                             : (struct wr_turn){0};
}

struct wr_picture_crop wr_turn_crop(struct wr_turn t, uint32_t width,
                                    uint32_t height,
                                    const struct wr_picture_crop *crop)
{
    struct wr_picture_crop c = *crop;

    if (!c.width)
        return c;
    if (t.flip_x)
        c.x = width - c.x - c.width;
    if (t.flip_y)
        c.y = height - c.y - c.height;
    if (t.swap)
        c = (struct wr_picture_crop){c.y, c.x, c.height, c.width, c.flip};
    return c;
}

/* One block of the plane that comes out, from at[0], at[1] on. */
static void copy_tile(const struct wr_turn_pixels *p, struct wr_turn t,
                      const uint8_t *from, uint8_t *to, const uint32_t at[2])
{
    uint32_t right = WR_MIN(at[0] + TILE, p->width);
    uint32_t below = WR_MIN(at[1] + TILE, p->height);

    for (uint32_t y = at[1]; y < below; y++)
        for (uint32_t x = at[0]; x < right; x++) {
            size_t u = t.flip_x ? p->width - 1 - x : x;
            size_t v = t.flip_y ? p->height - 1 - y : y;
            size_t k = t.swap ? u * p->height + v : v * p->width + u;

            memcpy(to + ((size_t)y * p->width + x) * p->pixel,
                   from + k * p->pixel, p->pixel);
        }
}

void wr_turn_copy(const struct wr_turn_pixels *p, struct wr_turn t,
                  const void *from, void *to)
{
    size_t plane = (size_t)p->width * p->height * p->pixel;

    for (uint32_t k = 0; k < p->planes; k++)
        for (uint32_t y = 0; y < p->height; y += TILE)
            for (uint32_t x = 0; x < p->width; x += TILE)
                copy_tile(p, t, (const uint8_t *)from + k * plane,
                          (uint8_t *)to + k * plane, (uint32_t[]){x, y});
}

/* --- which way up a picture is: EXIF's orientation --- */

/* Orientation is a tag of the first directory. What is wrong with a block of
 * EXIF is no damage of the picture: then nothing says how to turn it. */

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
