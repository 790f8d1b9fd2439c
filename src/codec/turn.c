/* turn.c - pictures turned upright: coordinates, and pixels in memory.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/turn.h"

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
