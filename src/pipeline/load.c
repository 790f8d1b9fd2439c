/* load.c - units on their way: what workers do for them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whoever is told a unit's next step does it: asks for pieces through its own
 * queue, feeds one to the filters when the schedule says so, hands over the
 * samples that waited. So a unit may begin with one worker and end with
 * another. */
#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "pipeline/schedule.h"
#include "pipeline/worker.h"

/* --- what is there and wants work: heaps by batch and slot --- */

static bool before(const struct wr_todo *a, const struct wr_todo *b)
{
    return a->seq != b->seq ? a->seq < b->seq : a->slot < b->slot;
}

static void heap_push(struct wr_heap *h, struct wr_todo due)
{
    size_t i = h->count++;

    for (; i && before(&due, &h->at[(i - 1) / 2]); i = (i - 1) / 2)
        h->at[i] = h->at[(i - 1) / 2];
    h->at[i] = due;
}

static struct wr_todo heap_pop(struct wr_heap *h)
{
    struct wr_todo top = h->at[0], last = h->at[--h->count];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < h->count) {
        if (child + 1 < h->count && before(&h->at[child + 1], &h->at[child]))
            child++;
        if (!before(&h->at[child], &last))
            break;
        h->at[i] = h->at[child];
        i = child;
    }
    h->at[i] = last;
    return top;
}

static void push_task(struct wr_sched *s, struct wr_task *t)
{
    heap_push(
        &s->arrived,
        (struct wr_todo){.seq = t->batch->seq, .slot = t->slot, .task = t});
}

/* `w` can do only one thing of them, or none when it was put to rest. */
static void wake_others(struct wr_sched *s, const struct wr_worker *w)
{
    if (s->arrived.count + s->packed.count > 1 || !wr_sched_is_active(s, w))
        wr_sched_wake(s);
}

void wr_sched_arrive(struct wr_sched *s, const struct wr_worker *w)
{
    pthread_mutex_lock(&s->lock);
    for (unsigned i = 0; i < w->arrived_count; i++)
        push_task(s, w->arrived[i]);
    wake_others(s, w);
    pthread_mutex_unlock(&s->lock);
}

static void sched_arrive_list(struct wr_sched *s, struct wr_read *list)
{
    pthread_mutex_lock(&s->lock);
    while (list) {
        struct wr_task *t = list->task;

        list = list->next_waiting; /* it may be another's from here on */
        if (wr_task_is_complete(t))
            push_task(s, t);
    }
    wr_sched_wake(s); /* the caller may be busy for long */
    pthread_mutex_unlock(&s->lock);
}

/* A unit whose next piece is to be fed to its filters. */
static void sched_unpack(struct wr_sched *s, const struct wr_worker *w,
                         struct wr_shared *u)
{
    const struct wr_task *first = wr_unit_first(u);
    struct wr_todo due = {.seq = first ? first->batch->seq : UINT64_MAX,
                          .slot = first ? first->slot : 0,
                          .unit = u};

    pthread_mutex_lock(&s->lock);
    heap_push(&s->packed, due);
    wake_others(s, w);
    pthread_mutex_unlock(&s->lock);
}

static bool has_task(const struct wr_sched *s)
{
    return s->arrived.count &&
           wr_sched_can_buffer(s, s->arrived.at[0].task->batch);
}

/* Units need no buffer. */
bool wr_sched_has_arrival(const struct wr_sched *s)
{
    return s->packed.count || has_task(s);
}

/* Copying or checking takes about as long as taking the lock. */
static bool is_quick(const struct wr_sched *s, const struct wr_task *t)
{
    return t->is_tensor || s->copies || (s->custom && s->custom->quick) ||
           s->cfg.stages == WEIR_STAGES_READ;
}

static bool is_unit_first(const struct wr_sched *s)
{
    return s->packed.count &&
           (!has_task(s) || before(&s->packed.at[0], &s->arrived.at[0]));
}

static void pick_tasks(struct wr_sched *s, struct wr_picked *ret)
{
    while (ret->count < WR_PICK_MAX && has_task(s) && !is_unit_first(s)) {
        struct wr_task *t = s->arrived.at[0].task;

        if (ret->count && !is_quick(s, t))
            break;
        heap_pop(&s->arrived);
        ret->tasks[ret->count++] = t;
        wr_sched_ensure_buffer(s, t->batch);
        if (!is_quick(s, t))
            break;
    }
}

void wr_sched_pick(struct wr_sched *s, const struct wr_worker *w,
                   struct wr_picked *ret)
{
    ret->count = 0;
    ret->unit = NULL;
    pthread_mutex_lock(&s->lock);
    if (!s->closing && wr_sched_is_active(s, w)) {
        if (is_unit_first(s))
            ret->unit = heap_pop(&s->packed).unit;
        else
            pick_tasks(s, ret);
    }
    ret->parked = s->closing || (s->arrived.count > 0 && !s->starved);
    pthread_mutex_unlock(&s->lock);
}

/* Reads (linked by next_waiting) whose owners must do them alone. */
static void sched_retry(struct wr_sched *s, struct wr_read *list)
{
    pthread_mutex_lock(&s->lock);
    while (list) {
        struct wr_read *r = list;
        struct wr_worker *owner = r->task->owner;

        list = r->next_waiting;
        r->next_waiting = owner->retry;
        owner->retry = r;
    }
    wr_sched_wake(s);
    pthread_mutex_unlock(&s->lock);
}

/* --- units on their way: what workers do for them --- */

/* A block is read in place of the sample that asked first, so there is room
 * for it in the queue. Pieces of units of the index take turns. */
static void send_piece(struct wr_worker *w, struct wr_unit_piece *p)
{
    struct wr_unit_piece **end = &w->pieces;

    if (!p->unit->group->indexed) {
        wr_send(w, WR_LANE_STORE, &p->rd);
        return;
    }
    while (*end)
        end = &(*end)->next;
    p->next = NULL;
    *end = p;
}

void wr_send_pieces(struct wr_worker *w)
{
    while (w->pieces && w->pieces_out < w->pieces_most) {
        struct wr_unit_piece *p = w->pieces;

        w->pieces = p->next;
        w->pieces_out++;
        wr_send(w, WR_LANE_STORE, &p->rd);
    }
}

/* Resources lack for it: it is read later; false: that was tried for long
 * enough. */
static bool send_later(struct wr_worker *w, struct wr_unit_piece *p)
{
    uint64_t due = wr_lack_due(w, &p->lack_ns);

    if (!due)
        return false;
    w->lacking_due_ns = due;
    p->next = w->lacking_pieces;
    w->lacking_pieces = p;
    return true;
}

void wr_send_lacking_pieces(struct wr_worker *w)
{
    struct wr_unit_piece *list = w->lacking_pieces, *p;

    w->lacking_pieces = NULL;
    while ((p = list)) {
        list = p->next;
        send_piece(w, p);
    }
}

static void ask(struct wr_worker *w, struct wr_shared *u)
{
    struct wr_unit_piece *p;

    while ((p = wr_unit_ask(u)))
        send_piece(w, p);
}

/* No part of a unit of the index can be read alone. Which samples of a block
 * are bad shows when each is. */
static void fail(struct wr_worker *w, struct wr_shared *u)
{
    bool indexed = u->group->indexed;
    struct wr_read *list;
    weir_err err;

    wr_unit_why(u, &err);
    list = wr_unit_failed(u);
    if (!indexed) {
        sched_retry(w->sched, list);
        return;
    }
    while (list) {
        struct wr_task *t = list->task;

        wr_read_fail(list, &err);
        list = list->next_waiting;
        if (!wr_task_is_complete(t))
            continue;
        wr_task_judge(t);
        wr_task_release(t);
        wr_sched_finish(w->sched, &t, 1);
    }
}

/* From its beginning; after a while where resources lacked. */
static void try_again(struct wr_worker *w, struct wr_shared *u)
{
    struct wr_unit_piece *p;
    weir_err err;

    wr_unit_why(u, &err);
    if (wr_err_is_lack(err.code) && wr_sched_is_over(w->sched)) {
        fail(w, u);
        return;
    }
    wr_unit_restart(u);
    p = wr_unit_ask(u); /* NULL: nothing is stored */
    if (p && (!wr_err_is_lack(err.code) || !send_later(w, p)))
        send_piece(w, p);
    wr_unit_go_on(w, u, wr_unit_next(u));
}

void wr_unit_go_on(struct wr_worker *w, struct wr_shared *u,
                   enum wr_unit_next next)
{
    while (next == WR_NEXT_ASK) {
        ask(w, u);
        next = wr_unit_next(u);
    }
    switch (next) {
    case WR_NEXT_ASK:
    case WR_NEXT_IDLE:
        break;
    case WR_NEXT_FEED:
        sched_unpack(w->sched, w, u);
        break;
    case WR_NEXT_LOADED:
        sched_arrive_list(w->sched, wr_unit_loaded(u));
        break;
    case WR_NEXT_FAILED:
        fail(w, u);
        break;
    case WR_NEXT_AGAIN:
        try_again(w, u);
        break;
    }
}

void wr_piece_arrived(struct wr_worker *w, struct wr_unit_piece *p)
{
    struct wr_shared *u = p->unit;

    if (u->group->indexed)
        w->pieces_out--;
    if (wr_unit_retries(p))
        send_piece(w, p);
    else if (!wr_err_is_lack(p->rd.result) || !u->group->indexed ||
             !send_later(w, p))
        wr_unit_go_on(w, u, wr_unit_came(p));
}

void wr_unpack(struct wr_worker *w, struct wr_shared *u)
{
    uint64_t start = wr_clock_ns();

    wr_unit_feed(u);
    wr_count(&w->stats.decode, wr_clock_ns() - start);
    wr_unit_go_on(w, u, wr_unit_next(u));
}
