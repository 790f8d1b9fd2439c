/* arrivals.c - samples whose bytes are there: a heap by batch and slot.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/schedule.h"
#include "pipeline/worker.h"

static bool before(const struct wr_task *a, const struct wr_task *b)
{
    return a->batch->seq != b->batch->seq ? a->batch->seq < b->batch->seq
                                          : a->slot < b->slot;
}

static void heap_push(struct wr_sched *s, struct wr_task *t)
{
    size_t i = s->heap_count++;

    for (; i && before(t, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
        s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = t;
}

static struct wr_task *heap_pop(struct wr_sched *s)
{
    struct wr_task *top = s->heap[0];
    struct wr_task *last = s->heap[--s->heap_count];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < s->heap_count) {
        if (child + 1 < s->heap_count &&
            before(s->heap[child + 1], s->heap[child]))
            child++;
        if (!before(s->heap[child], last))
            break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return top;
}

void wr_sched_arrive(struct wr_sched *s, const struct wr_worker *w)
{
    pthread_mutex_lock(&s->lock);
    for (unsigned i = 0; i < w->arrived_count; i++)
        heap_push(s, w->arrived[i]);
    /* It can decode only one of them, or none when it was put to rest. */
    if (s->heap_count > 1 || !wr_sched_is_active(s, w))
        wr_sched_wake(s);
    pthread_mutex_unlock(&s->lock);
}

void wr_sched_arrive_list(struct wr_sched *s, struct wr_task *list)
{
    pthread_mutex_lock(&s->lock);
    for (; list; list = list->next_waiting)
        heap_push(s, list);
    wr_sched_wake(s); /* the caller may be busy for long */
    pthread_mutex_unlock(&s->lock);
}

bool wr_sched_has_arrival(const struct wr_sched *s)
{
    return s->heap_count && wr_sched_can_buffer(s, s->heap[0]->batch);
}

/* Copying or checking takes about as long as taking the lock. */
static bool is_quick(const struct wr_sched *s, const struct wr_task *t)
{
    return t->is_tensor || s->cfg.stages == WEIR_STAGES_READ;
}

unsigned wr_sched_pick(struct wr_sched *s, const struct wr_worker *w,
                       struct wr_task *ret[WR_PICK_MAX], bool *ret_parked)
{
    unsigned n = 0;

    pthread_mutex_lock(&s->lock);
    while (n < WR_PICK_MAX && !s->closing && wr_sched_is_active(s, w) &&
           wr_sched_has_arrival(s)) {
        if (n && !is_quick(s, s->heap[0]))
            break;
        ret[n++] = heap_pop(s);
        wr_sched_ensure_buffer(s, ret[n - 1]->batch);
        if (!is_quick(s, ret[n - 1]))
            break;
    }
    *ret_parked = s->closing || (s->heap_count > 0 && !s->starved);
    pthread_mutex_unlock(&s->lock);
    return n;
}

void wr_sched_retry(struct wr_sched *s, struct wr_task *list)
{
    pthread_mutex_lock(&s->lock);
    while (list) {
        struct wr_task *t = list;

        list = t->next_waiting;
        t->next_waiting = t->owner->retry;
        t->owner->retry = t;
    }
    wr_sched_wake(s);
    pthread_mutex_unlock(&s->lock);
}
