/* chunks.c - how the samples of a field are cut, and what reading one costs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "format/chunks.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "codec/filters.h"
#include "format/index_private.h"

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
