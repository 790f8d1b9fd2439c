/* resample.c - one plane of a picture on its way to another size.
 * SPDX-License-Identifier: Apache-2.0 */
#include "codec/resample.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

/* libjpeg-turbo's colour conversion writes past the caches when a row is
 * aligned to its vectors, and these rows are read again at once. So none is:
 * exact decoding gains a tenth by it. */
#define MISALIGN 4u

static bool plane_reserve(struct wr_plane *p, size_t ring_bytes,
                          size_t mid_values, size_t taps)
{
    if (ring_bytes > p->ring_cap) {
        uint8_t *ring = aligned_alloc(64, WR_ALIGN_UP(ring_bytes, 64u));

        if (!ring)
            return false;
        memset(ring, 0, ring_bytes);
        free(p->ring);
        p->ring = ring;
        p->ring_cap = ring_bytes;
    }
    if (mid_values > p->mid_cap) {
        int16_t *mid = calloc(mid_values, sizeof(*mid));

        if (!mid)
            return false;
        free(p->mid);
        p->mid = mid;
        p->mid_cap = mid_values;
    }
    return wr_grow(&p->taps, &p->taps_cap, taps, sizeof(*p->taps));
}

static int plane_filters(struct wr_plane *p, struct wr_filter_cache *cache,
                         const struct wr_plane_setup *s, weir_err *err)
{
    struct wr_filter_key x = {
        .in = s->width,
        .out = s->out_w,
        .lo = s->box_x[0],
        .hi = s->box_x[1],
        .upsample = s->upsample_x,
        .mirror = s->mirror,
        .resize = s->resize,
        .use = s->comps == 3 ? WR_FILTER_RGB : WR_FILTER_ONE,
    };
    struct wr_filter_key y = {
        .in = s->height,
        .out = s->out_h,
        .lo = s->box_y[0],
        .hi = s->box_y[1],
        .upsample = s->upsample_y,
        .resize = s->resize,
        .use = WR_FILTER_ROWS,
    };
    int r = wr_filter_find(cache, &x, &p->fx, err);

    return r < 0 ? r : wr_filter_find(cache, &y, &p->fy, err);
}

int wr_plane_begin(struct wr_plane *p, struct wr_filter_cache *cache,
                   const struct wr_plane_setup *s, weir_err *err)
{
    size_t ring_bytes, mid_values;
    int r = plane_filters(p, cache, s, err);

    if (r < 0)
        return r;
    p->comps = s->comps;
    p->height = s->height;
    p->have = 0;
    p->stride = WR_ALIGN_UP((size_t)s->row_bytes + MISALIGN + WR_ROW_SLACK,
                            64u);
    p->offset = (size_t)s->skip * s->comps;
    p->shift = s->comps == 3 ? MISALIGN : 0;
    p->ring_rows = 2 * p->fy->pairs + s->rows_at_once + s->rows_ahead;
    mid_values = ((size_t)s->width + p->fx->padded) * s->comps + WR_ROW_SLACK;
    if (!wr_mul_ok(p->stride, p->ring_rows, &ring_bytes) ||
        !plane_reserve(p, ring_bytes, mid_values, p->fy->padded + 2))
        return wr_fail(err, WEIR_ENOMEM, "no memory for %u rows of %zu bytes",
                       p->ring_rows, p->stride);
    return 0;
}

void wr_plane_done(struct wr_plane *p)
{
    free(p->ring);
    free(p->mid);
    free(p->taps);
    memset(p, 0, sizeof(*p));
}

static uint8_t *ring_row(const struct wr_plane *p, uint32_t y)
{
    return p->ring + (y % p->ring_rows) * p->stride + p->shift;
}

uint8_t *wr_plane_row(const struct wr_plane *p, uint32_t k)
{
    return ring_row(p, p->have + k);
}

void wr_plane_advance(struct wr_plane *p, uint32_t n)
{
    p->have += n;
}

void wr_plane_emit(struct wr_plane *p, const struct wr_kernels *k, uint32_t o,
                   float *out)
{
    uint32_t first = p->fy->first[o], count = p->fy->count[o];
    struct wr_vertical v = {
        .rows = p->taps,
        .weights = p->fy->weight + (size_t)o * p->fy->padded,
        .packed = (const int8_t *)p->fy->packed + (size_t)o * p->fy->padded * 2,
        .taps = count,
        .n = (size_t)p->fx->key.in * p->comps,
        .out = p->mid,
    };

    for (uint32_t t = 0; t < count; t++)
        p->taps[t] = ring_row(p, first + t) + p->offset;
    p->taps[count] = p->taps[count - 1]; /* the other half of an odd pair */
    k->vertical(&v);
    if (p->comps == 3)
        k->horizontal_rgb(p->fx, p->mid, out);
    else
        k->horizontal_one(p->fx, p->mid, out);
}
