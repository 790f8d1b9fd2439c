/* replay_emulated.c - a replay on an emulated device, in virtual time.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whatever happens first is done first: a thread runs until it waits for the
 * device or pauses, and then the one whose time comes next. So the device is
 * asked in the order of time, as it must be. */
#include "measure/replay_emulated.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "measure/pages.h"

#define HANDLES    64   /* open files of one thread */
#define LOOK_EVERY 4096 /* steps between looks at stopped() */
#define PIECE      ((uint64_t)WR_PAGES_A_REQUEST * WR_PAGE)

/* What a call costs that asks no device: what it did when traced, but not more
 * than this, as it may have waited then. */
#define CALL_NS      5000
#define BYTES_PER_NS 4      /* a copy from the page cache */
#define LOOK_NS      200000 /* the entries of a folder */

enum known { UNKNOWN, THERE, NOT_THERE };

struct emulated_file {
    uint64_t size;
    uint8_t known; /* enum known */
};

struct emulated_handle {
    struct wr_page_stream stream;
    uint64_t at, used;
    uint32_t file, opens; /* opens 0: another thread's, most likely */
    bool is_open;
    bool owes; /* the device's time of opening it */
};

struct emulated_thread {
    struct wr_due due; /* first: the heap's */
    struct wr_replay_part part;
    size_t next;            /* request */
    uint64_t traced_end_ns; /* of those before */
    uint64_t began_ns;      /* the request that is under way */
    bool under_way;
    uint64_t page, end;    /* READ: what is still wanted; pages */
    uint64_t first_offset; /* READ, WRITE: where it begins */
    uint64_t written;      /* WRITE: bytes so far */
    uint64_t tick;
    struct emulated_handle handles[HANDLES];
};

struct emulation {
    const struct wr_replay_plan *plan;
    struct wr_device *device;        /* owned */
    struct wr_pages *pages;          /* owned */
    struct emulated_file *files;     /* owned */
    struct wr_replay_part *parts;    /* owned */
    struct emulated_thread *threads; /* owned */
    struct wr_due_heap heap;
    struct emulated_handle *asking; /* for whom pages are brought */
    uint64_t now, end;
};

/* --- files --- */

/* Whether it is there; what the replay makes itself always is. */
static bool is_there(struct emulation *e, uint32_t file)
{
    const struct wr_replay_file *f = &e->plan->files[file];
    struct emulated_file *known = &e->files[file];
    struct wr_store *st = e->plan->store;
    struct wr_stat sb = {.kind = WR_KIND_OTHER};

    if (f->own)
        return true;
    if (known->known == UNKNOWN) {
        known->known = st->ops->stat(st, f->path, &sb, NULL) == 0 ? THERE
                                                                  : NOT_THERE;
        known->size = sb.kind == WR_KIND_FILE ? sb.size : 0;
    }
    return known->known == THERE;
}

static struct emulated_handle *find_handle(struct emulated_thread *t,
                                           uint32_t file)
{
    for (size_t k = 0; k < HANDLES; k++)
        if (t->handles[k].is_open && t->handles[k].file == file)
            return &t->handles[k];
    return NULL;
}

static struct emulated_handle *make_handle(struct emulated_thread *t,
                                           uint32_t file)
{
    struct emulated_handle *h = &t->handles[0];

    for (size_t k = 0; k < HANDLES && h->is_open; k++)
        if (!t->handles[k].is_open || t->handles[k].used < h->used)
            h = &t->handles[k];
    *h = (struct emulated_handle){
        .stream = WR_PAGE_STREAM, .file = file, .is_open = true};
    return h;
}

/* --- the device --- */

static uint64_t submit(struct emulation *e, enum wr_device_op op, uint32_t file,
                       uint64_t offset, uint64_t len)
{
    const struct wr_device_request rq = {.op = op,
                                         .object = file,
                                         .offset = offset,
                                         .len = len,
                                         .opens = op == WR_DEVICE_READ &&
                                                  e->asking && e->asking->owes};

    if (rq.opens)
        e->asking->owes = false;
    return wr_device_submit(e->device, &rq, e->now);
}

static uint64_t ask_pages(void *arg, uint32_t file, uint64_t offset,
                          uint64_t len, uint64_t now)
{
    (void)now; /* the emulation's own */
    return submit(arg, WR_DEVICE_READ, file, offset, len);
}

/* --- requests: each returns when it goes on or ends --- */

static uint64_t begin_open(struct emulation *e, struct emulated_thread *t,
                           const struct wr_replay_request *q)
{
    bool own = e->plan->files[q->file].own;
    struct emulated_handle *h = find_handle(t, q->file);

    if (!h)
        h = make_handle(t, q->file);
    h->opens++;
    h->at = 0;
    h->used = t->tick;
    h->owes = !own;
    h->stream = WR_PAGE_STREAM;
    return own ? submit(e, WR_DEVICE_META, q->file, 0, 0) : e->now;
}

static uint64_t do_close(struct emulation *e, struct emulated_thread *t,
                         const struct wr_replay_request *q)
{
    struct emulated_handle *h = find_handle(t, q->file);

    if (h && h->opens > 1)
        h->opens--;
    else if (h)
        h->is_open = false;
    return e->now;
}

/* Past the page cache: all pieces at once. */
static uint64_t read_directly(struct emulation *e, uint32_t file,
                              uint64_t offset, uint64_t len)
{
    uint64_t due = e->now;

    for (uint64_t done = 0; done < len; done += PIECE) {
        uint64_t piece = submit(e, WR_DEVICE_READ, file, offset + done,
                                WR_MIN(len - done, PIECE));

        due = WR_MAX(due, piece);
    }
    return due;
}

static uint64_t go_on_reading(struct emulation *e, struct emulated_thread *t,
                              const struct wr_replay_request *q)
{
    struct emulated_handle *h = find_handle(t, q->file);

    e->asking = h;
    while (t->page < t->end) {
        const struct wr_pages_want want = {.file = q->file,
                                           .size = e->files[q->file].size,
                                           .page = t->page,
                                           .count = t->end - t->page,
                                           .mapped = q->mapped};
        uint64_t there = wr_pages_read(e->pages, &h->stream, &want, e->now);

        if (there > e->now)
            return there;
        h->stream.last = t->page++;
    }
    return e->now;
}

static uint64_t begin_read(struct emulation *e, struct emulated_thread *t,
                           struct wr_replay_request *q,
                           struct emulated_handle *h)
{
    uint64_t size = e->files[q->file].size;
    uint64_t at = q->offset == UINT64_MAX ? h->at : q->offset;
    uint64_t upto = q->bytes < UINT64_MAX - at ? at + q->bytes : UINT64_MAX;

    h->at = upto;
    if (upto > size) {
        q->outcome = WR_REPLAY_SHORT;
        upto = size;
    }
    t->page = t->end = 0;
    if (at >= upto)
        return e->now;
    if (q->direct) {
        e->asking = h;
        return read_directly(e, q->file, at, upto - at);
    }
    t->page = at / WR_PAGE;
    t->end = (upto + WR_PAGE - 1) / WR_PAGE;
    return go_on_reading(e, t, q);
}

/* Without a write-back cache in between, a piece after the other. */
static uint64_t go_on_writing(struct emulation *e, struct emulated_thread *t,
                              const struct wr_replay_request *q)
{
    uint64_t at = t->first_offset + t->written;
    uint64_t len = WR_MIN(q->bytes - t->written, PIECE - at % WR_PAGE);
    struct emulated_file *f = &e->files[q->file];

    if (!len)
        return e->now;
    t->written += len;
    f->size = WR_MAX(f->size, at + len);
    if (!q->direct)
        wr_pages_written(e->pages, q->file, at / WR_PAGE,
                         (at + len + WR_PAGE - 1) / WR_PAGE - at / WR_PAGE);
    return submit(e, WR_DEVICE_WRITE, q->file, at, len);
}

static uint64_t begin_write(struct emulation *e, struct emulated_thread *t,
                            const struct wr_replay_request *q,
                            struct emulated_handle *h)
{
    t->first_offset = q->offset == UINT64_MAX ? h->at : q->offset;
    t->written = 0;
    h->at = t->first_offset + q->bytes;
    return go_on_writing(e, t, q);
}

static uint64_t begin(struct emulation *e, struct emulated_thread *t,
                      struct wr_replay_request *q)
{
    struct emulated_handle *h;

    q->outcome = WR_REPLAY_DONE;
    e->asking = NULL;
    t->tick++;
    if (!is_there(e, q->file)) {
        if (!q->failed)
            q->outcome = WR_REPLAY_MISSING;
        return e->now;
    }
    switch ((enum wr_replay_op)q->op) {
    case WR_REPLAY_OPEN:
        return begin_open(e, t, q);
    case WR_REPLAY_CLOSE:
        return do_close(e, t, q);
    case WR_REPLAY_SYNC:
        return submit(e, WR_DEVICE_SYNC, q->file, 0, 0);
    case WR_REPLAY_LIST:
        return submit(e, WR_DEVICE_META, q->file, 0, 0);
    case WR_REPLAY_READ:
    case WR_REPLAY_WRITE:
        break;
    case WR_REPLAY_STAT: /* a name: no device is asked */
    case WR_REPLAY_OPS:
        return e->now;
    }
    h = find_handle(t, q->file);
    if (!h)
        h = make_handle(t, q->file);
    h->used = t->tick;
    return q->op == WR_REPLAY_READ ? begin_read(e, t, q, h)
                                   : begin_write(e, t, q, h);
}

/* What has waited may have to wait again. */
static uint64_t go_on(struct emulation *e, struct emulated_thread *t,
                      struct wr_replay_request *q)
{
    if (q->outcome == WR_REPLAY_MISSING)
        return e->now;
    if (q->op == WR_REPLAY_READ && t->page < t->end)
        return go_on_reading(e, t, q);
    if (q->op == WR_REPLAY_WRITE && t->written < q->bytes)
        return go_on_writing(e, t, q);
    return e->now;
}

static uint64_t own_cost(const struct wr_replay_request *q)
{
    uint64_t most = q->op == WR_REPLAY_LIST ? LOOK_NS
                                            : CALL_NS + q->bytes / BYTES_PER_NS;

    return WR_MIN(q->dur_ns, most);
}

/* --- threads --- */

/* Puts the thread where its next request begins. False: memory is short. */
static bool wait_for_next(struct emulation *e, struct emulated_thread *t)
{
    if (t->next == t->part.count)
        return true;
    t->due.at_ns = e->now + wr_replay_pause(e->plan, &t->part.first[t->next],
                                            t->traced_end_ns);
    return wr_due_push(&e->heap, &t->due);
}

static bool finish(struct emulation *e, struct emulated_thread *t,
                   struct wr_replay_request *q)
{
    e->now += own_cost(q);
    q->took_ns = e->now - t->began_ns;
    e->end = WR_MAX(e->end, e->now);
    t->traced_end_ns = WR_MAX(t->traced_end_ns, q->start_ns + q->dur_ns);
    t->under_way = false;
    t->next++;
    return wait_for_next(e, t);
}

static bool step(struct emulation *e, struct emulated_thread *t)
{
    struct wr_replay_request *q = &t->part.first[t->next];
    uint64_t until;

    e->now = t->due.at_ns;
    if (t->under_way) {
        until = go_on(e, t, q);
    } else {
        t->began_ns = e->now;
        t->under_way = true;
        until = begin(e, t, q);
    }
    while (until <= e->now && q->op == WR_REPLAY_WRITE &&
           q->outcome != WR_REPLAY_MISSING && t->written < q->bytes)
        until = go_on_writing(e, t, q);
    if (until <= e->now)
        return finish(e, t, q);
    t->due.at_ns = until;
    return wr_due_push(&e->heap, &t->due);
}

static int run(struct emulation *e, weir_err *err)
{
    const struct wr_replay_plan *p = e->plan;
    struct wr_due *first;
    bool ok = true;

    for (uint64_t n = 0; ok && (first = wr_due_pop(&e->heap, WR_DUE_NEVER));
         n++) {
        if (n % LOOK_EVERY == 0 && p->stopped && p->stopped())
            return wr_fail(err, WEIR_ECANCELED, "interrupted");
        ok = step(e, (struct emulated_thread *)first);
    }
    if (!ok || wr_pages_failed(e->pages))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    return 0;
}

static int prepare(struct emulation *e, weir_err *err)
{
    const struct wr_replay_plan *p = e->plan;
    const struct wr_pages_config pages = {
        .readahead_bytes = p->profile->readahead_bytes,
        .memory_bytes = p->memory_bytes,
        .ask = ask_pages,
        .arg = e};
    uint64_t origin;
    int r = wr_device_new(p->profile, &e->device, err);

    if (r < 0)
        return r;
    e->pages = wr_pages_new(&pages, p->file_count);
    e->files = calloc(p->file_count + 1, sizeof(*e->files));
    e->parts = calloc(p->threads, sizeof(*e->parts));
    e->threads = calloc(p->threads, sizeof(*e->threads));
    if (!e->pages || !e->files || !e->parts || !e->threads ||
        !wr_due_reserve(&e->heap, p->threads))
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    origin = wr_replay_deal(p, e->parts);
    for (uint32_t k = 0; k < p->threads; k++) {
        e->threads[k].part = e->parts[k];
        e->threads[k].traced_end_ns = origin;
        (void)wait_for_next(e, &e->threads[k]); /* there is room */
    }
    return 0;
}

int wr_replay_emulated(const struct wr_replay_plan *plan, uint64_t *ret_span_ns,
                       weir_err *err)
{
    struct emulation e = {.plan = plan};
    int r = prepare(&e, err);

    if (r == 0)
        r = run(&e, err);
    if (r == 0)
        *ret_span_ns = e.end;
    wr_due_done(&e.heap);
    wr_pages_free(e.pages);
    wr_device_free(e.device);
    free(e.files);
    free(e.parts);
    free(e.threads);
    return r;
}
