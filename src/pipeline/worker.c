/* worker.c - a thread that reads ahead and decodes what has arrived.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/worker.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"

/* One encoded sample; nothing sensible is larger. */
#define MAX_SAMPLE ((uint64_t)1 << 31)
/* While others wait for a batch buffer, look after the reads this often. */
#define PARKED_POLL_NS (WR_NS_PER_MS)

static void count_ns(atomic_uint_fast64_t *sum, uint64_t ns)
{
    /* One writer: no read-modify-write needed. */
    atomic_store_explicit(sum,
                          atomic_load_explicit(sum, memory_order_relaxed) + ns,
                          memory_order_relaxed);
}

/* --- what became of a sample --- */

static void mark_bad(struct wr_task *t, const weir_err *err)
{
    t->code = err->code;
    t->text = strdup(err->msg);
}

static void finish_one(struct wr_worker *w, struct wr_task *t)
{
    wr_block_free(&t->block);
    wr_sched_finish(w->sched, &t, 1);
}

/* --- reading --- */

static bool set_path(struct wr_worker *w, struct wr_task *t)
{
    const struct wr_index *ix = w->sched->ds->index;
    size_t len = wr_index_object_path(ix, t->place.object, t->path,
                                      t->path_cap);

    if (len < t->path_cap)
        return true;
    if (!wr_grow(&t->path, &t->path_cap, len + 1, 1))
        return false;
    wr_index_object_path(ix, t->place.object, t->path, t->path_cap);
    return true;
}

static void *slot_of(const struct wr_task *t)
{
    const struct wr_sched *s = t->batch->sched;

    return s->wants_data ? (uint8_t *)t->batch->data + t->slot * s->shape.bytes
                         : NULL;
}

/* Memory for the encoded bytes, or the slot itself; false: not now. A fill
 * must not wait for samples of later batches to be decoded: they may be
 * waiting for it. */
static bool set_memory(struct wr_worker *w, struct wr_task *t, bool fill)
{
    const struct wr_sched *s = w->sched;
    size_t cap = wr_read_cap(t->rd.len, s->cfg.direct);

    if (s->into_slot) {
        t->rd.buf = slot_of(t);
        t->rd.cap = t->rd.len;
        return true;
    }
    if (!wr_arena_alloc(&w->arena, cap, &t->block) &&
        !(fill && wr_arena_alloc_heap(&w->arena, cap, &t->block)))
        return false;
    t->rd.buf = t->block.mem;
    t->rd.cap = cap;
    return true;
}

static int check_length(const struct wr_worker *w, const struct wr_task *t,
                        weir_err *err)
{
    uint64_t len = t->place.length;

    if (len == 0)
        return wr_fail(err, WEIR_EFORMAT, "'%s': empty", t->path);
    if (len > MAX_SAMPLE)
        return wr_fail(err, WEIR_ELIMIT,
                       "'%s': a sample of %" PRIu64 " bytes is over the limit",
                       t->path, len);
    if (w->sched->into_slot && len != w->sched->shape.bytes)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': a sample of %" PRIu64 " bytes, not %zu", t->path,
                       len, w->sched->shape.bytes);
    return 0;
}

/* Turns a ticket into a read; false: no memory for it now. A sample that
 * cannot be read at all is finished at once (*ret_started is then false). */
static bool start_ticket(struct wr_worker *w, const struct wr_ticket *ticket,
                         bool *ret_started)
{
    struct wr_task *t = w->spare[w->spare_count - 1];
    const struct wr_sched *s = w->sched;
    weir_err err;

    *ret_started = false;
    t->batch = ticket->batch;
    t->slot = ticket->slot;
    t->id = ticket->id;
    t->code = 0;
    wr_index_place(s->ds->index, t->id, &t->place);
    if (!set_path(w, t)) {
        wr_fail(&err, WEIR_ENOMEM, "out of memory");
    } else if (check_length(w, t, &err) == 0) {
        t->rd = (struct wr_read){
            .path = t->path,
            .offset = t->place.offset,
            .len = (size_t)t->place.length,
            .whole = t->place.whole && !s->into_slot,
        };
        if (set_memory(w, t, ticket->fill)) {
            if (!t->place.whole)
                t->rd.object = wr_objects_get(w->objects, t->place.object,
                                              t->path);
            w->spare_count--;
            *ret_started = true;
            return true;
        }
        /* With all records spare nothing will come free: wait no longer. */
        if (!ticket->fill && w->spare_count < s->cfg.depth)
            return false;
        wr_fail(&err, WEIR_ENOMEM, "'%s': no memory for %zu bytes", t->path,
                t->rd.len);
    }
    w->spare_count--;
    mark_bad(t, &err);
    finish_one(w, t);
    return true;
}

/* Keeps the queue full. */
static void top_up(struct wr_worker *w)
{
    unsigned n = 0, sent = 0;
    bool started;

    wr_sched_take(w->sched, w);
    while (w->ticket_count && w->spare_count) {
        if (!start_ticket(w, &w->tickets[w->ticket_head], &started))
            break;
        w->ticket_head++;
        w->ticket_count--;
        if (started)
            w->reads[n++] = &w->spare[w->spare_count]->rd;
    }
    /* The queue is as deep as there are records, so it takes all of them. */
    while (sent < n)
        sent += w->queue->ops->submit(w->queue, w->reads + sent, n - sent);
    w->in_flight += n;
}

static struct wr_task *task_of(struct wr_read *rd)
{
    return (struct wr_task *)rd; /* its first member */
}

/* Takes what has arrived: to be decoded, or finished at once. */
static void collect(struct wr_worker *w, bool wait)
{
    unsigned n = w->queue->ops->reap(w->queue, w->reads, w->in_flight, wait);
    unsigned arrived = 0, finished = 0;
    uint64_t bytes = 0;
    weir_err err;

    w->in_flight -= n;
    for (unsigned i = 0; i < n; i++) {
        struct wr_task *t = task_of(w->reads[i]);

        bytes += t->rd.got;
        if (t->rd.result == 0 && w->decoder && !w->sched->into_slot) {
            w->batch[arrived++] = t;
            continue;
        }
        if (t->rd.result) {
            wr_read_error(&t->rd, t->path, &err);
            mark_bad(t, &err);
        }
        wr_block_free(&t->block);
        w->reads[finished++] = &t->rd;
    }
    count_ns(&w->stats.bytes, bytes);
    if (arrived)
        wr_sched_arrive(w->sched, w->batch, arrived);
    for (unsigned i = 0; i < finished; i++)
        w->batch[i] = task_of(w->reads[i]);
    if (finished)
        wr_sched_finish(w->sched, w->batch, finished);
}

/* --- decoding --- */

static void name_error(const struct wr_task *t, weir_err *err)
{
    if (t->place.whole)
        wr_fail_prefix(err, err->code, "'%s'", t->path);
    else
        wr_fail_prefix(err, err->code,
                       "'%s': sample %" PRIu64 " at offset %" PRIu64, t->path,
                       t->id, t->place.offset);
}

static void decode(struct wr_worker *w, struct wr_task *t)
{
    struct wr_picture_times times = {0};
    uint64_t start = wr_clock_ns(), spent;
    weir_err err;
    int r;

    r = w->decoder->ops->decode(
        w->decoder,
        &(struct wr_sample){.bytes = t->rd.data, .len = t->rd.len, .id = t->id},
        slot_of(t), &times, &err);
    if (r < 0) {
        name_error(t, &err);
        mark_bad(t, &err);
    }
    spent = wr_clock_ns() - start;
    count_ns(&w->stats.resample, WR_MIN(times.resample_ns, spent));
    count_ns(&w->stats.decode, spent - WR_MIN(times.resample_ns, spent));
    finish_one(w, t);
}

/* --- the thread --- */

/* Nothing to decode: waits for storage, or for the pipeline to move on. While
 * other samples wait for a batch buffer, both can happen. */
static bool wait_for_work(struct wr_worker *w, bool parked)
{
    uint64_t start = wr_clock_ns();
    bool open = true;

    if (w->in_flight && !parked) {
        collect(w, /* wait= */ true);
        count_ns(&w->stats.storage_wait, wr_clock_ns() - start);
    } else {
        open = wr_sched_wait(w->sched, w, w->in_flight ? PARKED_POLL_NS : 0);
        count_ns(&w->stats.idle, wr_clock_ns() - start);
    }
    return open;
}

static void *worker_main(void *arg)
{
    struct wr_worker *w = arg;
    struct wr_task *t;
    uint64_t start;
    bool parked;

    for (;;) {
        start = wr_clock_ns();
        top_up(w);
        if (w->in_flight)
            collect(w, /* wait= */ false);
        count_ns(&w->stats.submit, wr_clock_ns() - start);
        t = wr_sched_pick(w->sched, &parked);
        if (t)
            decode(w, t);
        else if (!wait_for_work(w, parked))
            return NULL; /* reads in flight are waited for by the queue */
    }
}

int wr_worker_start(struct wr_worker *w, unsigned number, weir_err *err)
{
    char name[16];
    int r;

    snprintf(name, sizeof(name), "weir-work-%u", number % 1000);
    r = wr_thread_start(&w->thread, name, worker_main, w, err);
    w->started = r == 0;
    return r;
}

void wr_worker_stop(struct wr_worker *w)
{
    if (w->started)
        pthread_join(w->thread, NULL);
    w->started = false;
}

/* Memory for encoded samples, of all workers together; the samples that fill
 * holes and the only one of a worker are granted beyond it. */
#define RAW_BYTES ((size_t)2 << 30)

/* Ring memory for `depth` samples of twice the usual size. Where samples are so
 * large that fewer fit, fewer are in flight. */
static size_t arena_size(const struct wr_sched *s)
{
    uint64_t n = wr_index_count(s->ds->index);
    uint64_t mean = wr_index_bytes(s->ds->index) / WR_MAX(n, (uint64_t)1);
    size_t usual = wr_read_cap((size_t)WR_MIN(mean, MAX_SAMPLE), s->cfg.direct);
    size_t size = 2 * (usual + WR_DIRECT_ALIGN) * s->cfg.depth;
    size_t most = RAW_BYTES / 2 / s->cfg.threads;

    return WR_MIN(WR_MAX(size, (size_t)2 << 20), WR_MAX(most, (size_t)2 << 20));
}

static int init_records(struct wr_worker *w, weir_err *err)
{
    unsigned depth = w->sched->cfg.depth;

    w->tasks = calloc(depth, sizeof(*w->tasks));
    w->spare = calloc(depth, sizeof(struct wr_task *));
    w->returned = calloc(depth, sizeof(struct wr_task *));
    w->tickets = calloc(depth, sizeof(*w->tickets));
    w->batch = calloc(depth, sizeof(struct wr_task *));
    w->reads = calloc(depth, sizeof(struct wr_read *));
    if (!w->tasks || !w->spare || !w->returned || !w->tickets || !w->batch ||
        !w->reads ||
        !wr_arena_init(&w->arena,
                       w->sched->into_slot ? 0 : arena_size(w->sched), depth,
                       RAW_BYTES / 2 / w->sched->cfg.threads))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (unsigned i = 0; i < depth; i++) {
        w->tasks[i].owner = w;
        w->spare[w->spare_count++] = &w->tasks[i];
    }
    return 0;
}

int wr_worker_init(struct wr_worker *w, struct wr_sched *s,
                   struct wr_objects *objects, weir_err *err)
{
    const weir_dataset *ds = s->ds;
    struct wr_queue_config qc = {
        .depth = s->cfg.depth, .io = s->cfg.io, .direct = s->cfg.direct};
    int r;

    w->sched = s;
    w->objects = objects;
    r = init_records(w, err);
    if (r < 0)
        return r;
    r = ds->store->ops->queue_open(ds->store, &qc, &w->queue, err);
    if (r < 0 || s->cfg.stages == WEIR_STAGES_READ)
        return r;
    return ds->format->decoder_new(ds->index, &s->cfg, &w->decoder, err);
}

void wr_worker_done(struct wr_worker *w)
{
    if (w->queue)
        w->queue->ops->close(w->queue);
    if (w->decoder)
        w->decoder->ops->free(w->decoder);
    for (unsigned i = 0; w->tasks && i < w->sched->cfg.depth; i++) {
        if (w->tasks[i].block.mem)
            wr_block_free(&w->tasks[i].block);
        free(w->tasks[i].path);
        free(w->tasks[i].text);
    }
    wr_arena_done(&w->arena);
    free(w->tasks);
    free(w->spare);
    free(w->returned);
    free(w->tickets);
    free(w->batch);
    free(w->reads);
}
