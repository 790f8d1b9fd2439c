/* wrap.c - what stores around another store have in common.
 * SPDX-License-Identifier: Apache-2.0 */
#include "storage/wrap.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#define BATCH 32u

/* One who waits for long looks so often whether it is to hurry. */
#define LOOK_NS (50 * WR_NS_PER_MS)

struct wrap_queue {
    struct wr_queue queue;
    struct wr_store *st;               /* borrowed: the wrapping one */
    const struct wr_wrap_hooks *hooks; /* borrowed */
    struct wr_queue *inner;            /* owned */
    uint8_t *ios;                      /* owned: `depth` of hooks->io_bytes */
    unsigned depth;
    struct wr_wrap_io *free;
    struct wr_due_heap waiting; /* of requests whose time has not come */
    unsigned late;              /* due and not arrived */
    struct wr_wrap_io *ready, **ready_end;
    struct wr_clock_sleeper sleeper;
    atomic_bool hurried;
};

static struct wrap_queue *to_queue(struct wr_queue *q)
{
    return (struct wrap_queue *)q;
}

static struct wr_store *inner_of(struct wr_store *st)
{
    return ((struct wr_wrap_store *)st)->inner;
}

int wr_wrap_split(const char *rest, const char *usage, char **ret_parameter,
                  const char **ret_url, weir_err *err)
{
    const char *colon = strchr(rest, ':');
    char *parameter;

    if (!colon)
        return wr_fail(err, WEIR_EINVAL, "'%.*s:%s': write %s",
                       (int)strcspn(usage, ":"), usage, rest, usage);
    parameter = strndup(rest, (size_t)(colon - rest));
    if (!parameter)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    *ret_parameter = parameter;
    *ret_url = colon + 1;
    return 0;
}

/* --- calls --- */

static int64_t call_object(struct wr_wrap_call *c, weir_err *err)
{
    struct wr_object *o = c->object;

    switch (c->op) {
    case WR_WRAP_READ:
        return o->ops->read(o, c->buf, c->len, c->offset, err);
    case WR_WRAP_WRITE:
        return wr_object_write(o, c->bytes, c->len, c->offset, err);
    case WR_WRAP_SYNC:
        return wr_object_sync(o, err);
    case WR_WRAP_LOCK:
        return wr_object_lock(o, err);
    case WR_WRAP_LOCKED:
        return wr_object_locked(o, err);
    case WR_WRAP_RESIZE:
        return wr_object_resize(o, c->size, err);
    default:
        return o->ops->close(o, c->sync, err);
    }
}

int64_t wr_wrap_do(struct wr_wrap_call *c, weir_err *err)
{
    struct wr_store *st = c->inner;

    switch (c->op) {
    case WR_WRAP_STAT:
        return st->ops->stat(st, c->path, c->ret_stat, err);
    case WR_WRAP_LIST:
        return st->ops->list(st, c->path, c->fn, c->arg, err);
    case WR_WRAP_OPEN:
        return st->ops->object_open(st, c->path, c->mode, &c->object, err);
    case WR_WRAP_CHANGE:
        return wr_store_change(st, c->change, c->path, c->to, err);
    case WR_WRAP_SPACE:
        return wr_store_space(st, c->ret_bytes, err);
    case WR_WRAP_FORGETS:
        return st->ops->forgets && st->ops->forgets(st);
    default:
        return call_object(c, err);
    }
}

static int64_t ask_store(struct wr_store *store, struct wr_wrap_call *c,
                         weir_err *err)
{
    const struct wr_wrap_store *st = (struct wr_wrap_store *)store;

    c->inner = st->inner;
    return st->hooks->call(store, c, err);
}

static int64_t ask_object(struct wr_object *object, struct wr_wrap_call *c,
                          weir_err *err)
{
    struct wr_wrap_object *o = (struct wr_wrap_object *)object;

    c->path = o->path;
    c->o = o;
    c->object = o->inner;
    return o->st->hooks->call(&o->st->store, c, err);
}

/* --- objects --- */

static int64_t object_read(struct wr_object *o, void *buf, size_t len,
                           uint64_t offset, weir_err *err)
{
    struct wr_wrap_call c = {
        .op = WR_WRAP_READ, .buf = buf, .len = len, .offset = offset};

    return ask_object(o, &c, err);
}

static int object_write(struct wr_object *o, const void *buf, size_t len,
                        uint64_t offset, weir_err *err)
{
    struct wr_wrap_call c = {
        .op = WR_WRAP_WRITE, .bytes = buf, .len = len, .offset = offset};

    return (int)ask_object(o, &c, err);
}

static int object_sync(struct wr_object *o, weir_err *err)
{
    struct wr_wrap_call c = {.op = WR_WRAP_SYNC};

    return (int)ask_object(o, &c, err);
}

static int object_lock(struct wr_object *o, weir_err *err)
{
    struct wr_wrap_call c = {.op = WR_WRAP_LOCK};

    return (int)ask_object(o, &c, err);
}

static int object_locked(struct wr_object *o, weir_err *err)
{
    struct wr_wrap_call c = {.op = WR_WRAP_LOCKED};

    return (int)ask_object(o, &c, err);
}

static int object_resize(struct wr_object *o, uint64_t size, weir_err *err)
{
    struct wr_wrap_call c = {.op = WR_WRAP_RESIZE, .size = size};

    return (int)ask_object(o, &c, err);
}

static int object_close(struct wr_object *o, bool sync, weir_err *err)
{
    struct wr_wrap_call c = {.op = WR_WRAP_CLOSE, .sync = sync};
    int r = (int)ask_object(o, &c, err);

    free(o);
    return r;
}

static const struct wr_object_ops wrap_object_ops = {
    .read = object_read,
    .write = object_write,
    .sync = object_sync,
    .lock = object_lock,
    .locked = object_locked,
    .resize = object_resize,
    .close = object_close,
};

int wr_wrap_object_open(struct wr_store *store, const char *path,
                        enum wr_open_mode mode, struct wr_object **ret,
                        weir_err *err)
{
    struct wr_wrap_store *st = (struct wr_wrap_store *)store;
    size_t bytes = WR_MAX(st->hooks->object_bytes,
                          sizeof(struct wr_wrap_object));
    struct wr_wrap_object *o = calloc(1, bytes + strlen(path) + 1);
    struct wr_wrap_call c = {
        .op = WR_WRAP_OPEN, .o = o, .mode = mode, .inner = st->inner};
    int r;

    if (!o)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    o->object.ops = &wrap_object_ops;
    o->st = st;
    o->path = c.path = strcpy((char *)o + bytes, path);
    o->mode = mode;
    r = (int)st->hooks->call(store, &c, err);
    if (r < 0) {
        free(o);
        return r;
    }
    o->inner = c.object;
    *ret = &o->object;
    return 0;
}

/* --- stores --- */

int wr_wrap_stat(struct wr_store *st, const char *path, struct wr_stat *ret,
                 weir_err *err)
{
    struct wr_wrap_call c = {.op = WR_WRAP_STAT, .path = path, .ret_stat = ret};

    return (int)ask_store(st, &c, err);
}

int wr_wrap_list(struct wr_store *st, const char *path, wr_list_fn fn,
                 void *arg, weir_err *err)
{
    struct wr_wrap_call c = {
        .op = WR_WRAP_LIST, .path = path, .fn = fn, .arg = arg};

    return (int)ask_store(st, &c, err);
}

int wr_wrap_change(struct wr_store *st, enum wr_change what, const char *path,
                   const char *to, weir_err *err)
{
    struct wr_wrap_call c = {
        .op = WR_WRAP_CHANGE, .path = path, .to = to, .change = what};

    return (int)ask_store(st, &c, err);
}

int wr_wrap_space(struct wr_store *st, uint64_t *ret_bytes, weir_err *err)
{
    struct wr_wrap_call c = {
        .op = WR_WRAP_SPACE, .path = "", .ret_bytes = ret_bytes};

    return (int)ask_store(st, &c, err);
}

bool wr_wrap_forgets(struct wr_store *st)
{
    struct wr_wrap_call c = {.op = WR_WRAP_FORGETS, .path = ""};

    return ask_store(st, &c, NULL) > 0;
}

bool wr_wrap_local_path(struct wr_store *st, const char *path, char *buf,
                        size_t cap)
{
    struct wr_store *inner = inner_of(st);

    return inner->ops->local_path &&
           inner->ops->local_path(inner, path, buf, cap);
}

/* --- the queue --- */

static void arrive(struct wrap_queue *q, struct wr_wrap_io *io)
{
    io->arrived = true;
    if (!io->is_due)
        return;
    io->next = NULL;
    *q->ready_end = io;
    q->ready_end = &io->next;
}

static struct wr_wrap_io *begin(struct wrap_queue *q, struct wr_io *outer,
                                uint64_t now)
{
    struct wr_wrap_io *io = q->free;
    const struct wr_wrap_object *o = (struct wr_wrap_object *)outer->object;

    q->free = io->next;
    io->outer = outer;
    io->inner = *outer;
    io->inner.object = o ? o->inner : NULL;
    io->due.at_ns = 0;
    io->is_due = false;
    io->arrived = q->hooks->begin && !q->hooks->begin(q->st, io, now);
    wr_due_push(&q->waiting, &io->due); /* there is room for `depth` */
    return io;
}

static void fail_again(struct wr_io *io)
{
    io->os_errno = EAGAIN;
    io->result = wr_error_from_errno(EAGAIN);
    io->step = io->op == WR_IO_WRITE ? WR_STEP_WRITE : WR_STEP_READ;
    io->got = 0;
    io->data = io->buf;
}

static unsigned submit_some(struct wrap_queue *q, struct wr_io *const *ios,
                            unsigned n)
{
    struct wr_io *inside[BATCH];
    uint64_t now = wr_clock_ns();
    unsigned taken = 0, count = 0, sent = 0;

    for (; taken < n && taken < BATCH && q->free; taken++) {
        struct wr_wrap_io *io = begin(q, ios[taken], now);

        if (!io->arrived)
            inside[count++] = &io->inner;
    }
    if (count)
        sent = q->inner->ops->submit(q->inner, inside, count);
    for (; sent < count; sent++) { /* cannot be: it is as deep as this one */
        fail_again(inside[sent]);
        arrive(q, (struct wr_wrap_io *)inside[sent]);
    }
    return taken;
}

static unsigned wrap_submit(struct wr_queue *q, struct wr_io *const *ios,
                            unsigned n)
{
    unsigned taken = 0, some;

    do {
        some = submit_some(to_queue(q), ios + taken, n - taken);
        taken += some;
    } while (some == BATCH);
    return taken;
}

static void collect(struct wrap_queue *q, bool wait)
{
    struct wr_io *done[BATCH];
    unsigned n = q->inner->ops->reap(q->inner, done, WR_ARRAY_LEN(done), wait);

    for (unsigned i = 0; i < n; i++) {
        struct wr_wrap_io *io = (struct wr_wrap_io *)done[i]; /* its first */

        q->late -= io->is_due;
        arrive(q, io);
    }
}

/* Those whose time has come. */
static void come_due(struct wrap_queue *q)
{
    uint64_t now = q->hurried ? UINT64_MAX : wr_clock_ns();
    struct wr_due *due;

    while ((due = wr_due_pop(&q->waiting, now))) {
        struct wr_wrap_io *io =
            (struct wr_wrap_io *)((char *)due -
                                  offsetof(struct wr_wrap_io, due));

        io->is_due = true;
        if (io->arrived)
            arrive(q, io);
        else
            q->late++;
    }
}

static unsigned hand_over(struct wrap_queue *q, struct wr_io **ret,
                          unsigned max)
{
    unsigned n = 0;

    while (n < max && q->ready) {
        struct wr_wrap_io *io = q->ready;
        struct wr_io *outer = io->outer;

        q->ready = io->next;
        if (!q->ready)
            q->ready_end = &q->ready;
        outer->result = io->inner.result;
        outer->os_errno = io->inner.os_errno;
        outer->step = io->inner.step;
        outer->got = io->inner.got;
        outer->data = io->inner.data;
        if (q->hooks->end)
            q->hooks->end(io);
        ret[n++] = outer;
        io->outer = NULL;
        io->next = q->free;
        q->free = io;
    }
    return n;
}

static void sleep_for_next(struct wrap_queue *q)
{
    uint64_t due = wr_due_next(&q->waiting), look = wr_clock_ns() + LOOK_NS;

    if (due > look)
        wr_clock_sleep_until(look);
    else
        wr_clock_sleep_exactly(&q->sleeper, due);
}

/* When a time comes is known, so there is nothing to poll: the next one is
 * slept for, and what arrived meanwhile is there already. Only what is due is
 * waited for inside. */
static unsigned wrap_reap(struct wr_queue *queue, struct wr_io **ret,
                          unsigned max, bool wait)
{
    struct wrap_queue *q = to_queue(queue);

    for (;;) {
        unsigned n;

        collect(q, /* wait= */ false);
        come_due(q);
        n = hand_over(q, ret, max);
        if (n || !wait || !(q->late + q->waiting.count))
            return n;
        if (q->late)
            collect(q, /* wait= */ true);
        else
            sleep_for_next(q);
    }
}

static void wrap_hurry(struct wr_queue *queue)
{
    struct wrap_queue *q = to_queue(queue);

    q->hurried = true;
    wr_queue_hurry(q->inner);
}

static void queue_free(struct wrap_queue *q)
{
    free(q->ios);
    wr_due_done(&q->waiting);
    free(q);
}

static struct wr_wrap_io *io_at(const struct wrap_queue *q, unsigned i)
{
    return (struct wr_wrap_io *)(q->ios + i * q->hooks->io_bytes);
}

/* Those that were never handed over end here. */
static void wrap_close(struct wr_queue *queue)
{
    struct wrap_queue *q = to_queue(queue);

    q->inner->ops->close(q->inner);
    for (unsigned i = 0; q->hooks->end && i < q->depth; i++) {
        struct wr_wrap_io *io = io_at(q, i);

        if (!io->outer)
            continue;
        io->outer->result = WEIR_ECANCELED;
        q->hooks->end(io);
    }
    queue_free(q);
}

static const struct wr_queue_ops wrap_queue_ops = {
    .submit = wrap_submit,
    .reap = wrap_reap,
    .hurry = wrap_hurry,
    .close = wrap_close,
};

int wr_wrap_queue_open(struct wr_store *st, const struct wr_queue_config *cfg,
                       struct wr_queue **ret, weir_err *err)
{
    const struct wr_wrap_hooks *hooks = ((struct wr_wrap_store *)st)->hooks;
    struct wr_store *inner = inner_of(st);
    struct wrap_queue *q = calloc(1, sizeof(*q));
    struct wr_queue_config inside = *cfg;
    int r;

    if (!q)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    inside.lazy = cfg->lazy && hooks->lazy;
    q->st = st;
    q->hooks = hooks;
    q->depth = cfg->depth;
    q->ios = calloc(cfg->depth, hooks->io_bytes);
    r = q->ios && wr_due_reserve(&q->waiting, cfg->depth)
            ? inner->ops->queue_open(inner, &inside, &q->inner, err)
            : wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r < 0) {
        queue_free(q);
        return r;
    }
    for (unsigned i = cfg->depth; i--;) {
        io_at(q, i)->next = q->free;
        q->free = io_at(q, i);
    }
    q->ready_end = &q->ready;
    q->queue = (struct wr_queue){&wrap_queue_ops, q->inner->engine};
    *ret = &q->queue;
    return 0;
}
