/* meter.c - a store around another that measures the reads through it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Its queue is not that of wrap.h, which asks the queue inside twice per reap:
 * for what is there, and then for what is due. Here a submit is one submit
 * inside and a reap one reap, so a lazy io_uring needs no call more. */
#include "storage/meter.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/rng.h"
#include "storage/wrap.h"

/* --- the counters of a meter: tallies, time in use, file ends ---
 *
 * The path of a read takes no lock that all threads share. Each queue has a
 * tally of its own, whose lock only wr_meter_take wants too. Time in use and the
 * ends of files are one atomic word each. */

#define SHARDS    4u
#define FILE_BITS 16u /* of the hash: the slot; as many more are its tag */
#define FILES     ((size_t)1 << FILE_BITS)
#define END_BITS  48u /* of a slot: where the last read ended */
#define END_MASK  ((UINT64_C(1) << END_BITS) - 1)
#define HEAD      4096u /* data begins behind a header: of NPY, NPZ, HDF5 */

/* Time in use: how many have reads in flight, and behind that the sum of the
 * times at which all became idle less those at which the first became busy, in
 * steps of 64 ns modulo 2^48. Both change together, so that who reads the word
 * sees them fit; the sum needs no begin that another could have replaced. */
#define BUSY_ONE  (UINT64_C(1) << 48)
#define BUSY_MASK (BUSY_ONE - 1)
#define STEP_BITS 6u

struct wr_meter {
    pthread_mutex_t lock;           /* guards `tallies` and their links;
                                      taken before the lock of a tally */
    struct wr_meter_tally *tallies; /* owned: of open queues */
    struct wr_meter_tally ended;    /* of closed ones */
    struct wr_meter_tally shards[SHARDS];
    atomic_uint next_shard;
    _Alignas(WR_CACHE_LINE) atomic_uint_fast64_t busy;
    /* By hash of the path; a file that needs the slot of another replaces it.
     * 0: none. */
    _Alignas(WR_CACHE_LINE) atomic_uint_fast64_t ends[FILES];
};

int wr_meter_new(struct wr_meter **ret, weir_err *err)
{
    struct wr_meter *m = wr_big_alloc(sizeof(*m));

    if (!m)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    pthread_mutex_init(&m->lock, NULL);
    pthread_mutex_init(&m->ended.lock, NULL);
    for (unsigned i = 0; i < SHARDS; i++)
        pthread_mutex_init(&m->shards[i].lock, NULL);
    *ret = m;
    return 0;
}

void wr_meter_free(struct wr_meter *m)
{
    if (!m)
        return;
    for (unsigned i = 0; i < SHARDS; i++)
        pthread_mutex_destroy(&m->shards[i].lock);
    pthread_mutex_destroy(&m->ended.lock);
    pthread_mutex_destroy(&m->lock);
    wr_big_free(m, sizeof(*m));
}

/* --- tallies --- */

/* A tally for a queue of its own; NULL: out of memory. Ending it keeps what it
 * has counted. */
static struct wr_meter_tally *meter_tally_begin(struct wr_meter *m)
{
    struct wr_meter_tally *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    pthread_mutex_init(&t->lock, NULL);
    pthread_mutex_lock(&m->lock);
    t->next = m->tallies;
    t->link = &m->tallies;
    if (t->next)
        t->next->link = &t->next;
    m->tallies = t;
    pthread_mutex_unlock(&m->lock);
    return t;
}

static void meter_tally_end(struct wr_meter *m, struct wr_meter_tally *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&m->lock);
    *t->link = t->next;
    if (t->next)
        t->next->link = t->link;
    wr_meter_add(&m->ended.counts, &t->counts);
    pthread_mutex_unlock(&m->lock);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

/* One of the tallies that objects share. */
static struct wr_meter_tally *meter_shard(struct wr_meter *m)
{
    return &m->shards[atomic_fetch_add(&m->next_shard, 1) % SHARDS];
}

/* Under the tally's lock: one read that took `ns` and brought `bytes`. */
static void meter_count(struct wr_meter_tally *t, uint64_t ns, uint64_t bytes,
                        struct wr_meter_place place)
{
    struct wr_meter_counts *c = &t->counts;

    c->reads++;
    c->bytes += bytes;
    c->sequential += place.sequential;
    c->consecutive += place.consecutive;
    c->whole_files += place.whole;
    wr_hist_add(&c->latency_ns, ns);
    wr_hist_add(&c->sizes, bytes);
}

/* --- time in use --- */

static uint64_t step_of(uint64_t ns)
{
    return ns >> STEP_BITS;
}

void wr_meter_busy(struct wr_meter *m, uint64_t now_ns)
{
    uint64_t was = atomic_load_explicit(&m->busy, memory_order_relaxed), is;

    do {
        uint64_t sum = was & BUSY_MASK;

        if (was < BUSY_ONE)
            sum = (sum - step_of(now_ns)) & BUSY_MASK;
        is = ((was & ~BUSY_MASK) + BUSY_ONE) | sum;
    } while (!atomic_compare_exchange_weak(&m->busy, &was, is));
}

void wr_meter_idle(struct wr_meter *m, uint64_t now_ns)
{
    uint64_t was = atomic_load_explicit(&m->busy, memory_order_relaxed), is;

    do {
        uint64_t sum = was & BUSY_MASK, count = (was & ~BUSY_MASK) - BUSY_ONE;

        if (!count)
            sum = (sum + step_of(now_ns)) & BUSY_MASK;
        is = count | sum;
    } while (!atomic_compare_exchange_weak(&m->busy, &was, is));
}

static uint64_t busy_ns(struct wr_meter *m)
{
    uint64_t word = atomic_load(&m->busy), sum = word & BUSY_MASK;

    if (word >= BUSY_ONE)
        sum = (sum + step_of(wr_clock_ns())) & BUSY_MASK;
    /* Times are taken a little before the word changes: the sum of many short
     * ones may lie below 0 by less than they are late. */
    return sum & (BUSY_ONE >> 1) ? 0 : sum << STEP_BITS;
}

/* --- files --- */

static uint64_t hash_word(uint64_t h, uint64_t word)
{
    h = (h ^ word) * UINT64_C(0xff51afd7ed558ccd);
    return h ^ h >> 32;
}

/* Eight bytes at a time: paths are long, and there is one per read. */
static uint64_t meter_file(const char *path)
{
    size_t len = strlen(path);
    uint64_t h = len, word = 0;

    for (; len >= sizeof(word); len -= sizeof(word), path += sizeof(word)) {
        memcpy(&word, path, sizeof(word));
        h = hash_word(h, word);
    }
    for (word = 0; len; len--)
        word = word << 8 | (unsigned char)path[len - 1];
    return wr_mix64(hash_word(h, word));
}

/* Notes that [offset, offset + len) of a file was asked for; `whole`: that is
 * all of it. */
static struct wr_meter_place meter_locate(struct wr_meter *m, uint64_t file,
                                          uint64_t offset, uint64_t len,
                                          bool whole)
{
    atomic_uint_fast64_t *slot = &m->ends[file & (FILES - 1)];
    uint64_t tag = file >> FILE_BITS << END_BITS | UINT64_C(1) << END_BITS;
    uint64_t was = atomic_load_explicit(slot, memory_order_relaxed);
    bool known = (was & ~END_MASK) == tag;
    uint64_t end = known ? was & END_MASK : 0;
    bool again = (offset < HEAD) & (!known | (end > HEAD)); /* a new pass */
    struct wr_meter_place p = {.whole = whole && offset == 0};

    /* Not one exchange, which takes three times as long: which of two reads at
     * the same time comes first is open anyway. */
    atomic_store_explicit(slot, tag | ((offset + len) & END_MASK),
                          memory_order_relaxed);
    /* No branches: of random reads half of them would be foreseen wrongly. The
     * end of a file that is not known is 0. */
    p.consecutive = p.whole | again | (offset == end);
    p.sequential = p.consecutive | (known & (offset > end));
    return p;
}

/* --- what was counted --- */

void wr_meter_add(struct wr_meter_counts *to,
                  const struct wr_meter_counts *from)
{
    to->reads += from->reads;
    to->bytes += from->bytes;
    to->errors += from->errors;
    to->sequential += from->sequential;
    to->consecutive += from->consecutive;
    to->whole_files += from->whole_files;
    to->opens += from->opens;
    to->busy_ns += from->busy_ns;
    wr_hist_merge(&to->latency_ns, &from->latency_ns);
    wr_hist_merge(&to->sizes, &from->sizes);
}

static void add_tally(struct wr_meter_counts *to, struct wr_meter_tally *t)
{
    pthread_mutex_lock(&t->lock);
    wr_meter_add(to, &t->counts);
    pthread_mutex_unlock(&t->lock);
}

void wr_meter_take(struct wr_meter *m, struct wr_meter_counts *ret)
{
    memset(ret, 0, sizeof(*ret));
    pthread_mutex_lock(&m->lock);
    add_tally(ret, &m->ended);
    for (unsigned i = 0; i < SHARDS; i++)
        add_tally(ret, &m->shards[i]);
    for (struct wr_meter_tally *t = m->tallies; t; t = t->next)
        add_tally(ret, t);
    pthread_mutex_unlock(&m->lock);
    ret->busy_ns = busy_ns(m);
}

/* --- the store --- */

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
                               : meter_file(rd->path ? rd->path : "");

    io->place = meter_locate(q->meter, file, rd->offset, rd->len, rd->whole);
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
        meter_count(q->tally, now - io->since_ns, io->inner.got, io->place);
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
    meter_tally_end(q->meter, q->tally);
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
    q->tally = meter_tally_begin(ms->meter);
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
        place = meter_locate(m, mo->file, c->offset, (uint64_t)n,
                             (uint64_t)n < c->len);
    pthread_mutex_lock(&mo->tally->lock);
    if (n > 0)
        meter_count(mo->tally, now - since, (uint64_t)n, place);
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
    mo->tally = meter_shard(m);
    mo->file = meter_file(c->path);
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
