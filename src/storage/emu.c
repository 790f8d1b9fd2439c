/* emu.c - another store, as slow as a device that is emulated.
 * SPDX-License-Identifier: Apache-2.0
 *
 * emu:PROFILE:URL, or emu:PROFILE,trace=FILE:URL (trace.h). All is done at once
 * on the store inside and handed over when the device (device.h) would have been
 * done with it, which must be later: the place inside has to be faster than the
 * device that is played. Stores of one profile and place share one device. */
#include "storage/storage.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "storage/device.h"
#include "storage/trace.h"

#define BATCH 32u

/* One who waits for long looks so often whether it is to hurry. */
#define LOOK_NS (50 * WR_NS_PER_MS)

struct emu_store {
    struct wr_store store;
    struct wr_store *inner;          /* owned */
    struct wr_device *device;        /* ref: one per profile and place */
    struct wr_trace *trace;          /* owned; NULL: none */
    struct wr_clock_sleeper sleeper; /* shared by all threads */
};

struct emu_object {
    struct wr_object object;
    struct emu_store *es;    /* borrowed */
    struct wr_object *inner; /* owned */
    uint64_t id;
};

/* A request on its way: the inner store sees `inner`, the caller `outer`. */
struct emu_io {
    struct wr_io inner;
    struct wr_io *outer; /* borrowed */
    uint64_t due_ns;
    bool arrived; /* the inner queue is done with it */
    bool due;     /* the device is */
    struct emu_io *next;
};

struct emu_queue {
    struct wr_queue queue;
    struct emu_store *es;   /* borrowed */
    struct wr_queue *inner; /* owned */
    struct emu_io *ios;     /* owned: `depth` */
    struct emu_io *free;
    struct emu_io **waiting; /* owned: a heap of `depth`, earliest due first */
    unsigned waiting_count;
    unsigned late; /* due and not arrived */
    struct emu_io *ready, **ready_end;
    atomic_bool hurried;
};

static struct emu_store *to_store(struct wr_store *st)
{
    return (struct emu_store *)st;
}

static struct emu_object *to_object(struct wr_object *o)
{
    return (struct emu_object *)o;
}

static struct emu_queue *to_queue(struct wr_queue *q)
{
    return (struct emu_queue *)q;
}

/* Tells objects apart: FNV-1a. */
static uint64_t path_id(const char *path)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (; *path; path++)
        h = (h ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
    return h;
}

/* When the device is done with what it is asked for now. */
static uint64_t due_of(struct emu_store *es, const struct wr_device_request *rq,
                       uint64_t now_ns)
{
    uint64_t due = wr_device_submit(es->device, rq, now_ns);

    if (rq->op == WR_DEVICE_READ)
        wr_trace_read(es->trace, rq->len, due);
    else if (rq->op == WR_DEVICE_WRITE)
        wr_trace_written(es->trace, rq->len, due);
    return due;
}

/* The device was asked at `since_ns` for this: waits until it is done. */
static void wait_for(struct emu_store *es, const struct wr_device_request *rq,
                     uint64_t since_ns)
{
    uint64_t due = due_of(es, rq, since_ns);

    if (due > since_ns)
        wr_clock_sleep_exactly(&es->sleeper, due);
}

static void wait_for_op(struct emu_store *es, enum wr_device_op op,
                        uint64_t since_ns)
{
    wait_for(es, &(struct wr_device_request){.op = op}, since_ns);
}

/* --- the queue --- */

static void heap_push(struct emu_queue *eq, struct emu_io *io)
{
    struct emu_io **h = eq->waiting;
    unsigned i = eq->waiting_count++;

    for (; i && h[(i - 1) / 2]->due_ns > io->due_ns; i = (i - 1) / 2)
        h[i] = h[(i - 1) / 2];
    h[i] = io;
}

static struct emu_io *heap_pop(struct emu_queue *eq)
{
    struct emu_io **h = eq->waiting, *top = h[0];
    struct emu_io *last = h[--eq->waiting_count];
    unsigned i = 0, k;

    while ((k = 2 * i + 1) < eq->waiting_count) {
        if (k + 1 < eq->waiting_count && h[k + 1]->due_ns < h[k]->due_ns)
            k++;
        if (last->due_ns <= h[k]->due_ns)
            break;
        h[i] = h[k];
        i = k;
    }
    h[i] = last;
    return top;
}

static void make_ready(struct emu_queue *eq, struct emu_io *io)
{
    io->next = NULL;
    *eq->ready_end = io;
    eq->ready_end = &io->next;
}

static uint64_t ask_device(struct emu_queue *eq, const struct wr_io *io,
                           uint64_t now_ns)
{
    const struct emu_object *eo = (const struct emu_object *)io->object;
    struct wr_device_request rq = {
        .op = io->op == WR_IO_WRITE ? WR_DEVICE_WRITE : WR_DEVICE_READ,
        .object = eo ? eo->id : path_id(io->path ? io->path : ""),
        .offset = io->offset,
        .len = io->len,
        .opens = !eo,
    };

    return due_of(eq->es, &rq, now_ns);
}

/* Takes up to BATCH of them; the inner queue is as deep as this one. */
static unsigned submit_some(struct emu_queue *eq, struct wr_io *const *ios,
                            unsigned n)
{
    struct wr_io *inner[BATCH];
    struct emu_io *io = eq->free;
    unsigned ready = 0, taken;
    uint64_t now = wr_clock_ns();

    for (; ready < n && ready < BATCH && io; ready++, io = io->next) {
        struct wr_object *o = ios[ready]->object;

        io->outer = ios[ready];
        io->inner = *ios[ready];
        io->inner.object = o ? to_object(o)->inner : NULL;
        inner[ready] = &io->inner;
    }
    taken = ready ? eq->inner->ops->submit(eq->inner, inner, ready) : 0;
    for (unsigned i = 0; i < taken; i++) {
        io = eq->free;
        eq->free = io->next;
        io->arrived = io->due = false;
        io->due_ns = ask_device(eq, io->outer, now);
        heap_push(eq, io);
    }
    return taken;
}

static unsigned emu_submit(struct wr_queue *q, struct wr_io *const *ios,
                           unsigned n)
{
    struct emu_queue *eq = to_queue(q);
    unsigned taken = 0, some;

    do {
        some = submit_some(eq, ios + taken, n - taken);
        taken += some;
    } while (some == BATCH);
    return taken;
}

static void collect(struct emu_queue *eq, bool wait)
{
    struct wr_io *done[BATCH];
    unsigned n = eq->inner->ops->reap(eq->inner, done, WR_ARRAY_LEN(done),
                                      wait);

    for (unsigned i = 0; i < n; i++) {
        struct emu_io *io = (struct emu_io *)done[i]; /* its first member */

        io->arrived = true;
        if (io->due) {
            eq->late--;
            make_ready(eq, io);
        }
    }
}

/* What the device is done with by now. */
static void come_due(struct emu_queue *eq)
{
    uint64_t now;

    if (!eq->waiting_count)
        return;
    now = eq->hurried ? UINT64_MAX : wr_clock_ns();
    while (eq->waiting_count && eq->waiting[0]->due_ns <= now) {
        struct emu_io *io = heap_pop(eq);

        io->due = true;
        if (io->arrived)
            make_ready(eq, io);
        else
            eq->late++;
    }
}

static unsigned hand_over(struct emu_queue *eq, struct wr_io **ret,
                          unsigned max)
{
    unsigned n = 0;

    while (n < max && eq->ready) {
        struct emu_io *io = eq->ready;
        struct wr_object *object = io->outer->object;

        eq->ready = io->next;
        if (!eq->ready)
            eq->ready_end = &eq->ready;
        *io->outer = io->inner;
        io->outer->object = object;
        ret[n++] = io->outer;
        io->next = eq->free;
        eq->free = io;
    }
    return n;
}

static void sleep_for_next(struct emu_queue *eq)
{
    uint64_t due = eq->waiting[0]->due_ns, look = wr_clock_ns() + LOOK_NS;

    if (due > look)
        wr_clock_sleep_until(look);
    else
        wr_clock_sleep_exactly(&eq->es->sleeper, due);
}

/* When a time comes is known, so there is nothing to poll: the next one is
 * slept for, and what arrived meanwhile is there already. Only what the device
 * should be done with is waited for inside. */
static unsigned emu_reap(struct wr_queue *q, struct wr_io **ret, unsigned max,
                         bool wait)
{
    struct emu_queue *eq = to_queue(q);

    for (;;) {
        unsigned n;

        collect(eq, /* wait= */ false);
        come_due(eq);
        n = hand_over(eq, ret, max);
        if (n || !wait || !(eq->late + eq->waiting_count))
            return n;
        if (eq->late)
            collect(eq, /* wait= */ true);
        else
            sleep_for_next(eq);
    }
}

static void emu_hurry(struct wr_queue *q)
{
    struct emu_queue *eq = to_queue(q);

    eq->hurried = true;
    wr_queue_hurry(eq->inner);
}

static void queue_free(struct emu_queue *eq)
{
    free(eq->ios);
    free(eq->waiting);
    free(eq);
}

static void emu_queue_close(struct wr_queue *q)
{
    struct emu_queue *eq = to_queue(q);

    eq->inner->ops->close(eq->inner);
    queue_free(eq);
}

static const struct wr_queue_ops emu_queue_ops = {
    .submit = emu_submit,
    .reap = emu_reap,
    .hurry = emu_hurry,
    .close = emu_queue_close,
};

static int emu_queue_open(struct wr_store *st,
                          const struct wr_queue_config *cfg,
                          struct wr_queue **ret, weir_err *err)
{
    struct emu_store *es = to_store(st);
    struct emu_queue *eq = calloc(1, sizeof(*eq));
    struct wr_queue_config inside = *cfg;
    int r;

    if (!eq)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    inside.lazy = false; /* it has the device's time to get done, no more */
    eq->ios = calloc(cfg->depth, sizeof(*eq->ios));
    eq->waiting = calloc(cfg->depth, sizeof(*eq->waiting));
    r = eq->ios && eq->waiting
            ? es->inner->ops->queue_open(es->inner, &inside, &eq->inner, err)
            : wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r < 0) {
        queue_free(eq);
        return r;
    }
    for (unsigned i = 0; i < cfg->depth; i++) {
        eq->ios[i].next = eq->free;
        eq->free = &eq->ios[i];
    }
    eq->ready_end = &eq->ready;
    eq->queue.ops = &emu_queue_ops;
    eq->queue.engine = eq->inner->engine;
    eq->es = es;
    *ret = &eq->queue;
    return 0;
}

/* --- objects --- */

static int64_t emu_object_read(struct wr_object *o, void *buf, size_t len,
                               uint64_t offset, weir_err *err)
{
    struct emu_object *eo = to_object(o);
    uint64_t now = wr_clock_ns();
    int64_t n = eo->inner->ops->read(eo->inner, buf, len, offset, err);

    /* A device moves what is there; that there is no more, the file system
     * knows without asking. */
    if (n > 0)
        wait_for(eo->es,
                 &(struct wr_device_request){.op = WR_DEVICE_READ,
                                             .object = eo->id,
                                             .offset = offset,
                                             .len = (uint64_t)n},
                 now);
    return n;
}

static int emu_object_write(struct wr_object *o, const void *buf, size_t len,
                            uint64_t offset, weir_err *err)
{
    struct emu_object *eo = to_object(o);
    uint64_t now = wr_clock_ns();
    int r;

    if (!eo->inner->ops->write)
        return wr_fail(err, WEIR_ENOTSUP, "read-only storage");
    r = eo->inner->ops->write(eo->inner, buf, len, offset, err);
    if (r == 0)
        wait_for(eo->es,
                 &(struct wr_device_request){.op = WR_DEVICE_WRITE,
                                             .object = eo->id,
                                             .offset = offset,
                                             .len = len},
                 now);
    return r;
}

static int emu_object_sync(struct wr_object *o, weir_err *err)
{
    struct emu_object *eo = to_object(o);
    uint64_t now = wr_clock_ns();
    int r;

    if (!eo->inner->ops->sync)
        return wr_fail(err, WEIR_ENOTSUP, "read-only storage");
    r = eo->inner->ops->sync(eo->inner, err);
    wait_for_op(eo->es, WR_DEVICE_SYNC, now);
    return r;
}

static int emu_object_lock(struct wr_object *o, weir_err *err)
{
    struct wr_object *inner = to_object(o)->inner;

    if (!inner->ops->lock)
        return wr_fail(err, WEIR_ENOTSUP, "storage without locks");
    return inner->ops->lock(inner, err);
}

static int emu_object_locked(struct wr_object *o, weir_err *err)
{
    struct wr_object *inner = to_object(o)->inner;

    if (!inner->ops->locked)
        return wr_fail(err, WEIR_ENOTSUP, "storage without locks");
    return inner->ops->locked(inner, err);
}

static int emu_object_resize(struct wr_object *o, uint64_t size, weir_err *err)
{
    struct emu_object *eo = to_object(o);
    uint64_t now = wr_clock_ns();
    int r;

    if (!eo->inner->ops->resize)
        return wr_fail(err, WEIR_ENOTSUP, "read-only storage");
    r = eo->inner->ops->resize(eo->inner, size, err);
    wait_for_op(eo->es, WR_DEVICE_META, now);
    return r;
}

static int emu_object_close(struct wr_object *o, bool sync, weir_err *err)
{
    struct emu_object *eo = to_object(o);
    uint64_t now = wr_clock_ns();
    int r = eo->inner->ops->close(eo->inner, sync, err);

    if (sync)
        wait_for_op(eo->es, WR_DEVICE_SYNC, now);
    free(eo);
    return r;
}

static const struct wr_object_ops emu_object_ops = {
    .read = emu_object_read,
    .write = emu_object_write,
    .sync = emu_object_sync,
    .lock = emu_object_lock,
    .locked = emu_object_locked,
    .resize = emu_object_resize,
    .close = emu_object_close,
};

static int emu_object_open(struct wr_store *st, const char *path,
                           enum wr_open_mode mode, struct wr_object **ret,
                           weir_err *err)
{
    struct emu_store *es = to_store(st);
    struct emu_object *eo = calloc(1, sizeof(*eo));
    uint64_t now = wr_clock_ns();
    int r;

    if (!eo)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    eo->object.ops = &emu_object_ops;
    eo->es = es;
    eo->id = path_id(path);
    r = es->inner->ops->object_open(es->inner, path, mode, &eo->inner, err);
    wait_for_op(es, WR_DEVICE_META, now);
    if (r < 0) {
        free(eo);
        return r;
    }
    *ret = &eo->object;
    return 0;
}

/* --- the store --- */

static void emu_close(struct wr_store *st)
{
    struct emu_store *es = to_store(st);

    if (!es)
        return;
    wr_store_close(es->inner);
    wr_device_unref(es->device);
    wr_trace_close(es->trace);
    free(es);
}

/* Where the store inside lies: by what users mean, not by how they write it.
 * Fresh memory. */
static char *place_of(struct wr_store *inner, const char *url)
{
    char path[PATH_MAX], *real = NULL;

    if (inner->ops->local_path &&
        inner->ops->local_path(inner, "", path, sizeof(path)))
        real = realpath(path, NULL);
    return real ? real : strdup(url);
}

/* `what` is what stands between "emu:" and the colon: a profile, and where its
 * trace goes. Cuts it; *ret_trace is borrowed from it. */
static int parse_what(char *what, struct wr_device_profile *ret,
                      const char **ret_trace, weir_err *err)
{
    char *trace = strstr(what, ",trace=");

    if (trace) {
        *trace = '\0';
        *ret_trace = trace + strlen(",trace=");
    }
    return wr_device_profile_find(what, ret, err);
}

static int open_device(struct emu_store *es, const struct wr_device_profile *p,
                       const char *url, weir_err *err)
{
    char *place = place_of(es->inner, url);
    int r = place ? wr_device_ref(p, place, &es->device, err)
                  : wr_fail(err, WEIR_ENOMEM, "out of memory");

    free(place);
    return r;
}

static int emu_open(const char *rest, unsigned flags, struct wr_store **ret,
                    char **ret_leaf, weir_err *err)
{
    const char *colon = strchr(rest, ':'), *trace = NULL;
    struct wr_device_profile p;
    struct emu_store *es;
    char *what, *leaf = NULL;
    int r;

    if (!colon)
        return wr_fail(err, WEIR_EINVAL, "'emu:%s': write emu:PROFILE:PATH",
                       rest);
    es = calloc(1, sizeof(*es));
    what = strndup(rest, (size_t)(colon - rest));
    if (!es || !what)
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    else
        r = parse_what(what, &p, &trace, err);
    if (r == 0 && trace)
        r = wr_trace_open(trace, &es->trace, err);
    free(what);
    if (r == 0)
        r = wr_store_open_with(colon + 1, flags, &es->inner, &leaf, err);
    if (r == 0)
        r = open_device(es, &p, colon + 1, err);
    if (r < 0) {
        free(leaf);
        emu_close(es ? &es->store : NULL);
        return r;
    }
    es->store.ops = &wr_storage_emu;
    *ret = &es->store;
    *ret_leaf = leaf;
    return 0;
}

static int emu_stat(struct wr_store *st, const char *path, struct wr_stat *ret,
                    weir_err *err)
{
    struct emu_store *es = to_store(st);
    uint64_t now = wr_clock_ns();
    int r = es->inner->ops->stat(es->inner, path, ret, err);

    wait_for_op(es, WR_DEVICE_META, now);
    return r;
}

static int emu_list(struct wr_store *st, const char *path, wr_list_fn fn,
                    void *arg, weir_err *err)
{
    struct emu_store *es = to_store(st);

    /* Before: the caller's work on the entries is not the device's. */
    wait_for_op(es, WR_DEVICE_META, wr_clock_ns());
    return es->inner->ops->list(es->inner, path, fn, arg, err);
}

static int emu_change(struct wr_store *st, enum wr_change what,
                      const char *path, const char *to, weir_err *err)
{
    struct emu_store *es = to_store(st);
    uint64_t now = wr_clock_ns();
    int r;

    if (!es->inner->ops->change)
        return wr_fail(err, WEIR_ENOTSUP, "read-only storage");
    r = es->inner->ops->change(es->inner, what, path, to, err);
    wait_for_op(es, what == WR_SYNC_DIR ? WR_DEVICE_SYNC : WR_DEVICE_META, now);
    return r;
}

static int emu_space(struct wr_store *st, uint64_t *ret_bytes, weir_err *err)
{
    struct wr_store *inner = to_store(st)->inner;

    if (!inner->ops->space)
        return wr_fail(err, WEIR_ENOTSUP, "free space is not known");
    return inner->ops->space(inner, ret_bytes, err);
}

static bool emu_forgets(struct wr_store *st)
{
    struct wr_store *inner = to_store(st)->inner;

    return inner->ops->forgets && inner->ops->forgets(inner);
}

static bool emu_local_path(struct wr_store *st, const char *path, char *buf,
                           size_t cap)
{
    struct wr_store *inner = to_store(st)->inner;

    return inner->ops->local_path &&
           inner->ops->local_path(inner, path, buf, cap);
}

const struct wr_storage_ops wr_storage_emu = {
    .name = "emu",
    .help = "another store, as slow as an emulated device",
    .wraps = true,
    .open = emu_open,
    .close = emu_close,
    .stat = emu_stat,
    .list = emu_list,
    .object_open = emu_object_open,
    .change = emu_change,
    .queue_open = emu_queue_open,
    .space = emu_space,
    .forgets = emu_forgets,
    .local_path = emu_local_path,
};
