/* meter.c - a store around another that measures the reads through it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Its queue is not that of wrap.h, which asks the queue inside twice per reap:
 * for what is there, and then for what is due. Here a submit is one submit
 * inside and a reap one reap, so a lazy io_uring needs no call more. */
#include "storage/meter.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "storage/meter_count.h"
#include "storage/wrap.h"

struct meter_store {
    struct wr_wrap_store wrap; /* first; its store inside is borrowed */
    struct wr_meter *meter;    /* borrowed */
};

struct meter_object {
    struct wr_wrap_object wrap;   /* first */
    struct wr_meter_tally *tally; /* borrowed from the meter */
    uint64_t file;
};

/* A request on its way: the store inside sees the copy. */
struct meter_io {
    struct wr_io inner;  /* first: the queue inside knows only this */
    struct wr_io *outer; /* borrowed: the caller's */
    struct meter_io *next;
    uint64_t since_ns;
    struct wr_meter_place place;
};

struct meter_queue {
    struct wr_queue queue;
    struct wr_meter *meter;       /* borrowed */
    struct wr_meter_tally *tally; /* owned */
    struct wr_queue *inner;       /* owned */
    struct meter_io *ios;         /* owned: `depth` */
    struct meter_io *free;
    struct wr_io **inside; /* owned: `depth`, for one submit */
    unsigned reads;        /* in flight */
};

static struct meter_queue *to_queue(struct wr_queue *q)
{
    return (struct meter_queue *)q;
}

/* --- the queue --- */

static struct wr_io *copy_in(struct meter_queue *q, struct wr_io *outer,
                             uint64_t now)
{
    struct meter_io *io = q->free;

    q->free = io->next;
    io->outer = outer;
    io->since_ns = now;
    io->inner = *outer;
    if (outer->object)
        io->inner.object = ((struct wr_wrap_object *)outer->object)->inner;
    return &io->inner;
}

static void give_back(struct meter_queue *q, struct meter_io *io)
{
    io->next = q->free;
    q->free = io;
}

static void locate(struct meter_queue *q, struct meter_io *io)
{
    const struct wr_io *rd = io->outer;
    uint64_t file = rd->object ? ((struct meter_object *)rd->object)->file
                               : wr_meter_file(rd->path ? rd->path : "");

    io->place = wr_meter_locate(q->meter, file, rd->offset, rd->len, rd->whole);
}

/* Those that the queue inside took: after it was asked, so that the reads are
 * under way meanwhile. Answers come with a reap only. */
static unsigned note_taken(struct meter_queue *q, unsigned taken)
{
    unsigned reads = 0;

    for (unsigned i = 0; i < taken; i++) {
        struct meter_io *io = (struct meter_io *)q->inside[i];

        if (io->inner.op != WR_IO_READ)
            continue;
        locate(q, io);
        reads++;
    }
    return reads;
}

static unsigned meter_submit(struct wr_queue *queue, struct wr_io *const *ios,
                             unsigned n)
{
    struct meter_queue *q = to_queue(queue);
    uint64_t now = wr_clock_ns();
    unsigned count = 0, taken, reads;

    for (; count < n && q->free; count++)
        q->inside[count] = copy_in(q, ios[count], now);
    taken = count ? q->inner->ops->submit(q->inner, q->inside, count) : 0;
    reads = note_taken(q, taken);
    while (count > taken)
        give_back(q, (struct meter_io *)q->inside[--count]);
    if (reads && !q->reads)
        wr_meter_busy(q->meter, now);
    q->reads += reads;
    return taken;
}

/* Under the tally's lock. */
static void count_read(struct meter_queue *q, const struct meter_io *io,
                       uint64_t now)
{
    struct wr_meter_counts *c = &q->tally->counts;

    c->opens += !io->inner.object;
    if (io->inner.result < 0)
        c->errors++;
    else
        wr_meter_count(q->tally, now - io->since_ns, io->inner.got, io->place);
}

static struct wr_io *copy_out(struct meter_queue *q, struct meter_io *io)
{
    struct wr_io *outer = io->outer;

    outer->result = io->inner.result;
    outer->os_errno = io->inner.os_errno;
    outer->step = io->inner.step;
    outer->got = io->inner.got;
    outer->data = io->inner.data;
    give_back(q, io);
    return outer;
}

static unsigned meter_reap(struct wr_queue *queue, struct wr_io **ret,
                           unsigned max, bool wait)
{
    struct meter_queue *q = to_queue(queue);
    unsigned n = q->inner->ops->reap(q->inner, ret, max, wait), reads = 0;
    uint64_t now;

    if (!n)
        return 0;
    now = wr_clock_ns();
    pthread_mutex_lock(&q->tally->lock);
    for (unsigned i = 0; i < n; i++) {
        struct meter_io *io = (struct meter_io *)ret[i];

        if (io->inner.op == WR_IO_READ) {
            count_read(q, io, now);
            reads++;
        }
        ret[i] = copy_out(q, io);
    }
    pthread_mutex_unlock(&q->tally->lock);
    q->reads -= reads;
    if (reads && !q->reads)
        wr_meter_idle(q->meter, now);
    return n;
}

static void meter_hurry(struct wr_queue *queue)
{
    wr_queue_hurry(to_queue(queue)->inner);
}

static void queue_free(struct meter_queue *q)
{
    wr_meter_tally_end(q->meter, q->tally);
    free(q->ios);
    free(q->inside);
    free(q);
}

static void meter_queue_close(struct wr_queue *queue)
{
    struct meter_queue *q = to_queue(queue);

    q->inner->ops->close(q->inner);
    if (q->reads)
        wr_meter_idle(q->meter, wr_clock_ns());
    queue_free(q);
}

static const struct wr_queue_ops meter_queue_ops = {
    .submit = meter_submit,
    .reap = meter_reap,
    .hurry = meter_hurry,
    .close = meter_queue_close,
};

static int meter_queue_open(struct wr_store *st,
                            const struct wr_queue_config *cfg,
                            struct wr_queue **ret, weir_err *err)
{
    const struct meter_store *ms = (struct meter_store *)st;
    struct wr_store *inner = ms->wrap.inner;
    struct meter_queue *q = calloc(1, sizeof(*q));
    int r;

    if (!q)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    q->meter = ms->meter;
    q->ios = calloc(cfg->depth, sizeof(*q->ios));
    q->inside = calloc(cfg->depth, sizeof(struct wr_io *));
    q->tally = wr_meter_tally_begin(ms->meter);
    r = q->ios && q->inside && q->tally
            ? inner->ops->queue_open(inner, cfg, &q->inner, err)
            : wr_fail(err, WEIR_ENOMEM, "out of memory");
    if (r < 0) {
        queue_free(q);
        return r;
    }
    for (unsigned i = cfg->depth; i--;)
        give_back(q, &q->ios[i]);
    q->queue = (struct wr_queue){&meter_queue_ops, q->inner->engine};
    *ret = &q->queue;
    return 0;
}

/* --- calls --- */

static int64_t measured_read(struct wr_meter *m, struct wr_wrap_call *c,
                             weir_err *err)
{
    struct meter_object *mo = (struct meter_object *)c->o;
    struct wr_meter_place place = {0};
    uint64_t since = wr_clock_ns(), now;
    int64_t n;

    wr_meter_busy(m, since);
    n = wr_wrap_do(c, err);
    now = wr_clock_ns();
    wr_meter_idle(m, now);
    if (n > 0) /* less than asked for: it ends there */
        place = wr_meter_locate(m, mo->file, c->offset, (uint64_t)n,
                                (uint64_t)n < c->len);
    pthread_mutex_lock(&mo->tally->lock);
    if (n > 0)
        wr_meter_count(mo->tally, now - since, (uint64_t)n, place);
    mo->tally->counts.errors += n < 0;
    pthread_mutex_unlock(&mo->tally->lock);
    return n;
}

static int64_t counted_open(struct wr_meter *m, struct wr_wrap_call *c,
                            weir_err *err)
{
    struct meter_object *mo = (struct meter_object *)c->o;
    int64_t r = wr_wrap_do(c, err);

    if (r < 0)
        return r;
    mo->tally = wr_meter_shard(m);
    mo->file = wr_meter_file(c->path);
    pthread_mutex_lock(&mo->tally->lock);
    mo->tally->counts.opens++;
    pthread_mutex_unlock(&mo->tally->lock);
    return 0;
}

static int64_t meter_call(struct wr_store *st, struct wr_wrap_call *c,
                          weir_err *err)
{
    struct wr_meter *m = ((struct meter_store *)st)->meter;

    return c->op == WR_WRAP_READ   ? measured_read(m, c, err)
           : c->op == WR_WRAP_OPEN ? counted_open(m, c, err)
                                   : wr_wrap_do(c, err);
}

static const struct wr_wrap_hooks hooks = {
    .call = meter_call,
    .object_bytes = sizeof(struct meter_object),
};

/* --- the store --- */

static void meter_close(struct wr_store *st)
{
    free(st);
}

/* Not in the registry: nothing opens it by URL. */
static const struct wr_storage_ops meter_ops = {
    .name = "meter",
    .help = "another store whose reads are measured",
    .close = meter_close,
    .stat = wr_wrap_stat,
    .list = wr_wrap_list,
    .object_open = wr_wrap_object_open,
    .change = wr_wrap_change,
    .queue_open = meter_queue_open,
    .space = wr_wrap_space,
    .forgets = wr_wrap_forgets,
    .local_path = wr_wrap_local_path,
};

int wr_meter_wrap(struct wr_meter *m, struct wr_store *inner,
                  struct wr_store **ret, weir_err *err)
{
    struct meter_store *ms = calloc(1, sizeof(*ms));

    if (!ms)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    ms->wrap.store.ops = &meter_ops;
    ms->wrap.inner = inner;
    ms->wrap.hooks = &hooks;
    ms->meter = m;
    *ret = &ms->wrap.store;
    return 0;
}
