/* fetch.c - from a ticket to the bytes of its sample, wherever they are.
 * SPDX-License-Identifier: Apache-2.0
 *
 * In this order: the cache (memory, then folders), bytes that samples share
 * (extent.c), a read of its own. */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "pipeline/worker.h"

static void send(struct wr_worker *w, enum wr_lane_name lane, struct wr_io *rd)
{
    w->lanes[lane].reads[w->lanes[lane].read_count++] = rd;
}

/* Resources that lacked for it come back when others are done with theirs: it
 * is read again after a while. False: that was tried for long enough. */
static bool read_later(struct wr_worker *w, struct wr_task *t)
{
    uint64_t now = wr_clock_ns(), pause;

    if (!t->lack_ns)
        t->lack_ns = now;
    pause = wr_lack_backoff(t->lack_ns, now);
    if (!pause || wr_sched_is_over(w->sched))
        return false;
    wr_block_free(&t->block);
    if (!w->lacking)
        w->lacking_due_ns = now + pause;
    t->next_waiting = w->lacking;
    w->lacking = t;
    return true;
}

static void finish_bad(struct wr_worker *w, struct wr_task *t,
                       const weir_err *err)
{
    if (wr_err_is_lack(err->code) && read_later(w, t))
        return;
    wr_task_fail(t, err);
    w->finished[w->finished_count++] = t;
}

static void submit(struct wr_worker *w, struct wr_lane *l)
{
    unsigned sent = 0;

    wr_count(&w->stats.requests, l->read_count);
    /* A queue is as deep as there are records, so it takes all of them. */
    while (sent < l->read_count)
        sent += l->queue->ops->submit(l->queue, l->reads + sent,
                                      l->read_count - sent);
    l->in_flight += l->read_count;
    l->read_count = 0;
}

static void submit_all(struct wr_worker *w)
{
    for (unsigned k = 0; k < WR_LANES; k++)
        submit(w, &w->lanes[k]);
}

static void hand_over(struct wr_worker *w)
{
    if (w->arrived_count)
        wr_sched_arrive(w->sched, w);
    if (w->finished_count)
        wr_sched_finish(w->sched, w->finished, w->finished_count);
    w->arrived_count = w->finished_count = 0;
}

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

static int check_length(const struct wr_worker *w, const struct wr_task *t,
                        weir_err *err)
{
    uint64_t len = t->place.length;

    if (len == 0)
        return wr_fail(err, WEIR_EFORMAT, "'%s': empty", t->path);
    if (len > WR_SAMPLE_MAX)
        return wr_fail(err, WEIR_ELIMIT,
                       "'%s': a sample of %" PRIu64 " bytes is over the limit",
                       t->path, len);
    if (w->sched->into_slot && len != w->sched->arrays.sample_bytes)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': a sample of %" PRIu64 " bytes, not %zu", t->path,
                       len, w->sched->arrays.sample_bytes);
    return 0;
}

/* --- a read of its own --- */

/* Memory for `len` bytes; false: not now. One that must not wait for samples of
 * later batches, because they may be waiting for it, gets it from the heap. */
static bool set_memory(struct wr_worker *w, struct wr_task *t, size_t len,
                       bool urgent)
{
    size_t cap = wr_read_cap(len, w->sched->cfg.direct);

    if (!wr_arena_alloc(&w->arena, cap, &t->block) &&
        !(urgent && wr_arena_alloc_heap(&w->arena, cap, &t->block)))
        return false;
    t->rd.buf = t->block.mem;
    t->rd.cap = cap;
    return true;
}

static bool read_alone(struct wr_worker *w, struct wr_task *t, bool urgent)
{
    const struct wr_sched *s = w->sched;

    t->rd = (struct wr_io){
        .path = t->path,
        .offset = t->place.offset,
        .len = (size_t)t->place.length,
        .whole = t->place.whole && !s->into_slot,
        .tag = WR_TAG_TASK,
    };
    if (s->into_slot) {
        t->rd.buf = wr_task_slot(t);
        t->rd.cap = t->rd.len;
    } else if (!set_memory(w, t, t->rd.len, urgent)) {
        return false;
    }
    if (!t->place.whole)
        t->rd.object = wr_objects_get(w->objects, t->place.object, t->path);
    send(w, WR_LANE_STORE, &t->rd);
    return true;
}

/* --- bytes that samples share --- */

/* A read may fail by chance, so it is tried twice, as those of other samples
 * are; and for as long as resources may come back. What it took goes where it
 * belongs. */
static int inflate(struct wr_worker *w, struct wr_extent *e, const char *path,
                   weir_err *err)
{
    struct wr_inflate_cost cost = {0};
    int r = wr_extent_inflate(e, path, &cost, err);
    uint64_t since = 0;

    if (r < 0)
        r = wr_extent_inflate(e, path, &cost, err);
    while (wr_err_is_lack(r) && !wr_sched_is_over(w->sched) &&
           wr_lack_pause(&since))
        r = wr_extent_inflate(e, path, &cost, err);
    wr_count(&w->stats.bytes, cost.bytes);
    wr_count(&w->stats.requests, cost.requests);
    wr_count(&w->stats.storage_wait, cost.read_ns);
    wr_count(&w->stats.decode, cost.inflate_ns);
    w->inflate_ns += cost.read_ns + cost.inflate_ns;
    return r;
}

static void load_extent(struct wr_worker *w, struct wr_task *t)
{
    struct wr_extent *e = t->extent;
    struct wr_task *list;
    weir_err err;

    if (!wr_part_is_packed(&t->place)) {
        e->rd.path = t->path;
        e->rd.object = wr_objects_get(w->objects, t->place.object, t->path);
        send(w, WR_LANE_STORE, &e->rd);
        return;
    }
    /* It takes long: what was begun before goes ahead. */
    submit_all(w);
    hand_over(w);
    if (inflate(w, e, t->path, &err) == 0) {
        wr_sched_arrive_list(w->sched, wr_extent_loaded(e));
        return;
    }
    /* Known as bad for this epoch: not for what says nothing about it. */
    list = wr_extent_failed(e, wr_err_is_lack(err.code) ? NULL : &err);
    while ((t = list)) { /* no part of it can be read alone */
        list = t->next_waiting;
        wr_task_fail(t, &err);
        wr_sched_finish(w->sched, &t, 1);
    }
}

static bool from_extent(struct wr_worker *w, struct wr_task *t,
                        enum wr_extent_ask ask)
{
    switch (wr_extents_get(w->sched->extents, t, ask)) {
    case WR_EXTENT_NONE:
        return false;
    case WR_EXTENT_BAD:
        w->finished[w->finished_count++] = t;
        break;
    case WR_EXTENT_READY:
        w->arrived[w->arrived_count++] = t;
        break;
    case WR_EXTENT_WAIT:
        break;
    case WR_EXTENT_LOAD:
        load_extent(w, t);
        break;
    }
    return true;
}

/* --- the cache --- */

static bool read_tier(struct wr_worker *w, struct wr_task *t, bool urgent)
{
    t->rd = (struct wr_io){
        .object = t->hit.object,
        .offset = t->hit.offset,
        .len = t->hit.len,
        .tag = WR_TAG_TASK,
    };
    if (!set_memory(w, t, t->hit.len, urgent))
        return false;
    send(w, WR_LANE_TIER, &t->rd);
    return true;
}

/* Is it in a tier? What lies there is not trusted to be as long as it should
 * be. */
static bool find_hit(struct wr_worker *w, struct wr_task *t)
{
    const struct wr_sched *s = w->sched;

    if (!s->cache || !wr_cache_find(s->cache, t->id, &t->hit))
        return false;
    if (t->hit.len ==
        (s->cache_decoded ? s->arrays.sample_bytes : (size_t)t->place.length))
        return true;
    wr_cache_check(s->cache, t->id, &t->hit, /* bytes= */ NULL);
    return false;
}

/* Found in memory: it is there. */
static void take_hit(struct wr_worker *w, struct wr_task *t)
{
    union {
        const uint8_t *in;
        uint8_t *out; /* nobody writes through it */
    } at = {.in = t->hit.bytes};

    t->rd = (struct wr_io){.data = at.out, .len = t->hit.len};
    w->arrived[w->arrived_count++] = t;
}

/* --- tickets --- */

enum started { STARTED, LATER };

static enum started fail_memory(struct wr_worker *w, struct wr_task *t)
{
    weir_err err;

    wr_fail(&err, WEIR_ENOMEM, "'%s': no memory for %" PRIu64 " bytes",
            t->path ? t->path : "", t->place.length);
    finish_bad(w, t, &err);
    return STARTED;
}

/* One that must not wait for memory: others may wait for it, or there is
 * nothing that could come free, as all other records are spare. */
static bool is_urgent(const struct wr_worker *w, const struct wr_ticket *ticket)
{
    return ticket->fill || w->spare_count + 1 == w->sched->cfg.depth;
}

/* Reads what no tier has. */
static enum started start_read(struct wr_worker *w, struct wr_task *t,
                               struct wr_ticket *ticket)
{
    bool urgent = is_urgent(w, ticket);
    enum wr_extent_ask ask = ticket->fill ? WR_ASK_FILL
                             : urgent     ? WR_ASK_URGENT
                                          : WR_ASK_USUAL;

    if (w->sched->cache && !ticket->missed)
        wr_count(&w->stats.misses, 1);
    /* A sample asks once, but for one that cannot be read alone. */
    if ((!ticket->missed || wr_part_is_packed(&t->place)) &&
        from_extent(w, t, ask))
        return STARTED;
    ticket->missed = true;
    if (!wr_part_is_packed(&t->place) && read_alone(w, t, urgent))
        return STARTED;
    return urgent ? fail_memory(w, t) : LATER;
}

static enum started start(struct wr_worker *w, struct wr_task *t,
                          struct wr_ticket *ticket)
{
    const struct wr_sched *s = w->sched;
    bool urgent = is_urgent(w, ticket);
    weir_err err;

    if (!set_path(w, t))
        return fail_memory(w, t);
    if (check_length(w, t, &err) < 0) {
        finish_bad(w, t, &err);
        return STARTED;
    }
    t->from_cache = !ticket->missed && find_hit(w, t);
    t->is_tensor = t->from_cache && (s->cache_decoded || s->into_slot);
    if (!t->from_cache)
        return start_read(w, t, ticket);
    if (t->hit.bytes) {
        take_hit(w, t);
        return STARTED;
    }
    if (read_tier(w, t, urgent))
        return STARTED;
    return urgent ? fail_memory(w, t) : LATER;
}

/* Once more, and alone: what was to give it its bytes did not. It waits for
 * nothing, as it may be one that others wait for. */
static void read_again(struct wr_worker *w, struct wr_task *t)
{
    weir_err err;

    t->from_cache = t->is_tensor = false;
    if (!set_path(w, t))
        fail_memory(w, t);
    else if (check_length(w, t, &err) < 0)
        finish_bad(w, t, &err);
    else if (wr_part_is_packed(&t->place)
                 ? !from_extent(w, t, WR_ASK_FILL)
                 : !read_alone(w, t, /* urgent= */ true))
        fail_memory(w, t);
}

/* Those that resources lacked for, when it is time. */
static void read_lacking(struct wr_worker *w)
{
    struct wr_task *list = w->lacking, *t;

    if (!list || wr_clock_ns() < w->lacking_due_ns)
        return;
    w->lacking = NULL;
    while ((t = list)) {
        list = t->next_waiting;
        read_again(w, t);
    }
}

static enum started start_ticket(struct wr_worker *w, struct wr_ticket *ticket)
{
    struct wr_task *t = w->spare[--w->spare_count];

    t->batch = ticket->batch;
    t->slot = ticket->slot;
    t->id = ticket->id;
    t->code = 0;
    t->lack_ns = 0;
    t->extent = NULL;
    wr_index_part(w->sched->ds->index, 0, t->id, &t->place);
    if (start(w, t, ticket) == STARTED)
        return STARTED;
    w->spare_count++; /* t is on top still */
    return LATER;
}

void wr_fetch(struct wr_worker *w)
{
    wr_sched_take(w->sched, w);
    w->arena.want = wr_worker_ring(w->sched, w->depth);
    while (w->again) {
        struct wr_task *t = w->again;

        w->again = t->next_waiting;
        read_again(w, t);
    }
    read_lacking(w);
    while (w->ticket_count && w->spare_count) {
        if (start_ticket(w, &w->tickets[w->ticket_head]) == LATER)
            break;
        w->ticket_head++;
        w->ticket_count--;
    }
    submit_all(w);
    hand_over(w);
}

/* --- what has arrived --- */

static void extent_arrived(struct wr_worker *w, struct wr_extent *e)
{
    if (e->rd.result == 0)
        wr_sched_arrive_list(w->sched, wr_extent_loaded(e));
    else /* which of the samples are bad shows when each is read alone */
        wr_sched_retry(w->sched, wr_extent_failed(e, NULL));
}

/* An entry of a folder that cannot be read or is damaged: as if it had not
 * been found. One that there were no resources to read stays. */
static bool is_good_hit(struct wr_worker *w, struct wr_task *t)
{
    const void *bytes = t->rd.result == 0 ? t->rd.data : NULL;

    if (!wr_err_is_lack(t->rd.result) &&
        wr_cache_check(w->sched->cache, t->id, &t->hit, bytes))
        return true;
    wr_count(&w->stats.misses, 1);
    wr_block_free(&t->block);
    read_again(w, t);
    return false;
}

static void task_arrived(struct wr_worker *w, struct wr_task *t)
{
    const struct wr_sched *s = w->sched;
    weir_err err;

    if (t->from_cache) {
        if (!is_good_hit(w, t))
            return;
    } else if (t->rd.result) {
        wr_io_error(&t->rd, t->path, &err);
        if (wr_err_is_lack(err.code) && read_later(w, t))
            return;
        wr_task_fail(t, &err);
    }
    if (t->code == 0 && s->delivers && (t->from_cache || !s->into_slot)) {
        w->arrived[w->arrived_count++] = t;
        return;
    }
    if (t->code == 0 && s->into_slot)
        wr_keep_slot(w, t);
    wr_block_free(&t->block);
    w->finished[w->finished_count++] = t;
}

void wr_collect(struct wr_worker *w, enum wr_lane_name lane, bool wait)
{
    struct wr_lane *l = &w->lanes[lane];
    uint64_t bytes = 0;
    unsigned n;

    if (!l->in_flight)
        return;
    n = l->queue->ops->reap(l->queue, w->reaped, l->in_flight, wait);
    l->in_flight -= n;
    for (unsigned i = 0; i < n; i++) {
        struct wr_io *rd = w->reaped[i];

        bytes += rd->got;
        if (rd->tag == WR_TAG_EXTENT)
            extent_arrived(w, (struct wr_extent *)rd); /* first member */
        else
            task_arrived(w, (struct wr_task *)rd);
    }
    wr_count(&w->stats.bytes, lane == WR_LANE_STORE ? bytes : 0);
    submit_all(w); /* what is to be read again */
    hand_over(w);
}
