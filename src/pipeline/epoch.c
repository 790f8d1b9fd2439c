/* epoch.c - one epoch as one rank sees it: its samples, its batches, its tail.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/epoch.h"

#include <stdlib.h>

#include "base/mem.h"

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
    return a / b + (a % b != 0);
}

static uint64_t count_batches(const weir_pipeline_config *cfg,
                              const struct wr_epoch *e)
{
    uint64_t left = e->start.samples - e->start.position;

    switch (cfg->remainder) {
    case WEIR_REMAINDER_DROP:
        return e->local / cfg->batch;
    case WEIR_REMAINDER_PAD: /* the same number for every rank, and after a
                                resume: what filled holes has left its place */
        return ceil_div(ceil_div(left, cfg->world), cfg->batch);
    case WEIR_REMAINDER_KEEP:
        break;
    }
    return ceil_div(e->local, cfg->batch);
}

static void count_local(struct wr_epoch *e, const weir_pipeline_config *cfg)
{
    uint64_t remaining = wr_state_remaining(&e->start);

    e->local = remaining > e->rank ? ceil_div(remaining - e->rank, e->world)
                                   : 0;
    e->tail = e->local;
    e->batches = count_batches(cfg, e);
}

struct wr_epoch *wr_epoch_new(const weir_pipeline_config *cfg, uint64_t n,
                              uint64_t number, struct wr_state *resume)
{
    struct wr_epoch *e = calloc(1, sizeof(*e));

    if (!e)
        return NULL;
    e->number = number;
    e->rank = cfg->rank;
    e->world = cfg->world;
    e->refs = 1;
    wr_order_init(&e->order, cfg, n, number);
    e->start.samples = e->order.n;
    if (resume) {
        if (resume->position || resume->taken_count) /* it has begun */
            wr_order_deal(&e->order, resume->dealt);
        e->start = *resume;
        resume->taken = NULL;
        wr_state_done(resume);
    }
    e->start.dealt = e->order.dealt;
    count_local(e, cfg);
    return e;
}

void wr_epoch_set_order(struct wr_epoch *e, const weir_pipeline_config *cfg,
                        const struct wr_custom *c)
{
    e->order.custom = c;
    e->order.n = e->start.samples = c->count;
    count_local(e, cfg);
}

void wr_epoch_set_first(struct wr_epoch *e, const weir_pipeline_config *cfg,
                        uint64_t n)
{
    uint32_t dealt = e->order.dealt;

    wr_order_init(&e->order, cfg, n, 0);
    wr_order_deal(&e->order, dealt);
}

void wr_epoch_unref(struct wr_epoch *e)
{
    if (!e || --e->refs)
        return;
    wr_state_done(&e->start);
    free(e->taken);
    free(e);
}

/* Position in the epoch of local number j < local. */
static uint64_t epoch_position(const struct wr_epoch *e, uint64_t j)
{
    return wr_state_position_at(&e->start, j * e->world + e->rank);
}

uint64_t wr_epoch_sample(const struct wr_epoch *e, uint64_t j)
{
    return wr_order_at(&e->order, epoch_position(e, j));
}

uint64_t wr_epoch_pad(const struct wr_epoch *e, uint64_t behind, uint64_t k)
{
    uint64_t n = e->order.n, share = n / e->world;
    uint64_t start = e->rank * share; /* ranks repeat other ones */
    uint64_t next = e->start.position / e->world + behind;

    if (next < share)
        start += share - next;
    return wr_order_at(&e->order, (start + k) % n);
}

bool wr_epoch_take_tail(struct wr_epoch *e)
{
    if (!wr_grow(&e->taken, &e->taken_cap, e->taken_count + 1,
                 sizeof(*e->taken)))
        return false;
    e->tail--;
    e->taken[e->taken_count++] = epoch_position(e, e->tail);
    return true;
}
