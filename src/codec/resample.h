/* resample.h - one plane of a picture on its way to another size.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rows come in at the top as they are decoded and lie in a ring just long
 * enough for the taps of one output row: the picture is never in memory as a
 * whole. Vertical first, because that pass runs along contiguous bytes; the
 * costlier horizontal pass then sees only the rows that come out. */
#ifndef WR_CODEC_RESAMPLE_H
#define WR_CODEC_RESAMPLE_H

#include <stdbool.h>

#include "codec/filter.h"
#include "codec/kernel.h"

struct wr_plane_setup {
    uint32_t width, height; /* samples in */
    uint32_t comps;         /* 3 interleaved, or 1 */
    uint32_t skip;          /* samples at the left of each row to leave out */
    uint32_t row_bytes;     /* room the decoder needs per row */
    uint32_t rows_at_once;  /* rows that are filled before they are used */
    uint32_t rows_ahead;    /* rows it may be ahead of other planes */
    uint32_t upsample_x, upsample_y; /* as wr_filter_key.upsample */
    double box_x[2], box_y[2];       /* as wr_filter_key.lo, hi */
    uint32_t out_w, out_h;
    bool mirror; /* rows come out from right to left */
    enum weir_resize resize;
};

/* Zero it to start; belongs to one decoder and keeps its memory. */
struct wr_plane {
    const struct wr_taps *fx, *fy; /* borrowed from the filter cache */
    uint32_t comps, height;
    uint32_t have;   /* rows that have come */
    uint8_t *ring;   /* owned */
    size_t ring_cap; /* bytes */
    uint32_t ring_rows;
    size_t stride;        /* bytes between rows */
    size_t shift;         /* bytes in front of each row */
    size_t offset;        /* bytes of a row that are skipped */
    int16_t *mid;         /* owned: a row after the vertical pass */
    size_t mid_cap;       /* values */
    const uint8_t **taps; /* owned: rows under the filter */
    size_t taps_cap;
};

int wr_plane_begin(struct wr_plane *p, struct wr_filter_cache *cache,
                   const struct wr_plane_setup *setup, weir_err *err);
void wr_plane_done(struct wr_plane *p);

/* Memory of the k-th row behind those that have come, k < rows_at_once. */
uint8_t *wr_plane_row(const struct wr_plane *p, uint32_t k);

/* Says that n more rows were filled. */
void wr_plane_advance(struct wr_plane *p, uint32_t n);

/* True when all rows that output row `o` is made of are there. */
static inline bool wr_plane_is_ready(const struct wr_plane *p, uint32_t o)
{
    return p->have >= p->fy->first[o] + p->fy->count[o];
}

/* Makes output row `o`, which is ready; rows in rising order. `out` has room
 * for out_w rounded up to 8 pixels: quads (3 components) or floats. */
void wr_plane_emit(struct wr_plane *p, const struct wr_kernels *k, uint32_t o,
                   float *out);

#endif
