/* unit_memory.c - memory of units, kept for the next ones.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/shares.h"
#include "pipeline/unit.h"

#define BIG            ((size_t)2 << 20) /* mapped: aligned to pages */
#define SLAB           BIG
#define PIECES_OF_SLAB (SLAB / WR_UNIT_STEP)

/* Aligned for direct reads. What it takes of the process's share was looked at
 * by wr_unit_make_room, or cannot be done without. */
static uint8_t *buffer_alloc(size_t cap)
{
    uint8_t *buf = cap >= BIG ? wr_big_alloc(cap)
                              : aligned_alloc(WR_DIRECT_ALIGN, cap);

    if (buf)
        wr_share_take_anyway(WR_SHARE_MEMORY, cap);
    return buf;
}

static void buffer_free(uint8_t *buf, size_t cap)
{
    wr_share_give(WR_SHARE_MEMORY, cap);
    if (cap >= BIG)
        wr_big_free(buf, cap);
    else
        free(buf);
}

static void drop_spare(struct wr_units *x)
{
    x->spare_count--;
    x->spare_bytes -= x->spare[x->spare_count].cap;
    buffer_free(x->spare[x->spare_count].buf, x->spare[x->spare_count].cap);
}

static uint8_t *buffer_take(struct wr_units *x, size_t need, size_t *ret_cap)
{
    unsigned best = x->spare_count;

    for (unsigned i = 0; i < x->spare_count; i++)
        if (x->spare[i].cap >= need && x->spare[i].cap <= 2 * need &&
            (best == x->spare_count || x->spare[i].cap < x->spare[best].cap))
            best = i;
    if (best < x->spare_count) {
        uint8_t *buf = x->spare[best].buf;

        *ret_cap = x->spare[best].cap;
        x->spare_bytes -= x->spare[best].cap;
        x->spare[best] = x->spare[--x->spare_count];
        return buf;
    }
    /* Units may be many and small: they take what they need. */
    *ret_cap = WR_ALIGN_UP(need, need < WR_UNIT_STEP ? (size_t)WR_DIRECT_ALIGN
                                                     : WR_UNIT_STEP);
    while (x->spare_count && x->used + x->spare_bytes + *ret_cap > x->limit)
        drop_spare(x);
    return buffer_alloc(*ret_cap);
}

static void buffer_give(struct wr_units *x, uint8_t *buf, size_t cap)
{
    if (x->spare_count == WR_UNIT_SPARE || cap > 2 * WR_BLOCK_MAX ||
        x->used + x->spare_bytes + cap > x->limit) {
        buffer_free(buf, cap);
        return;
    }
    x->spare_bytes += cap;
    x->spare[x->spare_count].buf = buf;
    x->spare[x->spare_count++].cap = cap;
}

static size_t *used_of(struct wr_units *x, const struct wr_group *g)
{
    return g->indexed ? &x->indexed_used : &x->used;
}

uint8_t *wr_unit_take(struct wr_shared *u, size_t need, size_t *ret_cap)
{
    struct wr_units *x = u->group->table;
    uint8_t *buf = buffer_take(x, need, ret_cap);

    if (buf)
        *used_of(x, u->group) += *ret_cap;
    return buf;
}

void wr_unit_give(struct wr_shared *u, uint8_t *buf, size_t cap)
{
    struct wr_units *x = u->group->table;

    if (!buf)
        return;
    *used_of(x, u->group) -= cap;
    buffer_give(x, buf, cap);
}

/* --- pieces --- */

bool wr_piece_has_ahead(const struct wr_units *x)
{
    return x->ahead < x->ahead_most &&
           (x->piece_count || wr_share_left(WR_SHARE_MEMORY) >= SLAB);
}

static bool add_slab(struct wr_units *x)
{
    size_t slabs = x->slab_count + 1;
    uint8_t *slab;

    if (!wr_grow(&x->slabs, &x->slab_cap, slabs, sizeof(*x->slabs)) ||
        !wr_grow(&x->pieces, &x->piece_cap, slabs * PIECES_OF_SLAB,
                 sizeof(*x->pieces)))
        return false;
    slab = buffer_alloc(SLAB);
    if (!slab)
        return false;
    x->slabs[x->slab_count++] = slab;
    for (size_t k = 0; k < PIECES_OF_SLAB; k++)
        x->pieces[x->piece_count++] = slab + k * WR_UNIT_STEP;
    return true;
}

uint8_t *wr_piece_take(struct wr_units *x, bool ahead)
{
    if ((ahead && !wr_piece_has_ahead(x)) || (!x->piece_count && !add_slab(x)))
        return NULL;
    if (ahead)
        x->ahead++;
    else
        x->indexed_used += WR_UNIT_STEP;
    return x->pieces[--x->piece_count];
}

void wr_piece_give(struct wr_units *x, uint8_t *buf, bool ahead)
{
    if (ahead)
        x->ahead--;
    else
        x->indexed_used -= WR_UNIT_STEP;
    x->pieces[x->piece_count++] = buf;
}

static void drop_slabs(struct wr_units *x)
{
    while (x->slab_count)
        buffer_free(x->slabs[--x->slab_count], SLAB);
    x->piece_count = 0;
}

void wr_units_drop_spare(struct wr_units *x)
{
    while (x->spare_count)
        drop_spare(x);
    if (x->piece_count == x->slab_count * PIECES_OF_SLAB)
        drop_slabs(x);
}
