/* chunks.c - the chunks of an array: what reading costs, and writing them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/chunks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "codec/filters.h"
#include "format/index_private.h"

/* --- how the samples of a field are cut, and what reading one costs --- */

/* Adds what column `column` costs for the first sample. */
static void add_tile(const struct wr_index *ix, unsigned column,
                     struct wr_chunks *c)
{
    const struct wr_unit *u;
    struct wr_part p;

    wr_index_part(ix, column, 0, &p);
    u = wr_part_is_packed(&p) ? wr_index_unit(ix, p.unit) : NULL;
    c->unpacked += u ? u->inflated : p.length;
    if (u && u->stored && !c->filters)
        c->filters = u->filters;
}

bool wr_chunks_of(const struct wr_index *ix, unsigned k, struct wr_chunks *ret)
{
    const struct wr_field *f = &wr_index_schema(ix)->fields[k];
    const struct wr_index_segment *s;
    struct wr_chunks c = {0};

    if (f->column == WR_NO_COLUMN || !wr_index_count(ix) ||
        !wr_field_bytes(&f->pub))
        return false;
    s = wr_index_find_segment(ix, f->column, 0);
    if (s->kind != WR_SEGMENT_TILES || !s->stride)
        return false;
    c.ndim = f->pub.ndim + 1;
    c.dims[0] = s->offset;
    memcpy(c.dims + 1, f->tiled ? f->tile : f->pub.dims,
           f->pub.ndim * sizeof(c.dims[0]));
    c.touched = wr_field_columns(f);
    for (unsigned t = 0; t < c.touched; t++)
        add_tile(ix, f->column + t, &c);
    c.amplification = (double)c.unpacked / (double)wr_field_bytes(&f->pub);
    *ret = c;
    return true;
}

const char *wr_chunks_text(const struct wr_chunks *c, char *buf, size_t cap)
{
    size_t used = 0;

    for (uint32_t k = 0; k < c->ndim && used < cap; k++)
        used += (size_t)snprintf(buf + used, cap - used, "%s%" PRIu64,
                                 k ? "x" : "", c->dims[k]);
    for (unsigned k = WR_FILTERS_MAX, n = 0; k-- > 0 && used < cap;) {
        unsigned filter = c->filters >> 8 * k & 0xff;

        if (filter)
            used += (size_t)snprintf(buf + used, cap - used, "%s%s",
                                     n++ ? "+" : ", ", wr_filter_name(filter));
    }
    return buf;
}

/* --- samples -> the equal chunks of one array, in C order --- */

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
