/* worker.c - a thread that reads ahead and delivers what has arrived.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/shares.h"
#include "base/thread.h"

/* While others wait for a batch buffer, or samples for resources, look after
 * the reads this often. */
#define PARKED_POLL_NS (WR_NS_PER_MS)

/* --- the thread --- */

/* Nothing to deliver: waits for storage, or for the pipeline to move on. While
 * other samples wait for a batch buffer, both can happen. Of two lanes the
 * tier's is waited for: it is the fast one. */
static bool wait_for_work(struct wr_worker *w, bool parked)
{
    uint64_t start = wr_clock_ns();
    bool reads = w->lanes[WR_LANE_STORE].in_flight ||
                 w->lanes[WR_LANE_TIER].in_flight;
    bool open = true;

    if (reads && !parked) {
        wr_collect(
            w, w->lanes[WR_LANE_TIER].in_flight ? WR_LANE_TIER : WR_LANE_STORE,
            /* wait= */ true);
        wr_count(&w->stats.storage_wait, wr_clock_ns() - start);
    } else {
        open = wr_sched_wait(
            w->sched, w,
            reads || w->lacking || w->lacking_pieces ? PARKED_POLL_NS : 0);
        if (w->active) /* one at rest is not short of work */
            wr_count(&w->stats.idle, wr_clock_ns() - start);
    }
    return open;
}

static void *worker_main(void *arg)
{
    struct wr_worker *w = arg;
    struct wr_picked picked;
    uint64_t start;

    for (;;) {
        start = wr_clock_ns();
        wr_fetch(w);
        for (unsigned k = 0; k < WR_LANES; k++)
            wr_collect(w, k, /* wait= */ false);
        wr_count(&w->stats.submit, wr_clock_ns() - start);
        wr_sched_pick(w->sched, w, &picked);
        if (picked.unit)
            wr_unpack(w, picked.unit);
        else if (picked.count)
            wr_deliver(w, picked.tasks, picked.count);
        else if (!w->more && !wait_for_work(w, picked.parked))
            return NULL; /* reads in flight are waited for by the queue */
    }
}

int wr_worker_start(struct wr_worker *w, weir_err *err)
{
    char name[16];
    int r;

    snprintf(name, sizeof(name), "weir-work-%u", w->number % 1000);
    r = wr_thread_start(&w->thread, name, worker_main, w, err);
    w->started = r == 0;
    return r;
}

void wr_worker_hurry(struct wr_worker *w)
{
    for (unsigned k = 0; k < WR_LANES; k++)
        wr_queue_hurry(w->lanes[k].queue);
}

void wr_worker_stop(struct wr_worker *w)
{
    if (w->started)
        pthread_join(w->thread, NULL);
    w->started = false;
}

/* Memory for encoded samples, of all workers together; the samples that fill
 * holes and the only one of a worker are granted beyond it. */
#define RAW_BYTES ((uint64_t)2 << 30)

/* One worker's half of it: one is for the ring, one for what does not fit. */
static size_t raw_share(const struct wr_sched *s)
{
    uint64_t all = WR_MIN(RAW_BYTES, wr_share_all(WR_SHARE_MEMORY));

    return (size_t)(all / 2 / s->cfg.threads);
}

size_t wr_worker_ring_for(const struct wr_sched *s, unsigned depth)
{
    uint64_t n = wr_index_count(s->ds->index);
    uint64_t mean = wr_index_bytes(s->ds->index) / WR_MAX(n, (uint64_t)1);
    bool tiers = s->cache && wr_cache_store(s->cache);
    size_t usual, size;

    if (tiers && s->cache_decoded) /* tensors are read, too */
        mean = WR_MAX(mean, s->arrays.sample_bytes);
    else if (s->into_slot && !tiers)
        return 0;
    usual = wr_read_cap((size_t)WR_MIN(mean, WR_SAMPLE_MAX), s->cfg.direct);
    size = 2 * (usual + WR_DIRECT_ALIGN) * depth;
    return WR_MIN(WR_MAX(size, WR_RING_LEAST),
                  WR_MAX(raw_share(s), WR_RING_LEAST));
}

size_t wr_worker_ring(const struct wr_sched *s, unsigned depth)
{
    return WR_MIN(wr_worker_ring_for(s, depth), atomic_load(&s->ring_most));
}

/* Parts of a sample; one that needs none to be read may lie in a tier. */
static unsigned parts_of(const struct wr_sched *s)
{
    return WR_MAX(s->arrays.parts, 1u);
}

static void init_task(struct wr_worker *w, unsigned i)
{
    struct wr_task *t = &w->tasks[i];
    unsigned parts = parts_of(w->sched);

    t->owner = w;
    t->reads = &w->reads[(size_t)i * parts];
    for (unsigned k = 0; k < parts; k++) {
        t->reads[k].task = t;
        t->reads[k].column = w->sched->arrays.columns[k];
    }
    w->spare[w->spare_count++] = t;
}

static int init_records(struct wr_worker *w, weir_err *err)
{
    unsigned depth = w->sched->cfg.depth, parts = parts_of(w->sched);
    size_t reads = (size_t)depth * parts + WR_UNIT_WINDOW;

    w->tasks = calloc(depth, sizeof(*w->tasks));
    w->reads = calloc((size_t)depth * parts, sizeof(*w->reads));
    w->spare = calloc(depth, sizeof(struct wr_task *));
    w->returned = calloc(depth, sizeof(struct wr_task *));
    w->tickets = calloc(depth, sizeof(*w->tickets));
    w->arrived = calloc(depth, sizeof(struct wr_task *));
    w->finished = calloc(depth, sizeof(struct wr_task *));
    w->reaped = calloc(reads, sizeof(struct wr_io *));
    for (unsigned k = 0; k < WR_LANES; k++)
        w->lanes[k].reads = calloc(reads, sizeof(struct wr_io *));
    if (!w->tasks || !w->reads || !w->spare || !w->returned || !w->tickets ||
        !w->arrived || !w->finished || !w->reaped ||
        !w->lanes[WR_LANE_STORE].reads || !w->lanes[WR_LANE_TIER].reads ||
        !wr_arena_init(&w->arena, wr_worker_ring_for(w->sched, depth),
                       depth * parts, raw_share(w->sched)))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (unsigned i = 0; i < depth; i++)
        init_task(w, i);
    return 0;
}

static int open_lane(struct wr_worker *w, enum wr_lane_name lane,
                     struct wr_store *st, weir_err *err)
{
    const weir_pipeline_config *c = &w->sched->cfg;
    unsigned depth = lane == WR_LANE_TIER
                         ? c->depth
                         : c->depth * parts_of(w->sched) + w->pieces_most;
    struct wr_queue_config qc = {
        .depth = depth, .io = c->io, .direct = c->direct};

    return st ? st->ops->queue_open(st, &qc, &w->lanes[lane].queue, err) : 0;
}

/* One for each field that does not come out as it lies. */
static int init_decoders(struct wr_worker *w, weir_err *err)
{
    const struct wr_arrays *a = &w->sched->arrays;
    int r = wr_unpack_init(&w->unpack, wr_index_schema(a->index), err);

    w->decoders = calloc((size_t)a->count + 1, sizeof(struct wr_decoder *));
    if (r == 0 && !w->decoders)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    w->unpack.left = w->sched->custom ? w->sched->custom->left : NULL;
    for (unsigned k = 0; r == 0 && k < a->count; k++) {
        const struct wr_array *f = &a->of[k];
        const struct wr_field_want want = wr_array_want(f, &w->sched->cfg);

        if (f->field->column == WR_NO_COLUMN)
            continue;
        w->unpack.wanted[f->number] = true;
        if (w->sched->custom && w->sched->custom->decoder_new)
            r = w->sched->custom->decoder_new(w->sched->custom->arg,
                                              &w->decoders[k], err);
        else if (!f->shape.direct && !f->padded)
            r = wr_decoder_new(f->field, &want, &w->decoders[k], err);
    }
    return r;
}

static void done_decoders(struct wr_worker *w)
{
    for (unsigned k = 0; w->decoders && k < w->sched->arrays.count; k++)
        if (w->decoders[k])
            w->decoders[k]->ops->free(w->decoders[k]);
    free(w->decoders);
    wr_unpack_done(&w->unpack);
}

int wr_worker_init(struct wr_worker *w, struct wr_sched *s,
                   struct wr_objects *objects, weir_err *err)
{
    const weir_dataset *ds = s->ds;
    int r;

    w->sched = s;
    w->objects = objects;
    if (wr_index_unit_count(ds->index))
        w->pieces_most = WR_MIN(s->cfg.depth, WR_UNIT_WINDOW);
    r = init_records(w, err);
    if (r == 0)
        r = open_lane(w, WR_LANE_STORE, ds->store, err);
    if (r == 0 && s->cache)
        r = open_lane(w, WR_LANE_TIER, wr_cache_store(s->cache), err);
    if (r < 0 || s->cfg.stages == WEIR_STAGES_READ)
        return r;
    return init_decoders(w, err);
}

void wr_worker_done(struct wr_worker *w)
{
    unsigned parts = w->sched ? parts_of(w->sched) : 0;

    for (unsigned k = 0; k < WR_LANES; k++) {
        if (w->lanes[k].queue)
            w->lanes[k].queue->ops->close(w->lanes[k].queue);
        free(w->lanes[k].reads);
    }
    done_decoders(w);
    for (unsigned i = 0; w->tasks && i < w->sched->cfg.depth; i++)
        free(w->tasks[i].text);
    for (unsigned i = 0; w->reads && i < w->sched->cfg.depth * parts; i++) {
        wr_block_free(&w->reads[i].block);
        free(w->reads[i].path);
        free(w->reads[i].text);
    }
    wr_arena_done(&w->arena);
    free(w->tasks);
    free(w->reads);
    free(w->entry);
    free(w->tiles);
    free(w->spare);
    free(w->returned);
    free(w->tickets);
    free(w->arrived);
    free(w->finished);
    free(w->reaped);
}
