/* schedule.c - who does what next: planning, tickets, arrivals, waiting.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "base/thread.h"
#include "pipeline/worker.h"

#define SMALL_TENSOR ((size_t)64 << 10)
#define LARGE        ((uint64_t)4 << 20)

/* A consumer that waits asks its user so often whether to go on. */
#define LOOK_NS (100 * WR_NS_PER_MS)

void wr_sched_wake(struct wr_sched *s)
{
    if (s->idle)
        pthread_cond_broadcast(&s->work);
}

/* --- planning --- */

static bool may_plan(const struct wr_sched *s)
{
    uint64_t real = s->planned - s->vanished;

    if (!s->epoch || s->failure.code || s->outstanding == s->batch_count)
        return false;
    if (s->cfg.max_batches && real >= s->cfg.max_batches)
        return false;
    /* Without prefetch a batch is begun when the consumer waits for it. */
    return s->cfg.prefetch || real < s->wanted;
}

/* They are mostly given back in order: then the first look finds one. */
static struct wr_batch *free_batch(struct wr_sched *s)
{
    for (unsigned i = 0; i < s->batch_count; i++) {
        struct wr_batch *b = &s->batches[(s->planned + i) % s->batch_count];

        if (b->phase == WR_BATCH_FREE)
            return b;
    }
    return NULL;
}

/* Goes to the next epoch that has batches for this rank. */
/* NULL: out of memory. */
static struct wr_epoch *make_epoch(const struct wr_sched *s, uint64_t number,
                                   struct wr_state *resume)
{
    uint64_t n = wr_index_count(s->ds->index);
    struct wr_epoch *e = wr_epoch_new(&s->cfg, n, number, resume);

    if (e && s->same_order)
        wr_epoch_set_first(e, &s->cfg, n);
    return e;
}

static void next_epoch(struct wr_sched *s)
{
    uint64_t number = s->epoch->number + 1;

    wr_epoch_unref(s->epoch);
    s->epoch = NULL;
    s->epoch_batch = 0;
    if (s->cfg.epochs && number >= s->cfg.epochs)
        return;
    s->epoch = make_epoch(s, number, NULL);
    if (!s->epoch) {
        wr_fail(&s->failure, WEIR_ENOMEM, "out of memory");
        pthread_cond_signal(&s->ready);
    } else if (!s->epoch->batches) { /* none now, none ever */
        wr_epoch_unref(s->epoch);
        s->epoch = NULL;
    }
}

static void plan_batch(struct wr_sched *s)
{
    struct wr_batch *b = free_batch(s);
    struct wr_epoch *e = s->epoch;
    uint64_t first = s->epoch_batch * s->cfg.batch;

    b->phase = WR_BATCH_FILLING;
    b->epoch = e;
    e->refs++;
    b->seq = s->planned;
    b->index = s->epoch_batch++;
    b->planned = e->local > first
                     ? (uint32_t)WR_MIN(e->local - first, s->cfg.batch)
                     : 0;
    b->pending = b->valid = b->planned;
    b->handed = 0;
    b->padding = false;
    b->hole_count = 0;
    s->by_seq[b->seq % s->batch_count] = b;
    s->planned++;
    s->outstanding++;
    s->open = b->planned ? b : NULL;
    if (s->epoch_batch == e->batches)
        next_epoch(s);
    if (!b->planned)
        wr_sched_settle(s); /* nothing but padding */
}

/* Reads that go into the slot need the batch's buffer first. */
static bool may_hand_out(const struct wr_sched *s, const struct wr_batch *b)
{
    return !s->into_slot || wr_sched_can_buffer(s, b);
}

static bool has_fills(const struct wr_sched *s)
{
    return s->fill_count && may_hand_out(s, s->fills[s->fill_head].batch);
}

static bool has_tickets(const struct wr_sched *s)
{
    if (has_fills(s))
        return true;
    return s->open ? may_hand_out(s, s->open) : may_plan(s);
}

/* --- tickets --- */

bool wr_sched_is_active(const struct wr_sched *s, const struct wr_worker *w)
{
    return w->number < s->knobs.threads;
}

/* Records that `w` may use now for what is next in turn. */
static unsigned ticket_room(const struct wr_sched *s, const struct wr_worker *w)
{
    unsigned reserve = s->cfg.depth - s->knobs.depth;

    return wr_sched_is_active(s, w) && w->spare_count > reserve
               ? w->spare_count - reserve
               : 0;
}

static struct wr_ticket pop_fill(struct wr_sched *s)
{
    struct wr_ticket t = s->fills[s->fill_head++];

    if (--s->fill_count == 0)
        s->fill_head = 0;
    if (s->into_slot)
        wr_sched_ensure_buffer(s, t.batch);
    return t;
}

static struct wr_ticket pop_slot(struct wr_sched *s)
{
    struct wr_batch *b = s->open;
    struct wr_ticket t = {.batch = b, .slot = b->handed++};

    if (b->handed == b->planned)
        s->open = NULL;
    if (s->into_slot)
        wr_sched_ensure_buffer(s, b);
    return t;
}

/* Whoever has a record takes fills: all other records may be held by samples of
 * later batches, which wait for this one. So it matters neither whether the
 * worker was put to rest, nor how many records it should use. */
static bool may_take_fill(const struct wr_sched *s, const struct wr_worker *w)
{
    return w->ticket_count < w->spare_count && has_fills(s);
}

/* In front of the tickets that it holds already, for which it may have no
 * memory: that may be full of samples that wait for a fill. */
static void take_fill_first(struct wr_sched *s, struct wr_worker *w)
{
    memmove(&w->tickets[1], &w->tickets[w->ticket_head],
            w->ticket_count * sizeof(*w->tickets));
    w->tickets[0] = pop_fill(s);
    w->ticket_head = 0;
    w->ticket_count++;
}

void wr_sched_take(struct wr_sched *s, struct wr_worker *w)
{
    struct wr_ticket *ret = w->tickets;
    unsigned n = 0, room;

    pthread_mutex_lock(&s->lock);
    while (w->returned_count)
        w->spare[w->spare_count++] = w->returned[--w->returned_count];
    w->depth = s->knobs.depth;
    w->again = w->retry;
    w->retry = NULL;
    w->active = wr_sched_is_active(s, w);
    if (s->closing) { /* nothing more is begun */
        w->again = w->lacking = NULL;
        w->pieces = w->lacking_pieces = NULL;
        w->ticket_count = 0;
    }
    while (may_take_fill(s, w) && !s->closing)
        take_fill_first(s, w);
    room = w->ticket_count || s->closing ? 0 : ticket_room(s, w);
    while (n < (s->large ? WR_MIN(room, 1u) : room) && has_tickets(s)) {
        if (has_fills(s))
            ret[n++] = pop_fill(s);
        else if (s->open)
            ret[n++] = pop_slot(s);
        else
            plan_batch(s);
    }
    w->more = s->large && n && n < room && has_tickets(s);
    pthread_mutex_unlock(&s->lock);
    /* The permutation is worked out without the lock: an epoch's order never
     * changes, and the ticket keeps its batch alive. */
    for (unsigned i = 0; i < n; i++)
        if (!ret[i].fill)
            ret[i].id = wr_epoch_sample(ret[i].batch->epoch,
                                        ret[i].batch->index * s->cfg.batch +
                                            ret[i].slot);
    if (n) {
        w->ticket_head = 0;
        w->ticket_count = n;
    }
}

/* --- finished samples --- */

static void note_hole(struct wr_sched *s, struct wr_task *t)
{
    struct wr_batch *b = t->batch;

    if (!wr_grow(&b->holes, &b->hole_cap, b->hole_count + 1,
                 sizeof(*b->holes))) {
        wr_fail(&s->failure, WEIR_ENOMEM, "out of memory");
        free(t->text);
    } else {
        b->holes[b->hole_count++] = (struct wr_hole){
            .slot = t->slot, .id = t->id, .code = t->code, .text = t->text};
    }
    t->text = NULL;
    b->ids[t->slot] = t->id;
    b->lengths[t->slot] = wr_task_stored(t);
}

/* What this process is short of says nothing about the sample. It was waited
 * for; to pass over the sample would make the epoch short, and the state that a
 * run resumes from wrong. */
static void note_lack(struct wr_sched *s, struct wr_task *t)
{
    const char *text = t->text ? t->text : weir_strerror(t->code);

    if (!s->failure.code)
        wr_fail(&s->failure, t->code, "%s; or lower %s", text,
                t->code == WEIR_EMFILE ? "threads and depth"
                                       : "batch, prefetch, threads and depth");
    free(t->text);
    t->text = NULL;
    pthread_cond_signal(&s->ready);
}

static void note_sample(struct wr_sched *s, struct wr_task *t)
{
    struct wr_batch *b = t->batch;

    wr_arrays_set_indexed(&s->arrays, b->data, t->slot, t->id, t->label);
    b->labels[t->slot] = t->label;
    b->ids[t->slot] = t->id;
    b->lengths[t->slot] = wr_task_stored(t);
}

void wr_sched_finish(struct wr_sched *s, struct wr_task *const *tasks,
                     unsigned n)
{
    pthread_mutex_lock(&s->lock);
    for (unsigned i = 0; i < n; i++) {
        struct wr_task *t = tasks[i];

        if (wr_err_is_lack(t->code))
            note_lack(s, t);
        else if (t->code)
            note_hole(s, t);
        else
            note_sample(s, t);
        if (--t->batch->pending == 0 && t->batch->seq == s->settled)
            wr_sched_settle(s);
        t->owner->returned[t->owner->returned_count++] = t;
    }
    wr_sched_wake(s); /* owners that had no record or no memory left */
    wr_sched_join(s);
    pthread_mutex_unlock(&s->lock);
}

/* With the lock held: is there anything that `w` could do? */
static bool has_work(const struct wr_sched *s, const struct wr_worker *w)
{
    if (w->returned_count || w->retry || may_take_fill(s, w))
        return true;
    if (!wr_sched_is_active(s, w))
        return false;
    if (wr_sched_has_arrival(s))
        return true;
    return !w->ticket_count && ticket_room(s, w) && has_tickets(s);
}

bool wr_sched_wait(struct wr_sched *s, struct wr_worker *w, uint64_t limit_ns)
{
    uint64_t until = limit_ns ? wr_clock_ns() + limit_ns : UINT64_MAX;
    bool open, in_time = true;

    pthread_mutex_lock(&s->lock);
    while (!s->closing && !has_work(s, w) && in_time) {
        s->idle++;
        in_time = wr_cond_wait_until(&s->work, &s->lock, until);
        s->idle--;
    }
    open = !s->closing;
    pthread_mutex_unlock(&s->lock);
    return open;
}

bool wr_sched_is_over(struct wr_sched *s)
{
    bool over;

    pthread_mutex_lock(&s->lock);
    over = s->closing || s->failure.code;
    pthread_mutex_unlock(&s->lock);
    return over;
}

/* --- the consumer's side --- */

/* With the lock held: the object and its buffer are free again. */
static void recycle(struct wr_sched *s, struct wr_batch *b)
{
    wr_epoch_unref(b->epoch);
    wr_batch_forget_holes(b);
    b->epoch = NULL;
    b->phase = WR_BATCH_FREE;
    s->outstanding--;
    wr_sched_give_buffer_back(s, b);
    wr_sched_wake(s);
}

static bool is_over(const struct wr_sched *s)
{
    if (s->passed < s->planned)
        return false;
    return !s->epoch || (s->cfg.max_batches &&
                         s->planned - s->vanished >= s->cfg.max_batches);
}

/* With the lock held: waits for a batch, or for the user to give up. */
static void wait_ready(struct wr_sched *s)
{
    uint64_t look = s->cfg.stopped ? wr_clock_ns() + LOOK_NS : UINT64_MAX;
    bool stopped;

    s->starved = true;
    if (!wr_cond_wait_until(&s->ready, &s->lock, look)) {
        pthread_mutex_unlock(&s->lock);
        stopped = s->cfg.stopped(s->cfg.stopped_arg);
        pthread_mutex_lock(&s->lock);
        if (stopped && !s->failure.code)
            wr_fail(&s->failure, WEIR_ECANCELED, "canceled");
    }
    s->starved = false;
}

static bool is_next_ready(const struct wr_sched *s)
{
    const struct wr_batch *b = s->by_seq[s->passed % s->batch_count];

    return s->passed < s->settled && b->phase == WR_BATCH_READY;
}

/* With the lock held: 1 and a batch, 0 at the end, or an error. */
static int next_locked(struct wr_sched *s, struct wr_batch **ret, weir_err *err)
{
    for (;;) {
        struct wr_batch *b;

        if (!is_next_ready(s)) {
            if (s->failure.code && !s->joining) {
                if (err)
                    *err = s->failure;
                return s->failure.code;
            }
            if (is_over(s) && !s->joining)
                return 0;
            wait_ready(s);
            continue;
        }
        b = s->by_seq[s->passed % s->batch_count];
        s->passed++;
        if (b->pub.count) {
            b->phase = WR_BATCH_OUT;
            s->out++;
            *ret = b;
            return 1;
        }
        recycle(s, b); /* it vanished: its samples filled other places */
    }
}

int wr_sched_next(struct wr_sched *s, struct wr_batch **ret, weir_err *err)
{
    int r;

    pthread_mutex_lock(&s->lock);
    if (s->out >= s->buffer_count && !s->failure.code && !is_over(s)) {
        r = wr_fail(err, WEIR_ESTATE,
                    "all %u batches are out: release one before the next",
                    s->buffer_count);
    } else {
        s->wanted++;
        if (!s->cfg.prefetch)
            wr_sched_wake(s);
        r = next_locked(s, ret, err);
    }
    pthread_mutex_unlock(&s->lock);
    return r;
}

/* With the lock held, but not while memory is given back: it may be much. */
static void drop_varying(struct wr_sched *s, struct wr_batch *b)
{
    b->phase = WR_BATCH_FILLING; /* not with the consumer any more */
    pthread_mutex_unlock(&s->lock);
    for (unsigned k = 0; k < s->arrays.varying; k++)
        wr_varying_drop(&b->varying[k]);
    pthread_mutex_lock(&s->lock);
}

void wr_sched_release(struct wr_sched *s, struct wr_batch *b)
{
    pthread_mutex_lock(&s->lock);
    if (b->phase == WR_BATCH_OUT) {
        if (s->arrays.varying)
            drop_varying(s, b);
        s->out--;
        recycle(s, b);
    }
    pthread_mutex_unlock(&s->lock);
}

void wr_sched_close(struct wr_sched *s)
{
    pthread_mutex_lock(&s->lock);
    s->closing = true;
    pthread_cond_broadcast(&s->work);
    pthread_mutex_unlock(&s->lock);
}

/* --- beginning and end --- */

/* One with the consumer, `prefetch` ahead, and one in the making; where
 * nothing is decoded, that one is made quickly enough when its time comes,
 * and fewer buffers stay in the processor's cache. */
static unsigned buffers_for(const struct wr_sched *s, uint32_t prefetch)
{
    return prefetch + 1 + (prefetch && !s->into_slot);
}

int wr_sched_set(struct wr_sched *s, const struct wr_knobs *knobs,
                 weir_err *err)
{
    unsigned want = buffers_for(s, knobs->prefetch);

    pthread_mutex_lock(&s->lock);
    s->knobs = *knobs;
    wr_sched_wake(s);
    pthread_mutex_unlock(&s->lock);
    return wr_batches_grow(s, want, err);
}

static int init_epoch(struct wr_sched *s, struct wr_state *resume,
                      weir_err *err)
{
    uint64_t number = resume ? resume->epoch : 0;

    if (s->cfg.epochs && number >= s->cfg.epochs) {
        if (resume)
            wr_state_done(resume);
        return 0;
    }
    s->epoch = make_epoch(s, number, resume);
    if (!s->epoch)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (s->custom)
        wr_epoch_set_order(s->epoch, &s->cfg, s->custom);
    if (!s->epoch->batches)
        next_epoch(s);
    return 0;
}

/* Small tensors that are taken in their order: many come with one request. */
static bool joins_small(const struct wr_sched *s)
{
    const struct wr_index *ix = s->ds->index;
    uint64_t n = WR_MAX(wr_index_count(ix), (uint64_t)1);
    size_t mean = (size_t)(wr_index_bytes(ix) / n / wr_index_columns(ix));

    if (s->cfg.order == WEIR_ORDER_SHUFFLE ||
        (s->cfg.order == WEIR_ORDER_SEQUENTIAL && s->cfg.world > 1) ||
        wr_index_object_count(ix) >= wr_index_count(ix))
        return false;
    for (unsigned k = 0; k < s->arrays.count; k++) {
        const struct wr_array *f = &s->arrays.of[k];

        if (f->field->column != WR_NO_COLUMN &&
            (f->shape.bytes ? f->shape.bytes : mean) <= SMALL_TENSOR)
            return true;
    }
    return false;
}

int wr_sched_init(struct wr_sched *s, const weir_dataset *ds,
                  const weir_pipeline_config *cfg, struct wr_state *resume,
                  weir_err *err)
{
    unsigned in_flight = cfg->threads * cfg->depth;
    int r;

    *s = (struct wr_sched){.cfg = *cfg,
                           .ds = ds,
                           .custom = s->custom,
                           .same_order = s->same_order};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->work, NULL);
    pthread_cond_init(&s->ready, NULL);
    wr_spares_init(&s->spares);
    s->wants_data = cfg->stages == WEIR_STAGES_ALL;
    r = wr_arrays_init(&s->arrays, ds, cfg, err);
    if (r < 0)
        return r;
    s->into_slot = wr_arrays_are_direct(&s->arrays) && !cfg->direct &&
                   !joins_small(s);
    s->large = wr_index_bytes(ds->index) / LARGE >= wr_index_count(ds->index);
    s->copies = s->arrays.only && s->arrays.only->shape.direct &&
                s->arrays.sample_bytes <= SMALL_TENSOR && !ds->format->unpack;
    s->buffer_most = buffers_for(s, cfg->prefetch);
    /* Encoded samples may be read ahead of the batch buffers, by as many as
     * there are reads in flight. */
    s->batch_count = s->buffer_most;
    if (cfg->prefetch && !s->into_slot)
        s->batch_count += (in_flight + cfg->batch - 1) / cfg->batch;
    s->arrived.at = calloc(in_flight, sizeof(struct wr_todo));
    /* One unit may be loaded before anybody waits for it. */
    s->packed.at = calloc((size_t)in_flight * WR_MAX(s->arrays.parts, 1u) + 1,
                          sizeof(struct wr_todo));
    if (!s->arrived.at || !s->packed.at)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = wr_batches_init(s, err);
    return r < 0 ? r : init_epoch(s, resume, err);
}

void wr_sched_done(struct wr_sched *s)
{
    wr_batches_done(s);
    wr_epoch_unref(s->epoch);
    wr_badlist_done(&s->bad);
    wr_arrays_done(&s->arrays);
    wr_spares_done(&s->spares);
    free(s->fills);
    free(s->arrived.at);
    free(s->packed.at);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->work);
    pthread_cond_destroy(&s->ready);
}
