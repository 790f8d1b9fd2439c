/* replay.c - the requests of a traced program, issued again elsewhere.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each thread keeps its own open objects: events do not say by which descriptor
 * a file was read, and a file that another thread opened is opened once more,
 * untimed. */
#include "measure/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "measure/replay_emulated.h"

#define HANDLES 64             /* open objects of one thread */
#define BUFFER  ((size_t)4096) /* stdio's */
#define CHUNK   ((size_t)16 << 20)
#define NAP_NS  (100 * WR_NS_PER_MS) /* between looks at stopped() */

struct replay_handle {
    struct wr_object *object; /* owned; NULL: free */
    uint32_t file, opens;
    uint64_t at;         /* behind the last request */
    uint64_t from, upto; /* in stdio's buffer */
    uint64_t used;       /* number of the last request */
};

struct replay_thread {
    const struct wr_replay_plan *plan;
    struct wr_replay_part part;
    uint64_t origin_ns, start_ns; /* of the trace; of the replay */
    struct wr_clock_sleeper *sleeper;
    struct replay_handle handles[HANDLES];
    uint64_t tick;
    char *buf; /* owned */
    size_t cap;
    bool stopped;
    weir_err failed; /* the first one; code 0: none */
    pthread_t id;
};

/* --- open objects --- */

static struct replay_handle *find_handle(struct replay_thread *t, uint32_t file)
{
    for (size_t k = 0; k < HANDLES; k++)
        if (t->handles[k].object && t->handles[k].file == file)
            return &t->handles[k];
    return NULL;
}

static void drop_handle(struct replay_handle *h)
{
    if (h->object)
        (void)h->object->ops->close(h->object, /* sync= */ false, NULL);
    *h = (struct replay_handle){0};
}

/* A free place, or that of the object that was not used for the longest time. */
static struct replay_handle *take_place(struct replay_thread *t)
{
    struct replay_handle *oldest = &t->handles[0];

    for (size_t k = 0; k < HANDLES; k++) {
        if (!t->handles[k].object)
            return &t->handles[k];
        if (t->handles[k].used < oldest->used)
            oldest = &t->handles[k];
    }
    drop_handle(oldest);
    return oldest;
}

static int open_object(const struct wr_replay_plan *p, uint32_t file,
                       struct wr_object **ret, weir_err *err)
{
    const struct wr_replay_file *f = &p->files[file];
    int r;

    if (!f->own)
        return p->store->ops->object_open(p->store, f->path, WR_OPEN_READ, ret,
                                          err);
    r = p->store->ops->object_open(p->store, f->path, WR_OPEN_CREATE, ret, err);
    return r != WEIR_EEXIST ? r
                            : p->store->ops->object_open(
                                  p->store, f->path, WR_OPEN_WRITE, ret, err);
}

static int open_handle(struct replay_thread *t, uint32_t file,
                       struct replay_handle **ret, weir_err *err)
{
    struct replay_handle *h = take_place(t);
    struct wr_object *object = NULL;
    int r = open_object(t->plan, file, &object, err);

    if (r < 0)
        return r;
    *h = (struct replay_handle){.object = object, .file = file};
    *ret = h;
    return 0;
}

/* --- one request; each returns 0 or WEIR_E..., and adds its time --- */

static int do_open(struct replay_thread *t, struct wr_replay_request *q,
                   weir_err *err)
{
    struct replay_handle *h = find_handle(t, q->file);
    struct wr_object *again = NULL;
    uint64_t began;
    int r;

    if (!h)
        (void)take_place(t); /* closing another one is not timed */
    began = wr_clock_ns();
    r = h ? open_object(t->plan, q->file, &again, err)
          : open_handle(t, q->file, &h, err);
    q->took_ns = wr_clock_ns() - began;
    if (again)
        (void)again->ops->close(again, /* sync= */ false, NULL);
    if (r < 0)
        return r;
    h->opens++;
    h->at = h->from = h->upto = 0;
    h->used = t->tick;
    return 0;
}

static int do_close(struct replay_thread *t, struct wr_replay_request *q)
{
    struct replay_handle *h = find_handle(t, q->file);
    uint64_t began = wr_clock_ns();

    if (h && h->opens > 1)
        h->opens--;
    else if (h)
        drop_handle(h);
    q->took_ns = wr_clock_ns() - began;
    return 0;
}

static bool want_buffer(struct replay_thread *t, uint64_t bytes)
{
    size_t need = (size_t)WR_MIN(WR_MAX(bytes, BUFFER), CHUNK);

    return need <= t->cap || wr_grow(&t->buf, &t->cap, need, 1);
}

static int64_t read_range(struct replay_thread *t, struct replay_handle *h,
                          uint64_t at, uint64_t bytes, weir_err *err)
{
    uint64_t piece = WR_MIN((uint64_t)t->cap, CHUNK);
    uint64_t done = 0;
    int64_t n = 1;

    while (done < bytes && n > 0) {
        size_t len = (size_t)WR_MIN(bytes - done, piece);

        n = h->object->ops->read(h->object, t->buf, len, at + done, err);
        if (n > 0)
            done += (uint64_t)n;
    }
    return n < 0 ? n : (int64_t)done;
}

static int64_t do_read(struct replay_thread *t, struct wr_replay_request *q,
                       struct replay_handle *h, weir_err *err)
{
    uint64_t at = q->offset == UINT64_MAX ? h->at : q->offset;
    /* A read of 0 bytes is one that found the end: it asked for some. */
    uint64_t want = q->buffered || !q->bytes ? WR_MAX(q->bytes, BUFFER)
                                             : q->bytes;
    uint64_t began;
    int64_t n;

    h->at = at + q->bytes;
    if (q->buffered && q->bytes && at >= h->from && h->at <= h->upto)
        return (int64_t)q->bytes;
    if (!want_buffer(t, want))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    began = wr_clock_ns();
    n = read_range(t, h, at, want, err);
    q->took_ns = wr_clock_ns() - began;
    h->from = at;
    h->upto = n > 0 ? at + (uint64_t)n : at;
    return n < 0 ? n : WR_MIN(n, (int64_t)q->bytes);
}

static int64_t do_write(struct replay_thread *t, struct wr_replay_request *q,
                        struct replay_handle *h, weir_err *err)
{
    uint64_t at = q->offset == UINT64_MAX ? h->at : q->offset;
    uint64_t done = 0;
    uint64_t began = wr_clock_ns();
    int r = 0;

    while (r == 0 && done < q->bytes) {
        size_t len = (size_t)WR_MIN(q->bytes - done, (uint64_t)t->cap);

        r = wr_object_write(h->object, t->buf, len, at + done, err);
        done += len;
    }
    q->took_ns = wr_clock_ns() - began;
    h->at = at + q->bytes;
    return r < 0 ? r : (int64_t)q->bytes;
}

static int do_sync(struct wr_replay_request *q, struct replay_handle *h,
                   weir_err *err)
{
    uint64_t began = wr_clock_ns();
    int r = wr_object_sync(h->object, err);

    q->took_ns = wr_clock_ns() - began;
    return r;
}

static int ignore_entry(void *arg, const struct wr_entry *e)
{
    (void)arg;
    (void)e;
    return 0;
}

static int do_look(struct replay_thread *t, struct wr_replay_request *q,
                   weir_err *err)
{
    struct wr_store *st = t->plan->store;
    const char *path = t->plan->files[q->file].path;
    uint64_t began = wr_clock_ns();
    struct wr_stat sb;
    int r;

    /* An fstat, most likely: no storage is asked for an open file. */
    if (q->op == WR_REPLAY_STAT && find_handle(t, q->file)) {
        q->took_ns = q->dur_ns;
        return 0;
    }
    r = q->op == WR_REPLAY_STAT
            ? st->ops->stat(st, path, &sb, err)
            : st->ops->list(st, path, ignore_entry, NULL, err);
    q->took_ns = wr_clock_ns() - began;
    return r;
}

/* Those on an open file. */
static int do_moving(struct replay_thread *t, struct wr_replay_request *q,
                     weir_err *err)
{
    struct replay_handle *h = find_handle(t, q->file);
    int64_t n;

    if (!h) {
        int r = open_handle(t, q->file, &h, err);

        if (r < 0)
            return r;
    }
    h->used = t->tick;
    if (q->op == WR_REPLAY_SYNC)
        return do_sync(q, h, err);
    if (!want_buffer(t, q->bytes))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    n = q->op == WR_REPLAY_READ ? do_read(t, q, h, err)
                                : do_write(t, q, h, err);
    if (n >= 0 && (uint64_t)n < q->bytes)
        q->outcome = WR_REPLAY_SHORT;
    return n < 0 ? (int)n : 0;
}

static void issue(struct replay_thread *t, struct wr_replay_request *q)
{
    weir_err err = {0};
    int r;

    t->tick++;
    q->outcome = WR_REPLAY_DONE;
    if (q->op == WR_REPLAY_OPEN)
        r = do_open(t, q, &err);
    else if (q->op == WR_REPLAY_CLOSE)
        r = do_close(t, q);
    else if (q->op == WR_REPLAY_STAT || q->op == WR_REPLAY_LIST)
        r = do_look(t, q, &err);
    else
        r = do_moving(t, q, &err);
    if (r == 0 || q->failed)
        return;
    q->outcome = r == WEIR_ENOENT ? WR_REPLAY_MISSING : WR_REPLAY_FAILED;
    if (q->outcome == WR_REPLAY_FAILED && !t->failed.code)
        t->failed = err;
}

/* --- threads --- */

/* False: the replay is to end. */
static bool pause_until(struct replay_thread *t, uint64_t until)
{
    const struct wr_replay_plan *p = t->plan;
    uint64_t now = wr_clock_ns();

    while (now < until) {
        if (p->stopped && p->stopped())
            return false;
        if (until - now > NAP_NS)
            wr_clock_sleep_until(now + NAP_NS);
        else
            wr_clock_sleep_exactly(t->sleeper, until);
        now = wr_clock_ns();
    }
    return !(p->stopped && p->stopped());
}

static void *replay_run(void *arg)
{
    struct replay_thread *t = arg;
    uint64_t traced_end = t->origin_ns, end = t->start_ns;

    for (size_t k = 0; k < t->part.count; k++) {
        struct wr_replay_request *q = &t->part.first[k];

        t->stopped = !pause_until(
            t, end + wr_replay_pause(t->plan, q, traced_end));
        if (t->stopped)
            break;
        issue(t, q);
        end = wr_clock_ns();
        traced_end = WR_MAX(traced_end, q->start_ns + q->dur_ns);
    }
    for (size_t k = 0; k < HANDLES; k++)
        drop_handle(&t->handles[k]);
    free(t->buf);
    t->buf = NULL;
    return NULL;
}

static void deal_out(const struct wr_replay_plan *p, struct replay_thread *ts,
                     struct wr_replay_part *parts,
                     struct wr_clock_sleeper *sleeper)
{
    uint64_t origin = wr_replay_deal(p, parts), now = wr_clock_ns();

    for (uint32_t k = 0; k < p->threads; k++) {
        ts[k].plan = p;
        ts[k].part = parts[k];
        ts[k].origin_ns = origin;
        ts[k].start_ns = now;
        ts[k].sleeper = sleeper;
    }
}

/* Threads that were started are joined whatever happens. */
static int run_threads(const struct wr_replay_plan *p, struct replay_thread *ts,
                       weir_err *err)
{
    uint32_t started = 0;
    bool stopped = false;
    int r = 0;

    while (started < p->threads && r == 0) {
        r = wr_thread_start_lean(&ts[started].id, "weir-replay", replay_run,
                                 &ts[started], err);
        started += r == 0;
    }
    for (uint32_t k = 0; k < started; k++) {
        pthread_join(ts[k].id, NULL);
        stopped |= ts[k].stopped;
    }
    if (r == 0 && stopped)
        r = wr_fail(err, WEIR_ECANCELED, "interrupted");
    return r;
}

static int check_plan(const struct wr_replay_plan *p, weir_err *err)
{
    if (!p->request_count)
        return wr_fail(err, WEIR_EINVAL, "no requests to replay");
    if (p->threads > WR_REPLAY_THREADS)
        return wr_fail(err, WEIR_ELIMIT, "%u traced threads, %d at most",
                       p->threads, WR_REPLAY_THREADS);
    return 0;
}

/* Through the store, in real time. */
static int replay_stored(const struct wr_replay_plan *p,
                         struct wr_replay_result *ret, weir_err *err)
{
    struct wr_replay_part *parts = calloc(p->threads, sizeof(*parts));
    struct replay_thread *ts = calloc(p->threads, sizeof(*ts));
    struct wr_clock_sleeper sleeper = {0};
    uint64_t began;
    int r;

    if (parts && ts) {
        deal_out(p, ts, parts, &sleeper);
        began = wr_clock_ns();
        r = run_threads(p, ts, err);
        ret->replayed_ns = wr_clock_ns() - began;
        for (uint32_t k = 0; k < p->threads && !ret->first.code; k++)
            ret->first = ts[k].failed;
    } else {
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    free(parts);
    free(ts);
    return r;
}

int wr_replay(const struct wr_replay_plan *plan, struct wr_replay_result **ret,
              weir_err *err)
{
    struct wr_replay_result *result = NULL;
    int r = check_plan(plan, err);

    if (r < 0)
        return r;
    result = calloc(1, sizeof(*result));
    if (!result)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    r = plan->profile ? wr_replay_emulated(plan, &result->replayed_ns, err)
                      : replay_stored(plan, result, err);
    if (r < 0) {
        free(result);
        return r;
    }
    wr_replay_sum_up(plan, result);
    *ret = result;
    return 0;
}
