/* probe_worker.c - one worker of a run: a thread's queue, buffers, requests.
 * SPDX-License-Identifier: Apache-2.0
 *
 * All of it is prepared, memory touched included, before the clock starts, and
 * given back after it was read. In between nothing is allocated, and the clock
 * is read once for all requests that are answered together. */
#include "measure/probe_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

/* A plain read(2) costs less than a ring when there is one at a time; past the
 * page cache only a queue goes. */
static bool wants_queue(const struct wr_probe_test *t)
{
    if (t->op == WR_PROBE_SYNC || t->op == WR_PROBE_CREATE)
        return false;
    return t->direct || t->depth > 1;
}

/* --- requests --- */

void wr_probe_count(struct wr_probe_worker *w, uint64_t bytes, uint64_t ns,
                    uint64_t now_ns)
{
    if (!w->counts) {
        if (now_ns < w->crew->count_ns)
            return;
        w->counts = true;
    }
    wr_hist_add(&w->latency, ns);
    w->bytes += bytes;
    w->ops++;
    w->last_ns = now_ns;
}

/* No two pages written are alike, for devices that look for such. */
static void stamp(uint8_t *buf, size_t len, uint64_t offset, uint64_t now_ns)
{
    for (size_t i = 0; i + sizeof(now_ns) <= len; i += WR_DIRECT_ALIGN) {
        uint64_t word = now_ns ^ (offset + i) << 20;

        memcpy(buf + i, &word, sizeof(word));
    }
}

static bool next_io(struct wr_probe_worker *w, unsigned k, uint64_t now_ns)
{
    struct wr_io *io = &w->ios[k];
    uint64_t len;

    if (!wr_probe_next_range(w, now_ns, &io->offset, &len))
        return false;
    io->len = (size_t)len;
    if (io->op == WR_IO_WRITE)
        stamp(io->buf, io->len, io->offset, now_ns);
    return true;
}

static const char *name_of(const struct wr_probe_worker *w,
                           const struct wr_io *io)
{
    const struct wr_probe_place *p = w->crew->job->place;

    return io->path                                ? io->path
           : wr_probe_is_write(w->crew->job->test) ? p->write_path
                                                   : p->read_path;
}

int wr_probe_pump(struct wr_probe_worker *w,
                  bool (*next)(struct wr_probe_worker *w, unsigned k,
                               uint64_t now_ns))
{
    uint64_t now = wr_clock_ns();
    unsigned n = 0, ready = 0, sent;

    for (; n < w->depth && next(w, n, now); n++) {
        w->since_ns[n] = now;
        w->list[n] = &w->ios[n];
    }
    ready = n;
    while (ready || n) {
        sent = ready ? w->queue->ops->submit(w->queue, w->list, ready) : 0;
        if (sent < ready)
            return wr_fail(&w->err, WEIR_EIO, "the queue takes no more");
        n = w->queue->ops->reap(w->queue, w->list, w->depth, /* wait= */ true);
        now = wr_clock_ns();
        ready = 0;
        for (unsigned i = 0; i < n; i++) {
            struct wr_io *io = w->list[i];

            if (io->result < 0)
                return wr_io_error(io, name_of(w, io), &w->err);
            wr_probe_count(w, io->len, now - w->since_ns[io->tag], now);
            w->since_ns[io->tag] = now;
            if (next(w, io->tag, now))
                w->list[ready++] = io;
        }
    }
    return 0;
}

int wr_probe_read(struct wr_probe_worker *w, struct wr_object *o,
                  const char *path, uint64_t offset, size_t len)
{
    int64_t n = wr_object_read_all(o, w->buf, len, offset, &w->err);

    if (n < 0)
        return (int)n;
    return (size_t)n == len
               ? 0
               : wr_fail(&w->err, WEIR_ECHANGED, "'%s': became shorter", path);
}

/* One request at a time, without a queue. */
static int run_plain(struct wr_probe_worker *w)
{
    enum wr_probe_op op = w->crew->job->test->op;
    uint64_t now = wr_clock_ns(), since, offset, len;
    int r = 0;

    while (wr_probe_next_range(w, now, &offset, &len)) {
        since = now;
        if (op != WR_PROBE_READ)
            stamp(w->buf, (size_t)len, offset, now);
        r = op == WR_PROBE_READ
                ? wr_probe_read(w, w->object, w->crew->job->place->read_path,
                                offset, (size_t)len)
                : w->object->ops->write(w->object, w->buf, (size_t)len, offset,
                                        &w->err);
        if (r == 0 && op == WR_PROBE_SYNC) {
            since = wr_clock_ns();
            r = w->object->ops->sync(w->object, &w->err);
        }
        if (r < 0)
            return r;
        now = wr_clock_ns();
        wr_probe_count(w, len, now - since, now);
    }
    return 0;
}

int wr_probe_work(struct wr_probe_worker *w)
{
    enum wr_probe_op op = w->crew->job->test->op;

    if (op == WR_PROBE_FILES)
        return wr_probe_read_files(w);
    if (op == WR_PROBE_CREATE)
        return wr_probe_create_files(w);
    return w->queue ? wr_probe_pump(w, next_io) : run_plain(w);
}

/* --- a worker: prepared, run, released --- */

static size_t buffer_cap(const struct wr_probe_place *p,
                         const struct wr_probe_test *t)
{
    return WR_ALIGN_UP(wr_read_cap(wr_probe_largest(p, t), t->direct),
                       (size_t)WR_DIRECT_ALIGN);
}

static unsigned in_flight(const struct wr_probe_test *t)
{
    return wants_queue(t) ? t->depth : 1;
}

uint64_t wr_probe_memory(const struct wr_probe_place *p,
                         const struct wr_probe_test *t)
{
    return (uint64_t)buffer_cap(p, t) * in_flight(t) * t->workers;
}

static size_t buffers_size(const struct wr_probe_worker *w)
{
    /* Large enough for pages of its own, which are aligned. */
    return WR_MAX(w->cap * w->depth, (size_t)2 << 20);
}

static int open_object(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;
    struct wr_probe_place *p = job->place;
    struct wr_store *st = wr_probe_is_write(job->test) ? p->store
                                                       : p->read_store;

    if (wr_probe_is_files(job->test))
        return 0;
    return st->ops->object_open(
        st, wr_probe_is_write(job->test) ? p->write_path : p->read_path,
        wr_probe_is_write(job->test) ? WR_OPEN_WRITE : WR_OPEN_READ, &w->object,
        &w->err);
}

static int open_queue(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;
    struct wr_probe_place *p = job->place;
    struct wr_store *st = job->test->op == WR_PROBE_READ ? p->read_store
                                                         : p->store;
    struct wr_queue_config cfg = {.depth = w->depth,
                                  .io = p->plan->io,
                                  .direct = job->test->direct,
                                  .lazy = true};

    if (!wants_queue(job->test))
        return 0;
    return st->ops->queue_open(st, &cfg, &w->queue, &w->err);
}

static int get_memory(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;

    w->depth = in_flight(job->test);
    w->cap = buffer_cap(job->place, job->test);
    w->buf = wr_big_alloc(buffers_size(w));
    w->ios = calloc(w->depth, sizeof(*w->ios));
    w->list = calloc(w->depth, sizeof(*w->list));
    w->since_ns = calloc(w->depth, sizeof(*w->since_ns));
    if (job->test->op == WR_PROBE_FILES)
        w->paths = calloc(w->depth, sizeof(*w->paths));
    if (!w->buf || !w->ios || !w->list || !w->since_ns ||
        (job->test->op == WR_PROBE_FILES && !w->paths))
        return wr_fail(&w->err, WEIR_ENOMEM, "out of memory");
    /* Touches it, too. */
    wr_probe_noise(w->buf, buffers_size(w), job->stream << 16 | w->index);
    return 0;
}

static void set_region(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;
    uint64_t unit = WR_ALIGN_UP(wr_probe_largest(job->place, job->test),
                                (uint64_t)WR_DIRECT_ALIGN);
    uint64_t units = wr_probe_big_bytes(job) / unit,
             workers = job->test->workers;

    w->first = w->at = units * w->index / workers * unit;
    w->last = units * (w->index + 1) / workers * unit;
}

int wr_probe_prepare(struct wr_probe_worker *w)
{
    const struct wr_probe_job *job = w->crew->job;
    int r;

    r = get_memory(w);
    if (r == 0)
        r = open_object(w);
    if (r == 0)
        r = open_queue(w);
    /* What tests before left to be written is no part of this one. */
    if (r == 0 && w->object && wr_probe_is_write(job->test))
        r = w->object->ops->sync(w->object, &w->err);
    if (r < 0)
        return r;
    for (unsigned k = 0; k < w->depth; k++)
        w->ios[k] = (struct wr_io){
            .op = wr_probe_is_write(job->test) ? WR_IO_WRITE : WR_IO_READ,
            .object = w->object,
            .buf = w->buf + k * w->cap,
            .cap = w->cap,
            .tag = k,
        };
    if (!wr_probe_is_files(job->test))
        set_region(w);
    return 0;
}

void wr_probe_release(struct wr_probe_worker *w)
{
    if (w->queue)
        w->queue->ops->close(w->queue); /* waits for what is in flight */
    if (w->object)
        w->object->ops->close(w->object, /* sync= */ false, NULL);
    wr_big_free(w->buf, w->buf ? buffers_size(w) : 0);
    free(w->ios);
    free(w->list);
    free(w->since_ns);
    free(w->paths);
}
