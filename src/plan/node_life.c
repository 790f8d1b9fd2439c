/* node_life.c - the life of the first batches, as stretches of lanes.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A lane does one thing at a time: a worker decodes, else it waits for reads of
 * its own, else for something to do. The queue shows the batch that is next. */
#include <stdlib.h>

#include "base/mem.h"
#include "plan/node_private.h"

#define SPANS_MAX 50000

static bool is_kept(const struct wr_sim *s)
{
    return s->how->life && s->handed <= s->how->life &&
           s->run.result->span_count < SPANS_MAX;
}

bool wr_sim_life_init(struct wr_sim *s)
{
    s->lanes = s->p->loader.workers + 1 + s->p->compute.accelerators;
    if (!s->how->life)
        return true;
    s->open_spans = calloc(s->lanes, sizeof(*s->open_spans));
    for (uint32_t k = 0; s->open_spans && k < s->lanes; k++)
        s->open_spans[k] = (struct wr_plan_span){.lane = k,
                                                 .kind = WR_PLAN_SPAN_WAIT};
    return s->open_spans;
}

static void keep(struct wr_sim *s, const struct wr_plan_span *span)
{
    struct wr_plan_result *r = s->run.result;

    if (span->to_s <= span->from_s)
        return;
    if (wr_grow(&r->spans, &s->span_cap, r->span_count + 1, sizeof(*r->spans)))
        r->spans[r->span_count++] = *span;
    else
        s->run.failed = true;
}

static void close_span(struct wr_sim *s, uint32_t lane)
{
    s->open_spans[lane].to_s = s->run.now / 1e9;
    keep(s, &s->open_spans[lane]);
}

/* The queue's stretches are whole when they are noted. */
static void close_all(struct wr_sim *s)
{
    for (uint32_t k = 0; s->open_spans && k < s->lanes; k++)
        if (k != s->p->loader.workers)
            close_span(s, k);
}

void wr_sim_life(struct wr_sim *s, uint32_t lane, enum wr_plan_span_kind kind,
                 uint64_t batch)
{
    struct wr_plan_span *o;

    if (!is_kept(s))
        return;
    o = &s->open_spans[lane];
    if (o->kind == kind && o->batch == (uint32_t)batch)
        return;
    close_span(s, lane);
    *o = (struct wr_plan_span){.from_s = s->run.now / 1e9,
                               .lane = lane,
                               .batch = (uint32_t)batch,
                               .kind = kind};
}

void wr_sim_life_worker(struct wr_sim *s, uint32_t number)
{
    const struct wr_sim_worker *w = &s->workers[number];

    wr_sim_life(s, number,
                w->busy    ? WR_PLAN_SPAN_DECODE
                : w->reads ? WR_PLAN_SPAN_READ
                           : WR_PLAN_SPAN_WAIT,
                w->batch);
}

void wr_sim_life_queue(struct wr_sim *s, uint64_t seq)
{
    const struct wr_sim_batch *b = wr_sim_batch(s, seq);
    struct wr_plan_span span = {.from_s = WR_MAX(b->ready_ns, s->queue_ns) /
                                          1e9,
                                .to_s = s->run.now / 1e9,
                                .lane = s->p->loader.workers,
                                .batch = (uint32_t)seq,
                                .kind = WR_PLAN_SPAN_QUEUED};

    if (is_kept(s))
        keep(s, &span);
    s->queue_ns = s->run.now;
    if (s->handed == (uint64_t)s->how->life + 1)
        close_all(s); /* the end of what is kept */
}

void wr_sim_life_done(struct wr_sim *s)
{
    if (is_kept(s))
        close_all(s);
    free(s->open_spans);
}
