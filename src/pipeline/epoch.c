/* epoch.c - one epoch as one rank sees it: its samples, its batches, its tail.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/epoch.h"

#include <stdlib.h>

#include "base/mem.h"

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static uint64_t count_batches(const weir_pipeline_config *cfg, uint64_t local,
                              uint64_t remaining)
{
    switch (cfg->remainder) {
    case WEIR_REMAINDER_DROP:
        return local / cfg->batch;
    case WEIR_REMAINDER_PAD: /* the same number for every rank */
        return ceil_div(ceil_div(remaining, cfg->world), cfg->batch);
    case WEIR_REMAINDER_KEEP:
        break;
    }
    return ceil_div(local, cfg->batch);
}

struct wr_epoch *wr_epoch_new(const weir_pipeline_config *cfg, uint64_t n,
                              uint64_t number, struct wr_state *resume)
{
    struct wr_epoch *e = calloc(1, sizeof(*e));
    uint64_t remaining;

    if (!e)
        return NULL;
    e->number = number;
    e->rank = cfg->rank;
    e->world = cfg->world;
    e->refs = 1;
    wr_order_init(&e->order, cfg, n, number);
    e->start.samples = e->order.n;
    if (resume) {
        e->start = *resume;
        resume->taken = NULL;
        wr_state_done(resume);
    }
    remaining = wr_state_remaining(&e->start);
    e->local = remaining > e->rank ? ceil_div(remaining - e->rank, e->world)
                                   : 0;
    e->tail = e->local;
    e->batches = count_batches(cfg, e->local, remaining);
    return e;
}

void wr_epoch_unref(struct wr_epoch *e)
{
    if (!e || --e->refs)
        return;
    wr_state_done(&e->start);
    free(e->taken);
    free(e);
}

uint64_t wr_epoch_position(const struct wr_epoch *e, uint64_t j)
{
    return wr_state_position_at(&e->start, j * e->world + e->rank);
}

uint64_t wr_epoch_sample(const struct wr_epoch *e, uint64_t j)
{
    return wr_order_at(&e->order, wr_epoch_position(e, j));
}

uint64_t wr_epoch_pad(struct wr_epoch *e)
{
    uint64_t n = e->order.n;
    uint64_t start = e->rank * (n / e->world); /* ranks repeat other ones */

    return wr_order_at(&e->order, (start + e->pad++) % n);
}

bool wr_epoch_take_tail(struct wr_epoch *e)
{
    if (!wr_grow(&e->taken, &e->taken_cap, e->taken_count + 1,
                 sizeof(*e->taken)))
        return false;
    e->tail--;
    e->taken[e->taken_count++] = wr_epoch_position(e, e->tail);
    return true;
}
