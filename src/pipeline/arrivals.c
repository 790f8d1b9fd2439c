/* arrivals.c - what is there and wants work: heaps by batch and slot.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/schedule.h"
#include "pipeline/worker.h"

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

void wr_sched_arrive_list(struct wr_sched *s, struct wr_read *list)
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

void wr_sched_unpack(struct wr_sched *s, const struct wr_worker *w,
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

void wr_sched_retry(struct wr_sched *s, struct wr_read *list)
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
