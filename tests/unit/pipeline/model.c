/* model.c - what a pipeline has to deliver, worked out the slow way.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A rank's samples are a list. A batch takes its samples from the front; the
 * places of bad ones take samples from the back, in slot order, again and
 * again until none is bad. Once the list is used up the batch's own last
 * sample moves into the place, and the batch gets shorter. */
#include "model.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pipeline/order.h"

struct play {
    struct model *m;
    struct wr_order order;
    uint64_t *list; /* owned: this rank's samples */
    size_t front, back;
    uint64_t *slots; /* owned: the batch being made */
    size_t len;
    uint64_t behind; /* numbers in this batch's places, and in front of them */
    uint64_t pads;
};

static void name_bad(struct play *g, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if (g->m->bad[g->slots[i]])
            g->m->named[g->m->named_count++] = g->slots[i];
}

static void fill_one(struct play *g, size_t slot)
{
    if (g->front < g->back) {
        g->slots[slot] = g->list[--g->back];
        return;
    }
    while (g->len > slot) {
        g->len--;
        if (g->len == slot || !g->m->bad[g->slots[g->len]]) {
            g->slots[slot] = g->slots[g->len];
            return;
        }
    }
}

static bool has_bad(const struct play *g, size_t from)
{
    for (size_t i = from; i < g->len; i++)
        if (g->m->bad[g->slots[i]])
            return true;
    return false;
}

static void make_batch(struct play *g)
{
    bool *was_bad = calloc(g->m->cfg->batch, sizeof(*was_bad));

    assert_non_null(was_bad);
    g->len = 0;
    while (g->len < g->m->cfg->batch && g->front < g->back)
        g->slots[g->len++] = g->list[g->front++];
    while (has_bad(g, 0)) {
        name_bad(g, 0, g->len);
        for (size_t i = 0; i < g->len; i++)
            was_bad[i] = g->m->bad[g->slots[i]];
        for (size_t i = 0; i < g->len; i++)
            if (was_bad[i])
                fill_one(g, i);
    }
    free(was_bad);
}

/* The first ones for the last batch, later ones for those in front of it. */
static uint64_t next_pad(struct play *g)
{
    uint64_t n = g->m->n, share = n / g->m->cfg->world;
    uint64_t start = g->m->cfg->rank * share;

    if (g->behind < share)
        start += share - g->behind;
    return wr_order_at(&g->order, (start + g->pads++) % n);
}

/* Rounds of reading: every place that still lacks a sample tries the next. */
static void pad_batch(struct play *g)
{
    size_t from = g->len;

    g->pads = 0;
    g->len = g->m->cfg->batch;
    for (size_t i = from; i < g->len; i++)
        g->slots[i] = next_pad(g);
    while (has_bad(g, from))
        for (size_t i = from; i < g->len; i++)
            if (g->m->bad[g->slots[i]])
                g->slots[i] = next_pad(g);
}

static void log_batch(struct play *g, uint64_t index, size_t unique)
{
    struct fx_log *log = &g->m->out;

    if (!wr_grow(&log->batches, &log->batch_cap, log->batch_count + 1,
                 sizeof(*log->batches)) ||
        !wr_grow(&log->ids, &log->id_cap, log->id_count + g->len,
                 sizeof(*log->ids)))
        abort();
    log->batches[log->batch_count++] = (struct fx_batch){
        g->m->epoch, index, (uint32_t)g->len, (uint32_t)unique, log->id_count};
    memcpy(log->ids + log->id_count, g->slots, g->len * sizeof(*g->slots));
    log->id_count += g->len;
}

static size_t count_batches(const struct play *g)
{
    const weir_pipeline_config *c = g->m->cfg;
    size_t share = c->remainder == WEIR_REMAINDER_PAD
                       ? (g->m->n + c->world - 1) / c->world
                       : g->back;

    return c->remainder == WEIR_REMAINDER_DROP
               ? share / c->batch
               : (share + c->batch - 1) / c->batch;
}

static bool any_good(const struct model *m)
{
    for (uint64_t i = 0; i < m->n; i++)
        if (!m->bad[i])
            return true;
    return false;
}

static void play_batches(struct play *g)
{
    struct model *m = g->m;
    size_t batches = count_batches(g);

    for (size_t b = 0; b < batches; b++) {
        size_t unique;

        g->behind += m->cfg->batch;
        make_batch(g);
        unique = g->len;
        if (m->cfg->remainder == WEIR_REMAINDER_PAD && unique < m->cfg->batch) {
            if (!any_good(m)) {
                m->fails = true;
                return;
            }
            pad_batch(g);
        }
        if (m->cfg->remainder == WEIR_REMAINDER_DROP && unique < m->cfg->batch)
            continue;
        if (g->len)
            log_batch(g, b, unique);
    }
    m->fails = batches && !m->out.batch_count;
}

void model_play(struct model *m)
{
    struct play g = {.m = m};

    wr_order_init(&g.order, m->cfg, m->n, m->epoch);
    g.list = calloc(m->n + 1, sizeof(*g.list));
    g.slots = calloc(m->cfg->batch, sizeof(*g.slots));
    m->named = calloc(m->n + 1, sizeof(*m->named));
    assert_true(g.list && g.slots && m->named);
    for (uint64_t k = m->cfg->rank; k < m->n; k += m->cfg->world)
        g.list[g.back++] = wr_order_at(&g.order, k);
    play_batches(&g);
    free(g.list);
    free(g.slots);
}

void model_done(struct model *m)
{
    fx_log_done(&m->out);
    free(m->named);
    m->named = NULL;
    m->named_count = 0;
}
