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
bool wr_read_later(struct wr_worker *w, struct wr_read *r)
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
    if (wr_err_is_lack(err->code) && wr_read_later(w, r))
        return;
    wr_read_fail(r, err);
    wr_part_done(w, r->task);
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

void wr_submit_all(struct wr_worker *w)
{
    wr_send_pieces(w);
    for (unsigned k = 0; k < WR_LANES; k++)
        submit(w, &w->lanes[k]);
}

void wr_hand_over(struct wr_worker *w)
{
    if (w->arrived_count)
        wr_sched_arrive(w->sched, w);
    if (w->finished_count)
        wr_sched_finish(w->sched, w->finished, w->finished_count);
    w->arrived_count = w->finished_count = 0;
}

static bool set_path(struct wr_worker *w, struct wr_read *r)
{
    const struct wr_index *ix = w->sched->ds->index;
    size_t len = wr_index_object_path(ix, r->part.object, r->path, r->path_cap);

    if (len < r->path_cap)
        return true;
    if (!wr_grow(&r->path, &r->path_cap, len + 1, 1))
        return false;
    wr_index_object_path(ix, r->part.object, r->path, r->path_cap);
    return true;
}

/* All of it, or what is wanted of its beginning. */
static size_t read_length(const struct wr_sched *s, const struct wr_part *part)
{
    uint64_t most = s->custom && !s->ds->format->unpack ? s->custom->head : 0;

    return (size_t)(most ? WR_MIN(part->length, most) : part->length);
}

static int check_length(const struct wr_worker *w, const struct wr_read *r,
                        weir_err *err)
{
    const struct wr_array *only = wr_arrays_in(&w->sched->arrays, r->column);
    uint64_t len = r->part.length;

    /* A text may be empty, a picture or a tensor is not. */
    if (len == 0 && only->field->pub.kind != WEIR_FIELD_BYTES)
        return wr_fail(err, WEIR_EFORMAT, "'%s': empty", r->path);
    if (read_length(w->sched, &r->part) > WR_SAMPLE_MAX)
        return wr_fail(err, WEIR_ELIMIT,
                       "'%s': a sample of %" PRIu64 " bytes is over the limit",
                       r->path, len);
    if (w->sched->into_slot && only->shape.bytes && len != only->shape.bytes)
        return wr_fail(err, WEIR_EFORMAT,
                       "'%s': a sample of %" PRIu64 " bytes, not %zu", r->path,
                       len, only->shape.bytes);
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
    size_t len = read_length(s, part);

    r->rd = (struct wr_io){
        .path = r->path,
        .offset = part->offset,
        .len = len,
        .whole = part->whole && len == part->length,
        .tag = WR_TAG_PART,
    };
    /* A part of an object is only what the index says as long as that is the
     * one that was indexed; a whole one speaks for itself. */
    if (!part->whole)
        r->rd.identity = wr_index_object_identity(s->ds->index, part->object);
    /* There is no room behind a slot to see that a file has grown. */
    r->in_slot = s->into_slot && !part->whole;
    if (r->in_slot) {
        r->rd.buf = wr_read_slot(r);
        r->rd.cap = r->rd.len;
        if (!r->rd.buf)
            return false;
    } else if (!set_memory(w, r, r->rd.len, urgent)) {
        return false;
    }
    if (!part->whole)
        r->rd.object = wr_objects_get(w->objects, part->object, r->path);
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
    struct wr_shared *early;
    weir_err err;

    switch (wr_units_get(w->sched->units, r, ask, &err)) {
    case WR_UNIT_NONE:
        return false;
    case WR_UNIT_BAD:
        wr_read_fail(r, &err);
        wr_part_done(w, r->task);
        break;
    case WR_UNIT_READY:
        wr_part_done(w, r->task);
        break;
    case WR_UNIT_WAIT:
        break;
    case WR_UNIT_LOAD:
        load(w, r->unit);
        break;
    }
    early = ask != WR_ASK_FILL ? wr_units_early(w->sched->units, r) : NULL;
    if (early)
        load(w, early);
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
    if (t->hit.len ==
        (s->cache_decoded ? s->arrays.sample_bytes : wr_task_stored(t)))
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
    wr_task_split(t);
    w->arrived[w->arrived_count++] = t;
}

/* --- tickets --- */

enum started { STARTED, LATER };

static enum started fail_memory(struct wr_worker *w, struct wr_read *r)
{
    weir_err err;

    wr_fail(&err, WEIR_ENOMEM, "'%s': no memory for %" PRIu64 " bytes",
            r->path ? r->path : "", r->part.length);
    finish_bad(w, r, &err);
    return STARTED;
}

/* One that must not wait for memory: others may wait for it, or there is
 * nothing that could come free, as all other records are spare. */
static bool is_urgent(const struct wr_worker *w, const struct wr_ticket *ticket)
{
    return ticket->fill || w->spare_count + 1 == w->sched->cfg.depth;
}

/* How a part is started. */
struct start {
    bool fill, urgent; /* urgent: it waits for nothing */
    bool missed;       /* no unit has it: that is settled */
    bool alone;        /* no unit is asked, if it can be read without */
};

static enum started start_part(struct wr_worker *w, struct wr_read *r,
                               struct start how)
{
    bool indexed = r->part.unit != WR_NO_UNIT;
    enum wr_unit_ask ask = how.fill     ? WR_ASK_FILL
                           : how.urgent ? WR_ASK_URGENT
                                        : WR_ASK_USUAL;
    weir_err err;

    if (!set_path(w, r))
        return fail_memory(w, r);
    if (check_length(w, r, &err) < 0) {
        finish_bad(w, r, &err);
        return STARTED;
    }
    /* A sample asks once, but for one that cannot be read alone. */
    if ((!(how.missed || how.alone) || indexed) && from_unit(w, r, ask))
        return STARTED;
    if (!indexed && read_alone(w, r, how.urgent))
        return STARTED;
    return how.urgent ? fail_memory(w, r) : LATER;
}

/* Reads what no tier has. The first part may have to wait for memory; when it
 * has it, the others do not wait, else two samples could wait for each other's
 * memory for ever. */
static enum started start_parts(struct wr_worker *w, struct wr_task *t,
                                struct start how)
{
    unsigned parts = w->sched->arrays.parts;

    t->from_cache = t->is_tensor = false;
    atomic_store_explicit(&t->pending, parts + 1, memory_order_relaxed);
    for (unsigned k = 0; k < parts; k++) {
        struct wr_read *r = &t->reads[k];

        r->in_slot = false;
        if (r->part.absent) {
            wr_part_done(w, t);
            continue;
        }
        if (start_part(w, r, how) == LATER)
            return LATER;
        how.urgent = true;
        how.missed = false;
    }
    wr_part_done(w, t); /* all of them are on their way, or there */
    return STARTED;
}

static enum started start_reads(struct wr_worker *w, struct wr_task *t,
                                struct wr_ticket *ticket)
{
    struct start how = {.fill = ticket->fill,
                        .urgent = is_urgent(w, ticket),
                        .missed = ticket->missed};

    if (w->sched->cache && !ticket->missed)
        wr_count(&w->stats.misses, 1);
    ticket->missed = true;
    return start_parts(w, t, how);
}

static bool set_paths(struct wr_worker *w, struct wr_task *t)
{
    for (unsigned k = 0; k < w->sched->arrays.parts; k++)
        if (!set_path(w, &t->reads[k]))
            return false;
    return true;
}

/* Did what a tier has of it come from what is there now? If not, it is read:
 * what is whole as it is now, a part fails for its object's identity. */
static bool is_current(struct wr_worker *w, const struct wr_task *t)
{
    for (unsigned k = 0; k < w->sched->arrays.parts; k++) {
        const struct wr_read *r = &t->reads[k];

        if (!wr_objects_same(w->objects, r->part.object, r->path))
            return false;
    }
    return true;
}

static enum started start(struct wr_worker *w, struct wr_task *t,
                          struct wr_ticket *ticket)
{
    const struct wr_sched *s = w->sched;
    bool urgent = is_urgent(w, ticket);

    if (ticket->missed || !find_hit(w, t) || !set_paths(w, t) ||
        !is_current(w, t))
        return start_reads(w, t, ticket);
    t->from_cache = true;
    t->is_tensor = s->cache_decoded || (s->into_slot && s->arrays.only);
    atomic_store_explicit(&t->pending, 1, memory_order_relaxed);
    if (t->hit.bytes) {
        take_hit(w, t);
        return STARTED;
    }
    if (read_tier(w, t, urgent))
        return STARTED;
    return urgent ? fail_memory(w, &t->reads[0]) : LATER;
}

/* Once more, and alone: what was to give it its bytes did not. It waits for
 * nothing, as it may be one that others wait for. What a tier did not give is
 * read from the beginning. */
void wr_read_again(struct wr_worker *w, struct wr_read *r)
{
    const struct start alone = {.fill = true, .urgent = true, .alone = true};

    if (r->task->from_cache)
        start_parts(w, r->task, alone);
    else
        start_part(w, r, alone);
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
        wr_read_again(w, r);
    }
}

static enum started start_ticket(struct wr_worker *w, struct wr_ticket *ticket)
{
    struct wr_task *t = w->spare[--w->spare_count];
    const struct wr_arrays *a = &w->sched->arrays;

    t->batch = ticket->batch;
    t->slot = ticket->slot;
    t->id = ticket->id;
    t->code = 0;
    for (unsigned k = 0; k < a->parts; k++) {
        struct wr_read *r = &t->reads[k];

        r->lack_ns = 0;
        r->resized = false;
        r->unit = NULL;
        r->code = 0;
        wr_index_part(a->index, r->column, t->id, &r->part);
    }
    t->label = wr_arrays_label(a, t->id, &t->reads[0].part);
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
        wr_read_again(w, r);
    }
    read_lacking(w);
    while (w->ticket_count && w->spare_count) {
        if (start_ticket(w, &w->tickets[w->ticket_head]) == LATER)
            break;
        w->ticket_head++;
        w->ticket_count--;
    }
    wr_submit_all(w);
    wr_hand_over(w);
}
