/* chunk_write.c - samples -> the equal chunks of one array, in C order.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/chunk_write.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"

#define AHEAD ((uint64_t)1 << 20) /* bytes that are gathered for a write */

int wr_chunk_write_init(struct wr_chunk_write *w, const struct wr_tiles *tiles,
                        uint64_t samples, weir_err *err)
{
    struct wr_chunk_write c = {.tiles = *tiles, .samples = samples};
    uint64_t whole;

    c.count = wr_tiles_count(tiles);
    c.tile_bytes = wr_tiles_bytes(tiles);
    whole = WR_MAX(c.count * c.tile_bytes, 1);
    c.room = WR_MIN(samples, WR_MAX(AHEAD / whole, 1));
    /* Zeros: nothing is ever copied to where a tile sticks out. */
    c.buf = calloc(c.room, whole);
    if (!c.buf)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    *w = c;
    return 0;
}

void wr_chunk_write_done(struct wr_chunk_write *w)
{
    free(w->buf);
    *w = (struct wr_chunk_write){0};
}

int wr_chunk_write_flush(struct wr_chunk_write *w, struct wr_object *to,
                         uint64_t address, weir_err *err)
{
    const uint64_t chunk = w->samples * w->tile_bytes;
    uint64_t at = address + w->first / w->samples * w->count * chunk +
                  w->first % w->samples * w->tile_bytes;
    int r = 0;

    if (w->held == w->samples) /* whole chunks, one behind the other */
        r = to->ops->write(to, w->buf, (size_t)(w->count * chunk), at, err);
    else
        for (uint64_t k = 0; k < w->count && w->held && r == 0; k++)
            r = to->ops->write(to, w->buf + k * w->room * w->tile_bytes,
                               (size_t)(w->held * w->tile_bytes),
                               at + k * chunk, err);
    if (r == 0) {
        w->first += w->held;
        w->held = 0;
    }
    return r;
}

int wr_chunk_write_add(struct wr_chunk_write *w, const void *sample,
                       struct wr_object *to, uint64_t address, weir_err *err)
{
    for (uint64_t k = 0; k < w->count; k++)
        wr_tiles_take(&w->tiles, k, sample,
                      w->buf + (k * w->room + w->held) * w->tile_bytes);
    w->held++;
    if (w->held < w->room && (w->first + w->held) % w->samples)
        return 0;
    return wr_chunk_write_flush(w, to, address, err);
}
