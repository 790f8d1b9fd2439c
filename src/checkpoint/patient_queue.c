/* patient_queue.c - reads and writes of storage that may hang.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A thread drives the queue inside; requests and their bytes are copies in
 * slots that belong to both. The caller copies what has arrived to where it is
 * wanted. When nothing arrives for too long the thread is left behind with the
 * slots, and the caller's requests come back with WEIR_ETIMEDOUT. */
#include "checkpoint/patient_core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "checkpoint/strand.h"

/* Large pages, which are aligned for direct reads and quickly there. */
#define SLOT_ALIGN ((size_t)2 << 20)

struct ask_slot {
    struct wr_io inner;           /* first: the queue inside knows only this */
    struct wr_io *outer;          /* borrowed; the caller's thread alone */
    struct wr_patient_held *held; /* ref; NULL: by path */
    char *path;                   /* owned */
    uint8_t *buf;                 /* owned */
    size_t cap;
    struct ask_slot *next;
};

struct ask_slots {
    struct ask_slot *first, **end;
};

struct patient_queue {
    struct wr_queue queue;
    struct wr_patient *core; /* ref */
    struct wr_strand strand;
    struct wr_queue_config cfg;
    struct ask_slot *slots; /* owned: cfg.depth */
    struct ask_slot *free;  /* the caller's thread alone */
    unsigned out;           /* requests of the caller that are under way */
    bool lost;              /* the thread is, or will be, left behind */

    pthread_mutex_t lock; /* guards what is below; a leaf lock */
    pthread_cond_t changed;
    struct ask_slots todo, done;
    bool opened, stop;
    int result; /* of opening the queue inside */
    weir_err err;
};

static struct patient_queue *to_queue(struct wr_queue *q)
{
    return (struct patient_queue *)q;
}

static void put_slot(struct ask_slots *l, struct ask_slot *s)
{
    s->next = NULL;
    *l->end = s;
    l->end = &s->next;
}

static struct ask_slot *take_slot(struct ask_slots *l)
{
    struct ask_slot *s = l->first;

    if (s)
        l->first = s->next;
    if (!l->first)
        l->end = &l->first;
    return s;
}

static void fail_io(struct wr_io *io, int code, int os_errno)
{
    io->result = code;
    io->os_errno = os_errno;
    io->step = io->op == WR_IO_WRITE ? WR_STEP_WRITE : WR_STEP_READ;
    io->got = 0;
    io->data = io->buf;
}

static void forget_request(struct ask_slot *s)
{
    wr_patient_drop(s->held);
    free(s->path);
    s->held = NULL;
    s->path = NULL;
    s->outer = NULL;
}

static void queue_release(void *arg)
{
    struct patient_queue *q = arg;
    struct wr_patient *k = q->core;

    for (unsigned i = 0; i < q->cfg.depth; i++) {
        forget_request(&q->slots[i]);
        wr_big_free(q->slots[i].buf, q->slots[i].cap);
    }
    if (q->lost)
        k->left--;
    wr_strand_done(&q->strand);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q->slots);
    free(q);
    wr_patient_unref(k);
}

/* --- the thread --- */

/* With the lock held, which is given up meanwhile: gives all that waits to the
 * queue inside; what that does not take has failed. Returns how many it has. */
static unsigned submit_todo(struct patient_queue *q, struct wr_queue *inner)
{
    unsigned taken = 0;
    struct ask_slot *s;

    while ((s = take_slot(&q->todo))) {
        struct wr_io *io = &s->inner;
        bool sent;

        pthread_mutex_unlock(&q->lock);
        sent = inner->ops->submit(inner, &io, 1) == 1;
        pthread_mutex_lock(&q->lock);
        if (!sent) { /* cannot be: it is as deep as this one */
            fail_io(&s->inner, WEIR_EIO, EIO);
            put_slot(&q->done, s);
        }
        taken += sent;
    }
    return taken;
}

static void drive(struct patient_queue *q, struct wr_queue *inner)
{
    unsigned inside = 0;

    pthread_mutex_lock(&q->lock);
    for (;;) {
        struct wr_io *done[16];
        unsigned n;

        while (!inside && !q->todo.first && !q->stop)
            pthread_cond_wait(&q->changed, &q->lock);
        if (!inside && q->stop)
            break;
        inside += submit_todo(q, inner);
        pthread_mutex_unlock(&q->lock);
        n = inner->ops->reap(inner, done, WR_ARRAY_LEN(done), inside > 0);
        pthread_mutex_lock(&q->lock);
        inside -= n;
        for (unsigned i = 0; i < n; i++)
            put_slot(&q->done, (struct ask_slot *)done[i]); /* its first */
        q->core->answered_ns = wr_clock_ns();
        pthread_cond_broadcast(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
}

static void queue_run(void *arg)
{
    struct patient_queue *q = arg;
    struct wr_store *st = q->core->inner;
    struct wr_queue *inner = NULL;
    weir_err err = {0};
    int r = st->ops->queue_open(st, &q->cfg, &inner, &err);

    pthread_mutex_lock(&q->lock);
    q->opened = true;
    q->result = r;
    q->err = err;
    if (r == 0)
        q->queue.engine = inner->engine;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    if (r < 0)
        return;
    drive(q, inner);
    inner->ops->close(inner);
}

/* --- the caller --- */

/* With the lock held: waits until there is something; false: for too long. */
static bool wait_for(struct patient_queue *q, const bool *flag)
{
    uint64_t begun_ns = wr_clock_ns(), until_ns;

    do
        until_ns = wr_patient_until(q->core, begun_ns);
    while (!(flag ? *flag : q->done.first != NULL) &&
           (wr_cond_wait_until(&q->changed, &q->lock, until_ns) ||
            wr_clock_ns() < wr_patient_until(q->core, begun_ns)));
    if (flag ? *flag : q->done.first != NULL)
        return true;
    q->lost = true;
    wr_patient_give_up(q->core, begun_ns);
    return false;
}

/* A copy of the request; false: memory is short. */
static bool fill_slot(struct ask_slot *s, struct wr_io *outer)
{
    const struct wr_patient_object *o = (const struct wr_patient_object *)
                                            outer->object;
    size_t need = WR_MAX(outer->cap, outer->len);

    if (s->cap < need) {
        wr_big_free(s->buf, s->cap);
        s->cap = WR_ALIGN_UP(need, SLOT_ALIGN);
        s->buf = wr_big_alloc(s->cap);
        if (!s->buf) {
            s->cap = 0;
            return false;
        }
    }
    s->inner = *outer;
    s->inner.buf = s->buf;
    if (o) {
        o->held->refs++;
        s->held = o->held;
        s->inner.object = o->wrap.inner;
    } else {
        s->path = strdup(outer->path);
        if (!s->path)
            return false;
    }
    s->inner.path = s->path;
    if (outer->op == WR_IO_WRITE)
        memcpy(s->buf, outer->buf, outer->len);
    return true;
}

static unsigned queue_submit(struct wr_queue *queue, struct wr_io *const *ios,
                             unsigned n)
{
    struct patient_queue *q = to_queue(queue);
    unsigned taken = 0;

    for (; taken < n && q->free; taken++) {
        struct ask_slot *s = q->free;
        bool filled = fill_slot(s, ios[taken]);

        q->free = s->next;
        s->outer = ios[taken];
        q->out++;
        pthread_mutex_lock(&q->lock);
        if (!filled)
            fail_io(&s->inner, WEIR_ENOMEM, ENOMEM);
        put_slot(filled ? &q->todo : &q->done, s);
        pthread_cond_broadcast(&q->changed);
        pthread_mutex_unlock(&q->lock);
    }
    return taken;
}

/* What arrived, to where it is wanted. */
static struct wr_io *hand_over(struct patient_queue *q, struct ask_slot *s)
{
    struct wr_io *outer = s->outer;
    const struct wr_io *in = &s->inner;
    size_t skip = in->result == 0 && in->op == WR_IO_READ
                      ? (size_t)(in->data - s->buf)
                      : 0;

    outer->result = in->result;
    outer->os_errno = in->os_errno;
    outer->step = in->step;
    outer->got = in->got;
    outer->data = (uint8_t *)outer->buf + skip;
    if (in->result == 0 && in->op == WR_IO_READ)
        memcpy(outer->data, in->data, in->got);
    forget_request(s);
    s->next = q->free;
    q->free = s;
    q->out--;
    return outer;
}

/* The thread is left behind: what it is at is nobody's. */
static unsigned hand_over_lost(struct patient_queue *q, struct wr_io **ret,
                               unsigned max)
{
    unsigned n = 0;

    for (unsigned i = 0; i < q->cfg.depth && n < max; i++) {
        struct ask_slot *s = &q->slots[i];

        if (!s->outer)
            continue;
        fail_io(s->outer, WEIR_ETIMEDOUT, ETIMEDOUT);
        ret[n++] = s->outer;
        s->outer = NULL;
        q->out--;
    }
    return n;
}

static unsigned queue_reap(struct wr_queue *queue, struct wr_io **ret,
                           unsigned max, bool wait)
{
    struct patient_queue *q = to_queue(queue);
    unsigned n = 0;

    if (!q->lost) {
        struct ask_slots got = {NULL, &got.first};
        struct ask_slot *s;

        pthread_mutex_lock(&q->lock);
        if (wait && q->out)
            wait_for(q, NULL);
        while (!q->lost && n < max && (s = take_slot(&q->done))) {
            put_slot(&got, s);
            n++;
        }
        pthread_mutex_unlock(&q->lock);
        for (unsigned i = 0; i < n; i++)
            ret[i] = hand_over(q, take_slot(&got));
    }
    return q->lost ? hand_over_lost(q, ret, max) : n;
}

/* The requests that were not handed over are forgotten with the slots. */
static void queue_close(struct wr_queue *queue)
{
    struct patient_queue *q = to_queue(queue);
    uint64_t begun_ns = wr_clock_ns();
    bool was_lost = q->lost;

    pthread_mutex_lock(&q->lock);
    q->stop = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    if (!was_lost &&
        wr_strand_join(&q->strand, wr_patient_until(q->core, begun_ns))) {
        queue_release(q);
        return;
    }
    if (!was_lost) {
        q->lost = true; /* before it can end: it counts itself then */
        wr_patient_give_up(q->core, begun_ns);
    }
    if (!wr_strand_leave(&q->strand))
        queue_release(q);
}

static const struct wr_queue_ops patient_queue_ops = {
    .submit = queue_submit,
    .reap = queue_reap,
    .close = queue_close,
};

int wr_patient_queue_open(struct wr_patient *k,
                          const struct wr_queue_config *cfg,
                          struct wr_queue **ret, weir_err *err)
{
    struct patient_queue *q = calloc(1, sizeof(*q));
    bool opened;
    int r;

    if (wr_patient_gave_up(k)) {
        free(q);
        return wr_patient_say(k, err);
    }
    if (q)
        q->slots = calloc(cfg->depth, sizeof(*q->slots));
    if (!q || !q->slots) {
        free(q);
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    q->queue.ops = &patient_queue_ops;
    q->queue.engine = "";
    q->cfg = *cfg;
    q->core = k;
    k->refs++;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    q->todo.end = &q->todo.first;
    q->done.end = &q->done.first;
    for (unsigned i = cfg->depth; i--;) {
        q->slots[i].next = q->free;
        q->free = &q->slots[i];
    }
    r = wr_strand_start(&q->strand, "weir-ask", queue_run, queue_release, q,
                        err);
    if (r < 0) {
        queue_release(q);
        return r;
    }
    pthread_mutex_lock(&q->lock);
    opened = wait_for(q, &q->opened);
    r = opened ? wr_fail_as(err, q->result, &q->err) : wr_patient_say(k, err);
    pthread_mutex_unlock(&q->lock);
    if (r < 0)
        queue_close(&q->queue);
    else
        *ret = &q->queue;
    return r;
}
