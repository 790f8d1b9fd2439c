/* budget.c - what a pipeline has taken of the process's memory and threads.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/budget.h"

#include "base/mem.h"
#include "base/shares.h"
#include "pipeline/worker.h"

/* Two more batches than are kept ahead: one is with the consumer, one is being
 * made. */
static uint64_t batches_of(const struct wr_sched *s, const struct wr_knobs *k)
{
    return s->wants_data ? (k->prefetch + (uint64_t)2) * s->arrays.bytes : 0;
}

/* What `threads` workers may fill now. */
static void set_rings(struct wr_budget *b, struct wr_sched *s)
{
    atomic_store(&s->ring_most,
                 (size_t)(b->rings / WR_MAX(b->threads, (uint64_t)1)));
}

void wr_budget_begin(struct wr_budget *b, struct wr_sched *s, struct wr_tune *t)
{
    uint32_t threads = t->now[WR_KNOB_THREADS];
    bool ours = t->is_auto[WR_KNOB_THREADS];
    struct wr_knobs k;
    uint64_t rings, left;

    /* Others may compute already; the tuning tries all cores if it waits. */
    threads = (uint32_t)wr_share_take_some(WR_SHARE_THREADS, threads,
                                           ours ? 1 : threads);
    t->now[WR_KNOB_THREADS] = threads;
    k = (struct wr_knobs){threads, t->now[WR_KNOB_DEPTH],
                          t->now[WR_KNOB_PREFETCH]};
    *b = (struct wr_budget){.batches = batches_of(s, &k), .threads = threads};
    wr_share_take_anyway(WR_SHARE_MEMORY, b->batches);
    rings = threads * (uint64_t)wr_worker_ring_for(s, k.depth);
    left = wr_share_left(WR_SHARE_MEMORY);
    b->rings = wr_share_take_some(
        WR_SHARE_MEMORY, WR_MIN(rings, left / 2),
        WR_MIN(rings, threads * (uint64_t)WR_RING_LEAST));
    set_rings(b, s);
}

bool wr_budget_grow(struct wr_budget *b, struct wr_sched *s,
                    const struct wr_knobs *knobs)
{
    struct wr_budget to = {
        .batches = WR_MAX(batches_of(s, knobs), b->batches),
        .rings = knobs->threads * (uint64_t)wr_worker_ring_for(s, knobs->depth),
        .threads = WR_MAX((uint64_t)knobs->threads, b->threads),
    };
    uint64_t more;

    to.rings = WR_MAX(to.rings, b->rings);
    more = to.batches - b->batches + (to.rings - b->rings);
    if (more && !wr_share_take(WR_SHARE_MEMORY, more))
        return false;
    wr_share_take_anyway(WR_SHARE_THREADS, to.threads - b->threads);
    *b = to;
    set_rings(b, s);
    return true;
}

void wr_budget_refill(struct wr_budget *b, struct wr_sched *s)
{
    uint64_t want = b->threads *
                    (uint64_t)wr_worker_ring_for(s, s->knobs.depth);
    uint64_t more = want > b->rings ? want - b->rings : 0;

    more = WR_MIN(more, wr_share_left(WR_SHARE_MEMORY) / 2);
    if (!more)
        return;
    b->rings += wr_share_take_some(WR_SHARE_MEMORY, more, 0);
    set_rings(b, s);
}

void wr_budget_end(struct wr_budget *b)
{
    wr_share_give(WR_SHARE_MEMORY, b->batches + b->rings);
    wr_share_give(WR_SHARE_THREADS, b->threads);
    *b = (struct wr_budget){0};
}
