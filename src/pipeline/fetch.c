/* fetch.c - from a ticket to the bytes of its sample, wherever they are.
 * SPDX-License-Identifier: Apache-2.0
 *
 * In this order: the cache (memory, then folders), bytes that samples share
 * (unit.c), a read of its own. */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "pipeline/worker.h"

void wr_send(struct wr_worker *w, enum wr_lane_name lane, struct wr_io *rd)
{
    w->lanes[lane].reads[w->lanes[lane].read_count++] = rd;
}

uint64_t wr_lack_due(struct wr_worker *w, uint64_t *lack_ns)
{
    uint64_t now = wr_clock_ns(), pause;

    if (!*lack_ns)
        *lack_ns = now;
    pause = wr_lack_backoff(*lack_ns, now);
    if (!pause || wr_sched_is_over(w->sched))
        return 0;
    return w->lacking || w->lacking_pieces ? w->lacking_due_ns : now + pause;
}

/* Resources that lacked for it come back when others are done with theirs: it
 * is read again after a while. False: that was tried for long enough. */
static bool read_later(struct wr_worker *w, struct wr_read *r)
{
    uint64_t due = wr_lack_due(w, &r->lack_ns);

    if (!due)
        return false;
    wr_block_free(&r->block);
    w->lacking_due_ns = due;
    r->next_waiting = w->lacking;
    w->lacking = r;
    return true;
}

static void finish_bad(struct wr_worker *w, struct wr_read *r,
                       const weir_err *err)
{
    if (wr_err_is_lack(err->code) && read_later(w, r))
        return;
    wr_task_fail(r->task, err);
    w->finished[w->finished_count++] = r->task;
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
    wr_send_pieces(w);
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
    size_t len = wr_index_object_path(ix, t->reads[0].part.object, t->path,
                                      t->path_cap);

    if (len < t->path_cap)
        return true;
    if (!wr_grow(&t->path, &t->path_cap, len + 1, 1))
        return false;
    wr_index_object_path(ix, t->reads[0].part.object, t->path, t->path_cap);
    return true;
}

static int check_length(const struct wr_worker *w, const struct wr_task *t,
                        weir_err *err)
{
    uint64_t len = t->reads[0].part.length;

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
static bool set_memory(struct wr_worker *w, struct wr_read *r, size_t len,
                       bool urgent)
{
    size_t cap = wr_read_cap(len, w->sched->cfg.direct);

    if (!wr_arena_alloc(&w->arena, cap, &r->block) &&
        !(urgent && wr_arena_alloc_heap(&w->arena, cap, &r->block)))
        return false;
    r->rd.buf = r->block.mem;
    r->rd.cap = cap;
    return true;
}

static bool read_alone(struct wr_worker *w, struct wr_read *r, bool urgent)
{
    const struct wr_sched *s = w->sched;
    const struct wr_part *part = &r->part;
    const char *path = r->task->path;

    r->rd = (struct wr_io){
        .path = path,
        .offset = part->offset,
        .len = (size_t)part->length,
        .whole = part->whole && !s->into_slot,
        .tag = WR_TAG_PART,
    };
    if (s->into_slot) {
        r->rd.buf = wr_task_slot(r->task);
        r->rd.cap = r->rd.len;
    } else if (!set_memory(w, r, r->rd.len, urgent)) {
        return false;
    }
    if (!part->whole)
        r->rd.object = wr_objects_get(w->objects, part->object, path);
    wr_send(w, WR_LANE_STORE, &r->rd);
    return true;
}

/* --- bytes that samples share --- */

static void load(struct wr_worker *w, struct wr_shared *u)
{
    struct wr_object *from = wr_objects_get(w->objects, u->object,
                                            wr_unit_path(u));

    wr_unit_go_on(w, u, wr_unit_begin(u, from));
}

static bool from_unit(struct wr_worker *w, struct wr_read *r,
                      enum wr_unit_ask ask)
{
    weir_err err;

    switch (wr_units_get(w->sched->units, r, ask, &err)) {
    case WR_UNIT_NONE:
        return false;
    case WR_UNIT_BAD:
        wr_task_fail(r->task, &err);
        w->finished[w->finished_count++] = r->task;
        break;
    case WR_UNIT_READY:
        w->arrived[w->arrived_count++] = r->task;
        break;
    case WR_UNIT_WAIT:
        break;
    case WR_UNIT_LOAD:
        load(w, r->unit);
        break;
    }
    return true;
}

/* --- the cache --- */

static bool read_tier(struct wr_worker *w, struct wr_task *t, bool urgent)
{
    struct wr_read *r = &t->reads[0];

    r->rd = (struct wr_io){
        .object = t->hit.object,
        .offset = t->hit.offset,
        .len = t->hit.len,
        .tag = WR_TAG_PART,
    };
    if (!set_memory(w, r, t->hit.len, urgent))
        return false;
    wr_send(w, WR_LANE_TIER, &r->rd);
    return true;
}

/* Is it in a tier? What lies there is not trusted to be as long as it should
 * be. */
static bool find_hit(struct wr_worker *w, struct wr_task *t)
{
    const struct wr_sched *s = w->sched;

    if (!s->cache || !wr_cache_find(s->cache, t->id, &t->hit))
        return false;
    if (t->hit.len == (s->cache_decoded ? s->arrays.sample_bytes
                                        : (size_t)t->reads[0].part.length))
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

    t->reads[0].rd = (struct wr_io){.data = at.out, .len = t->hit.len};
    w->arrived[w->arrived_count++] = t;
}

/* --- tickets --- */

enum started { STARTED, LATER };

static enum started fail_memory(struct wr_worker *w, struct wr_read *r)
{
    const char *path = r->task->path;
    weir_err err;

    wr_fail(&err, WEIR_ENOMEM, "'%s': no memory for %" PRIu64 " bytes",
            path ? path : "", r->part.length);
    finish_bad(w, r, &err);
    return STARTED;
}

/* One that must not wait for memory: others may wait for it, or there is
 * nothing that could come free, as all other records are spare. */
static bool is_urgent(const struct wr_worker *w, const struct wr_ticket *ticket)
{
    return ticket->fill || w->spare_count + 1 == w->sched->cfg.depth;
}

/* Reads what no tier has. */
static enum started start_read(struct wr_worker *w, struct wr_read *r,
                               struct wr_ticket *ticket)
{
    bool indexed = wr_part_is_packed(&r->part);
    bool urgent = is_urgent(w, ticket);
    enum wr_unit_ask ask = ticket->fill ? WR_ASK_FILL
                           : urgent     ? WR_ASK_URGENT
                                        : WR_ASK_USUAL;

    if (w->sched->cache && !ticket->missed)
        wr_count(&w->stats.misses, 1);
    /* A sample asks once, but for one that cannot be read alone. */
    if ((!ticket->missed || indexed) && from_unit(w, r, ask))
        return STARTED;
    ticket->missed = true;
    if (!indexed && read_alone(w, r, urgent))
        return STARTED;
    return urgent ? fail_memory(w, r) : LATER;
}

static enum started start(struct wr_worker *w, struct wr_task *t,
                          struct wr_ticket *ticket)
{
    const struct wr_sched *s = w->sched;
    bool urgent = is_urgent(w, ticket);
    struct wr_read *r = &t->reads[0];
    weir_err err;

    if (!set_path(w, t))
        return fail_memory(w, r);
    if (check_length(w, t, &err) < 0) {
        finish_bad(w, r, &err);
        return STARTED;
    }
    t->from_cache = !ticket->missed && find_hit(w, t);
    t->is_tensor = t->from_cache && (s->cache_decoded || s->into_slot);
    if (!t->from_cache)
        return start_read(w, r, ticket);
    if (t->hit.bytes) {
        take_hit(w, t);
        return STARTED;
    }
    if (read_tier(w, t, urgent))
        return STARTED;
    return urgent ? fail_memory(w, r) : LATER;
}

/* Once more, and alone: what was to give it its bytes did not. It waits for
 * nothing, as it may be one that others wait for. */
static void read_again(struct wr_worker *w, struct wr_read *r)
{
    struct wr_task *t = r->task;
    weir_err err;

    t->from_cache = t->is_tensor = false;
    if (!set_path(w, t))
        fail_memory(w, r);
    else if (check_length(w, t, &err) < 0)
        finish_bad(w, r, &err);
    else if (wr_part_is_packed(&r->part)
                 ? !from_unit(w, r, WR_ASK_FILL)
                 : !read_alone(w, r, /* urgent= */ true))
        fail_memory(w, r);
}

/* Those that resources lacked for, when it is time. */
static void read_lacking(struct wr_worker *w)
{
    struct wr_read *list = w->lacking, *r;

    if ((!list && !w->lacking_pieces) || wr_clock_ns() < w->lacking_due_ns)
        return;
    w->lacking = NULL;
    wr_send_lacking_pieces(w);
    while ((r = list)) {
        list = r->next_waiting;
        read_again(w, r);
    }
}

static enum started start_ticket(struct wr_worker *w, struct wr_ticket *ticket)
{
    struct wr_task *t = w->spare[--w->spare_count];

    t->batch = ticket->batch;
    t->slot = ticket->slot;
    t->id = ticket->id;
    t->code = 0;
    t->reads[0].lack_ns = 0;
    t->reads[0].unit = NULL;
    wr_index_part(w->sched->ds->index, 0, t->id, &t->reads[0].part);
    t->label = t->reads[0].part.label;
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
        struct wr_read *r = w->again;

        w->again = r->next_waiting;
        read_again(w, r);
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

/* An entry of a folder that cannot be read or is damaged: as if it had not
 * been found. One that there were no resources to read stays. */
static bool is_good_hit(struct wr_worker *w, struct wr_task *t)
{
    const struct wr_io *rd = &t->reads[0].rd;
    const void *bytes = rd->result == 0 ? rd->data : NULL;

    if (!wr_err_is_lack(rd->result) &&
        wr_cache_check(w->sched->cache, t->id, &t->hit, bytes))
        return true;
    wr_count(&w->stats.misses, 1);
    wr_block_free(&t->reads[0].block);
    read_again(w, &t->reads[0]);
    return false;
}

static void part_arrived(struct wr_worker *w, struct wr_read *r)
{
    const struct wr_sched *s = w->sched;
    struct wr_task *t = r->task;
    weir_err err;

    if (t->from_cache) {
        if (!is_good_hit(w, t))
            return;
    } else if (r->rd.result) {
        wr_io_error(&r->rd, t->path, &err);
        if (wr_err_is_lack(err.code) && read_later(w, r))
            return;
        wr_task_fail(t, &err);
    }
    if (t->code == 0 && s->delivers && (t->from_cache || !s->into_slot)) {
        w->arrived[w->arrived_count++] = t;
        return;
    }
    if (t->code == 0 && s->into_slot)
        wr_keep_slot(w, t);
    wr_block_free(&r->block);
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
        if (rd->tag == WR_TAG_UNIT) /* first member of both */
            wr_piece_arrived(w, (struct wr_unit_piece *)rd);
        else
            part_arrived(w, (struct wr_read *)rd);
    }
    wr_count(&w->stats.bytes, lane == WR_LANE_STORE ? bytes : 0);
    submit_all(w); /* what is to be read again */
    hand_over(w);
}
