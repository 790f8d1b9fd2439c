/* order.c - the order of an epoch: a function, not a list.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/order.h"

#include <assert.h>
#include <stdbool.h>

#include "base/mem.h"
#include "base/rng.h"

/* Streams of the seed's random numbers, so that no two uses share values. */
enum { STREAM_EPOCH = 1, STREAM_REST, STREAM_WINDOW };

/* Bit of an order's id. */
#define SMALL_BY_TABLE UINT64_C(0x80)

static uint64_t stream(uint64_t epoch, uint64_t use, uint64_t part)
{
    return wr_rng_at(epoch, use, part);
}

void wr_order_init(struct wr_order *o, const weir_pipeline_config *cfg,
                   uint64_t samples, uint64_t epoch)
{
    uint64_t n;

    o->split = wr_split_of(cfg);
    n = wr_split_count(&o->split, samples);
    o->kind = cfg->order;
    o->custom = NULL;
    o->n = n;
    o->seed = cfg->seed;
    o->epoch = epoch;
    o->block = o->window = o->full = o->rest = o->rest_at = 0;
    if (o->kind == WEIR_ORDER_BLOCK) {
        o->block = WR_MAX(cfg->block_samples, 1u);
        o->window = WR_MAX(cfg->block_window, 1u);
        o->full = n / o->block;
        o->rest = n % o->block;
        o->rest_at = wr_rng_at(o->seed, stream(epoch, STREAM_REST, 0), 0) %
                     (o->full + 1);
        n = o->full;
    }
    wr_order_deal(o, cfg->world);
    wr_perm_init(&o->perm, n, o->seed, stream(epoch, STREAM_EPOCH, 0));
}

void wr_order_deal(struct wr_order *o, uint32_t ranks)
{
    o->dealt = o->kind == WEIR_ORDER_BLOCK ? WR_MAX(ranks, 1u) : 1;
}

/* First position of the block at place `at`; `at` may be one past the end. */
static uint64_t block_start(const struct wr_order *o, uint64_t at)
{
    if (o->rest && at > o->rest_at)
        return (at - 1) * o->block + o->rest;
    return at * o->block;
}

static uint64_t block_places(const struct wr_order *o)
{
    return o->full + (o->rest ? 1 : 0);
}

/* Largest multiple-of-`step` place whose block starts at or before `p`. */
static uint64_t place_of(const struct wr_order *o, uint64_t p, uint64_t step)
{
    uint64_t at = p / (o->block * step) * step;

    /* The short block makes everything behind it start earlier. */
    if (at + step < block_places(o) && block_start(o, at + step) <= p)
        at += step;
    return at;
}

/* Where position p goes among [start, start + size): those of one rank are
 * mixed among themselves, and lie behind each other. */
static uint64_t deal(const struct wr_order *o, uint64_t p, uint64_t start,
                     uint64_t size, uint64_t first)
{
    uint64_t w = o->dealt;
    uint64_t turn = (p - start) % w; /* of the ranks, in their order here */
    uint64_t share = size / w, more = size % w;
    struct wr_perm mix;

    wr_perm_init(&mix, share + (turn < more), o->seed,
                 stream(o->epoch, STREAM_WINDOW, first + turn));
    return start + turn * share + WR_MIN(turn, more) +
           wr_perm_at(&mix, (p - start) / w);
}

static uint64_t block_at(const struct wr_order *o, uint64_t p)
{
    uint64_t step = WR_MIN(o->window * o->dealt, block_places(o));
    uint64_t first = place_of(o, p, step);
    uint64_t end = WR_MIN(first + step, block_places(o));
    uint64_t start = block_start(o, first);
    uint64_t at, inside;

    p = deal(o, p, start, block_start(o, end) - start, first);
    at = place_of(o, p, 1);
    inside = p - block_start(o, at);
    if (o->rest && at == o->rest_at)
        return o->full * o->block + inside;
    if (o->rest && at > o->rest_at)
        at--;
    return wr_perm_at(&o->perm, at) * o->block + inside;
}

/* The number within the part of what stands at a position. */
static uint64_t place_at(const struct wr_order *o, uint64_t position)
{
    switch (o->kind) {
    case WEIR_ORDER_SHUFFLE:
        return wr_perm_at(&o->perm, position);
    case WEIR_ORDER_BLOCK:
        return block_at(o, position);
    case WEIR_ORDER_SEQUENTIAL:
        break;
    }
    return position;
}

uint64_t wr_order_at(const struct wr_order *o, uint64_t position)
{
    assert(position < o->n);
    if (o->custom)
        return o->custom->sample_at(o->custom->arg, position);
    return wr_split_sample(&o->split, place_at(o, position));
}

static bool is_small(uint64_t n)
{
    return n > 1 && n < WR_PERM_SMALL;
}

/* Whether one of the windows has few samples, wherever the short block is. */
static bool has_small_window(uint64_t n, uint64_t block, uint64_t window)
{
    uint64_t rest = n % block ? n % block : block;
    uint64_t others = (n - rest) / block; /* blocks but the short one */
    uint64_t beside = others % window;    /* of them, in the last window */
    bool one = others == beside;          /* there is but the last window */

    if (is_small(beside * block + rest))
        return true;
    return !one &&
           (is_small((beside + 1) * block) ||
            is_small((window - 1) * block + rest) || is_small(window * block));
}

/* Whether a permutation of few elements takes part in the order. */
static bool has_small(const weir_pipeline_config *cfg, uint64_t n)
{
    uint64_t block = WR_MAX(cfg->block_samples, 1u);
    uint64_t window = WR_MAX(cfg->block_window, 1u);

    if (cfg->order == WEIR_ORDER_SHUFFLE)
        return is_small(n);
    if (cfg->order != WEIR_ORDER_BLOCK || !n)
        return false;
    return is_small(n / block) || has_small_window(n, block, window);
}

uint64_t wr_order_id(const weir_pipeline_config *cfg, uint64_t n)
{
    uint64_t id = (uint64_t)cfg->order + 1;

    if (cfg->order == WEIR_ORDER_BLOCK)
        id |= (uint64_t)cfg->block_samples << 32 |
              (uint64_t)(cfg->block_window & 0xffffff) << 8;
    /* Earlier versions had no tables: their states are of another order. */
    return has_small(cfg, n) ? id | SMALL_BY_TABLE : id;
}
