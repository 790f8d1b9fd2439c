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

#define HANDLES 64             /* open objects of one thread */
#define BUFFER  ((size_t)4096) /* stdio's */
#define CHUNK   ((size_t)16 << 20)
#define NAP_NS  (100 * WR_NS_PER_MS) /* between looks at stopped() */

struct replay_handle {
    struct wr_object *object; /* owned; NULL: free */
    uint32_t file, opens;
    uint64_t at;         /* behind the last request */
    uint64_t from, upto; /* in memory: stdio's buffer, what is read ahead */
    uint64_t window;     /* that was read ahead last */
    uint64_t used;       /* number of the last request */
};

struct replay_thread {
    const struct wr_replay_plan *plan;
    struct wr_replay_request *first; /* borrowed: its part of the requests */
    size_t count;
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
    h->at = h->from = h->upto = h->window = 0;
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
    uint64_t piece = t->plan->readahead ? t->plan->readahead : CHUNK;
    uint64_t done = 0;
    int64_t n = 1;

    piece = WR_MIN(piece, (uint64_t)t->cap);
    while (done < bytes && n > 0) {
        size_t len = (size_t)WR_MIN(bytes - done, piece);

        n = h->object->ops->read(h->object, t->buf, len, at + done, err);
        if (n > 0)
            done += (uint64_t)n;
    }
    return n < 0 ? n : (int64_t)done;
}

/* What is asked of the storage for a request. A read of 0 bytes is one that found
 * the end: it asked for some. One that goes on from the one before makes the
 * kernel read ahead, farther each time. */
static uint64_t wanted(const struct replay_thread *t,
                       const struct wr_replay_request *q,
                       struct replay_handle *h, bool goes_on)
{
    uint64_t want = q->buffered || !q->bytes ? WR_MAX(q->bytes, BUFFER)
                                             : q->bytes;

    if (!t->plan->readahead || !goes_on) {
        h->window = 0;
        return want;
    }
    h->window = WR_MIN(WR_MAX(h->window, want) * 2, t->plan->readahead);
    return WR_MAX(want, h->window);
}

static int64_t do_read(struct replay_thread *t, struct wr_replay_request *q,
                       struct replay_handle *h, weir_err *err)
{
    uint64_t at = q->offset == UINT64_MAX ? h->at : q->offset;
    bool goes_on = at == h->at;
    uint64_t began, want;
    int64_t n;

    h->at = at + q->bytes;
    if ((q->buffered || t->plan->readahead) && q->bytes && at >= h->from &&
        h->at <= h->upto)
        return (int64_t)q->bytes;
    want = wanted(t, q, h, goes_on);
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

    for (size_t k = 0; k < t->count; k++) {
        struct wr_replay_request *q = &t->first[k];
        uint64_t think = q->start_ns > traced_end ? q->start_ns - traced_end
                                                  : 0;

        t->stopped = !pause_until(t, t->plan->asap ? 0 : end + think);
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

static int by_thread_and_start(const void *a, const void *b)
{
    const struct wr_replay_request *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void deal_out(const struct wr_replay_plan *p, struct replay_thread *ts,
                     struct wr_clock_sleeper *sleeper)
{
    uint64_t origin = UINT64_MAX, now;

    qsort(p->requests, p->request_count, sizeof(*p->requests),
          by_thread_and_start);
    for (size_t k = 0; k < p->request_count; k++) {
        struct wr_replay_request *q = &p->requests[k];

        origin = WR_MIN(origin, q->start_ns);
        if (!ts[q->thread].count++)
            ts[q->thread].first = q;
    }
    now = wr_clock_ns();
    for (uint32_t k = 0; k < p->threads; k++) {
        ts[k].plan = p;
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

/* --- what came out --- */

static void note_missing(struct wr_replay_result *r, uint32_t file)
{
    r->missing++;
    for (uint32_t k = 0; k < r->missing_count; k++)
        if (r->missing_files[k] == file)
            return;
    if (r->missing_count < WR_REPLAY_NAMED)
        r->missing_files[r->missing_count++] = file;
}

static void count_request(struct wr_replay_result *r,
                          const struct wr_replay_request *q)
{
    struct wr_replay_class *c = &r->classes[q->op];

    if (q->outcome == WR_REPLAY_MISSING) {
        note_missing(r, q->file);
        return;
    }
    if (q->outcome == WR_REPLAY_FAILED) {
        r->failed++;
        return;
    }
    r->cut += q->outcome == WR_REPLAY_SHORT;
    r->done++;
    if (q->op == WR_REPLAY_READ || q->op == WR_REPLAY_WRITE)
        c->bytes += q->bytes;
    wr_hist_add(&c->traced, q->dur_ns);
    wr_hist_add(&c->replayed, q->took_ns);
}

static void sum_up(const struct wr_replay_plan *p,
                   const struct replay_thread *ts, struct wr_replay_result *r)
{
    uint64_t first = UINT64_MAX, last = 0;

    for (size_t k = 0; k < p->request_count; k++) {
        const struct wr_replay_request *q = &p->requests[k];

        first = WR_MIN(first, q->start_ns);
        last = WR_MAX(last, q->start_ns + q->dur_ns);
        count_request(r, q);
    }
    r->traced_ns = last > first ? last - first : 0;
    for (uint32_t k = 0; k < p->threads && !r->first.code; k++)
        r->first = ts[k].failed;
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

int wr_replay(const struct wr_replay_plan *plan, struct wr_replay_result **ret,
              weir_err *err)
{
    struct wr_clock_sleeper sleeper = {0};
    struct wr_replay_result *result = NULL;
    struct replay_thread *ts = NULL;
    uint64_t began;
    int r = check_plan(plan, err);

    if (r < 0)
        return r;
    ts = calloc(plan->threads, sizeof(*ts));
    result = calloc(1, sizeof(*result));
    if (ts && result) {
        deal_out(plan, ts, &sleeper);
        began = wr_clock_ns();
        r = run_threads(plan, ts, err);
        result->replayed_ns = wr_clock_ns() - began;
        sum_up(plan, ts, result);
    } else {
        r = wr_fail(err, WEIR_ENOMEM, "out of memory");
    }
    if (r == 0) {
        *ret = result;
        result = NULL;
    }
    free(result);
    free(ts);
    return r;
}

const char *wr_replay_op_name(unsigned op)
{
    static const char *const names[WR_REPLAY_OPS] = {
        [WR_REPLAY_OPEN] = "open", [WR_REPLAY_CLOSE] = "close",
        [WR_REPLAY_READ] = "read", [WR_REPLAY_WRITE] = "write",
        [WR_REPLAY_SYNC] = "sync", [WR_REPLAY_STAT] = "stat",
        [WR_REPLAY_LIST] = "list",
    };

    return op < WR_REPLAY_OPS ? names[op] : "?";
}

uint64_t wr_replay_sum(const struct wr_replay_result *r, bool traced)
{
    uint64_t sum = 0;

    for (unsigned op = 0; op < WR_REPLAY_OPS; op++)
        sum += traced ? r->classes[op].traced.sum : r->classes[op].replayed.sum;
    return sum;
}
