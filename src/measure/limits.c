/* limits.c - what this machine can do at best: decode only, read only.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lack.h"
#include "base/mem.h"
#include "base/thread.h"
#include "format/decode.h"
#include "pipeline/order.h"

#define PATH_CAP 8192
/* Samples are read in pieces of this size: what one of them claims to need
 * must not decide about memory. */
#define PIECE ((size_t)8 << 20)
/* Memory for the places that are filled in turn. */
#define MAX_RING ((size_t)1 << 30)

/* What all threads of one measurement share. */
struct crew {
    const struct wr_limit_job *job; /* borrowed */
    struct wr_order order;
    uint64_t count;              /* samples to work on */
    atomic_uint_fast64_t seated; /* threads that have begun */
    atomic_uint_fast64_t next;   /* the next one */
    atomic_uint_fast64_t done;
    const struct memory *memory; /* borrowed; decode: the samples */
    int *fds;      /* borrowed; read: open objects that hold many samples */
    uint8_t *ring; /* borrowed; read: job->slots places; NULL: none */
    atomic_bool failed;
    atomic_int lack; /* code: resources lacked, the rate would be too low */

    pthread_mutex_t lock; /* guards the gate: */
    pthread_cond_t change;
    unsigned ready; /* threads that stand before it */
    bool open;
};

/* The encoded samples, one behind the other. */
struct memory {
    uint8_t *bytes; /* owned */
    size_t size;
    size_t *offset; /* owned: count + 1 */
};

/* The i-th sample of this rank's share. */
static uint64_t sample_at(const struct crew *c, uint64_t i)
{
    const struct wr_limit_job *job = c->job;

    return wr_order_at(&c->order, job->world ? i * job->world + job->rank : i);
}

static bool is_stopped(const struct wr_limit_job *job)
{
    return job->stopped && job->stopped();
}

bool wr_limit_has_decode(const weir_dataset *ds,
                         const weir_pipeline_config *cfg)
{
    struct wr_tensor_shape shape;

    return cfg->stages != WEIR_STAGES_READ &&
           wr_first_shape(ds->index, cfg, &shape, NULL) == 0 && !shape.direct;
}

/* --- the gate: all threads start together, and the clock with them --- */

static void pass_gate(struct crew *c)
{
    pthread_mutex_lock(&c->lock);
    c->ready++;
    pthread_cond_broadcast(&c->change);
    while (!c->open)
        pthread_cond_wait(&c->change, &c->lock);
    pthread_mutex_unlock(&c->lock);
}

/* Returns when it was opened: taken under the lock, for this thread may be
 * put aside as soon as the others run. */
static uint64_t open_gate(struct crew *c, unsigned expected)
{
    uint64_t opened_ns;

    pthread_mutex_lock(&c->lock);
    while (c->ready < expected)
        pthread_cond_wait(&c->change, &c->lock);
    c->open = true;
    opened_ns = wr_clock_ns();
    pthread_cond_broadcast(&c->change);
    pthread_mutex_unlock(&c->lock);
    return opened_ns;
}

/* --- one thread --- */

/* Where tensors go that are only converted: without a place there is nothing
 * to do. A thread has its share of two batches, as the pipeline has; of pictures
 * what was decoded is dropped. */
struct places {
    uint8_t *memory; /* owned; NULL: dropped */
    size_t bytes, count;
};

static bool init_places(struct places *p, const struct wr_limit_job *job)
{
    const weir_dataset *ds = job->ds;
    size_t share = 2 * (size_t)job->cfg->batch / job->threads;
    struct wr_tensor_shape shape;

    *p = (struct places){0};
    if (!ds->format->tensors)
        return true;
    if (wr_first_shape(ds->index, job->cfg, &shape, NULL) < 0 || !shape.bytes)
        return false;
    p->bytes = shape.bytes;
    p->count = WR_MAX(WR_MIN(share, MAX_RING / job->threads / p->bytes),
                      (size_t)1);
    p->memory = wr_big_alloc(p->count * p->bytes);
    if (p->memory) /* the pages are there before the clock starts */
        memset(p->memory, 0, p->count * p->bytes);
    return p->memory;
}

static uint8_t *place_of(const struct places *p, uint64_t k)
{
    return p->memory ? p->memory + k % p->count * p->bytes : NULL;
}

/* A sample that was not read or decoded for a lack is not a bad one. */
static void note_lack(struct crew *c, int code)
{
    if (wr_err_is_lack(code))
        c->lack = code;
}

/* What a thread decodes with. */
struct decoding {
    struct wr_decoder *decoder; /* owned */
    struct wr_unpack unpack;    /* owned */
};

/* Sample i of those in memory; false: a bad one. */
static bool decode_one(struct crew *c, struct decoding *d, uint64_t i,
                       uint8_t *place)
{
    const size_t *offset = &c->memory->offset[i];
    struct wr_sample s = {.bytes = c->memory->bytes + offset[0],
                          .len = offset[1] - offset[0],
                          .id = i};
    int r = 0;

    if (!s.len)
        return false;
    r = wr_first_unpack(c->job->ds, &d->unpack, &s, NULL);
    if (r == 0)
        r = d->decoder->ops->decode(d->decoder, &s, place, NULL, NULL);
    note_lack(c, r);
    return r == 0;
}

static void decode_share(struct crew *c)
{
    const weir_dataset *ds = c->job->ds;
    weir_pipeline_config cfg = *c->job->cfg;
    struct decoding d = {0};
    struct places places;
    uint64_t i, good = 0;

    if (!ds->format->tensors)
        cfg.stages = WEIR_STAGES_DECODE;
    if (!init_places(&places, c->job) ||
        wr_first_decoder(ds->index, &cfg, &d.decoder, NULL) < 0)
        c->failed = true;
    pass_gate(c);
    while (d.decoder && (i = c->next++) < c->count && !is_stopped(c->job))
        good += decode_one(c, &d, i, place_of(&places, good));
    c->done += good;
    wr_big_free(places.memory, places.count * places.bytes);
    wr_unpack_done(&d.unpack);
    if (d.decoder)
        d.decoder->ops->free(d.decoder);
}

/* Reads a range piece by piece into the same `cap` bytes; the bytes that
 * came, -1 on failure. */
static int64_t read_range(int fd, const struct wr_part *place, uint8_t *buf,
                          size_t cap)
{
    uint64_t done = 0;
    ssize_t n;

    do {
        n = pread(fd, buf, WR_MIN(place->length - done, cap),
                  (off_t)(place->offset + done));
        if (n < 0)
            return -1;
        done += (uint64_t)n;
    } while (n > 0 && done < place->length);
    return (int64_t)done;
}

/* Where a sample goes. */
struct target {
    uint8_t *buf; /* borrowed */
    size_t cap;
    char *path; /* borrowed: PATH_CAP bytes for its name */
};

static int64_t read_sample(struct crew *c, const struct wr_part *place,
                           const struct target *to)
{
    const weir_dataset *ds = c->job->ds;
    char rel[PATH_CAP];
    int64_t n;
    int fd;

    if (c->fds)
        return read_range(c->fds[place->object], place, to->buf, to->cap);
    wr_index_object_path(ds->index, place->object, rel, sizeof(rel));
    if (!ds->store->ops->local_path(ds->store, rel, to->path, PATH_CAP))
        return -1;
    fd = open(to->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        note_lack(c, wr_error_from_errno(errno));
        return -1;
    }
    n = read_range(fd, place, to->buf, to->cap);
    close(fd);
    return n;
}

/* Bytes of a place that samples are read to: a piece, but as much as there is
 * where the places of batches are filled. */
static size_t place_bytes(const struct wr_limit_job *job)
{
    size_t most = job->slots ? WR_MAX(MAX_RING / job->slots, PIECE) : PIECE;

    most = (size_t)WR_MIN(wr_index_max_length(job->ds->index), most);
    return WR_MAX(most, (size_t)1); /* all samples may be empty */
}

static void read_share(struct crew *c)
{
    const weir_dataset *ds = c->job->ds;
    size_t cap = place_bytes(c->job);
    struct target to = {.cap = cap, .path = malloc(PATH_CAP)};
    uint8_t *own = wr_big_alloc(cap);
    /* Each thread fills its own part of the ring. */
    uint64_t share = c->ring ? c->job->slots / c->job->threads : 0;
    uint64_t first = c->seated++ * share, turn = 0;
    uint64_t i, good = 0;
    struct wr_part place;
    int64_t n;

    if (!to.path || !own)
        c->failed = true;
    else
        memset(own, 1, cap); /* not the page faults are measured */
    pass_gate(c);
    while (!c->failed && (i = c->next++) < c->count && !is_stopped(c->job)) {
        wr_index_part(ds->index, 0, sample_at(c, i), &place);
        to.buf = share ? c->ring + (first + turn++ % share) * cap : own;
        n = read_sample(c, &place, &to);
        good += n >= 0;
    }
    c->done += good;
    wr_big_free(own, cap);
    free(to.path);
}

struct seat {
    pthread_t thread;
    struct crew *crew;
    void (*work)(struct crew *c);
};

static void *seat_main(void *arg)
{
    struct seat *s = arg;
    s->work(s->crew);
    return NULL;
}

/* --- all threads --- */

static int start_seats(struct crew *c, struct seat *seats,
                       unsigned *ret_started, weir_err *err)
{
    int r = 0;

    for (*ret_started = 0; *ret_started < c->job->threads; ++*ret_started) {
        struct seat *s = &seats[*ret_started];

        s->crew = c;
        r = wr_thread_start(&s->thread, "weir-limit", seat_main, s, err);
        if (r < 0) {
            c->next = c->count; /* the others find nothing to do */
            break;
        }
    }
    return r;
}

static int judge(const struct crew *c, uint64_t ns, struct wr_limit *ret,
                 weir_err *err)
{
    if (is_stopped(c->job))
        return wr_fail(err, WEIR_ECANCELED, "stopped");
    if (c->lack)
        return wr_fail(err, c->lack, "the limit could not be measured");
    if (c->failed || !c->done)
        return wr_fail(err, WEIR_EIO, "nothing could be measured");
    *ret = (struct wr_limit){
        .samples_per_s = (double)c->done * 1e9 / (double)ns,
        .samples = c->done,
    };
    return 0;
}

static int run_crew(struct crew *c, void (*work)(struct crew *),
                    struct wr_limit *ret, weir_err *err)
{
    struct seat *seats = calloc(c->job->threads, sizeof(*seats));
    unsigned started;
    uint64_t t0, ns;
    int r;

    if (!seats)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (unsigned i = 0; i < c->job->threads; i++)
        seats[i].work = work;
    r = start_seats(c, seats, &started, err);
    if (r == 0 && c->job->begin)
        r = c->job->begin(c->job->begin_arg, err);
    if (r < 0)
        c->next = c->count;
    t0 = open_gate(c, started);
    for (unsigned i = 0; i < started; i++)
        pthread_join(seats[i].thread, NULL);
    ns = wr_clock_ns() - t0;
    free(seats);
    return r < 0 ? r : judge(c, ns, ret, err);
}

static void init_crew(struct crew *c, const struct wr_limit_job *job)
{
    uint64_t n = wr_index_count(job->ds->index), share;

    memset(c, 0, sizeof(*c));
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->change, NULL);
    c->job = job;
    wr_order_init(&c->order, job->cfg, n, 0);
    share = c->order.n;
    if (job->world)
        share = share / job->world + (job->rank < share % job->world);
    c->count = job->samples ? WR_MIN(job->samples, share) : share;
}

/* --- decode --- */

/* How many samples fit into the budget, and their bytes. */
static void plan_memory(struct crew *c, size_t *ret_size)
{
    struct wr_part place;
    size_t size = 0;

    for (uint64_t i = 0; i < c->count; i++) {
        wr_index_part(c->job->ds->index, 0, sample_at(c, i), &place);
        if (size + place.length > WR_LIMIT_DECODE_BYTES) {
            c->count = i;
            break;
        }
        size += place.length;
    }
    *ret_size = size;
}

/* A sample that cannot be read is left empty: it is bad in the pipeline
 * too. */
static int load_memory(struct crew *c, struct memory *m, weir_err *err)
{
    struct wr_store *st = c->job->ds->store;
    struct wr_object *o;
    struct wr_part place;
    char rel[PATH_CAP];
    size_t at = 0;

    for (uint64_t i = 0; i < c->count; i++) {
        int64_t got;

        if (is_stopped(c->job))
            return wr_fail(err, WEIR_ECANCELED, "stopped");
        m->offset[i] = at;
        wr_index_part(c->job->ds->index, 0, sample_at(c, i), &place);
        wr_index_object_path(c->job->ds->index, place.object, rel, sizeof(rel));
        got = st->ops->object_open(st, rel, WR_OPEN_READ, &o, NULL);
        note_lack(c, (int)got);
        if (got == 0) {
            got = o->ops->read(o, m->bytes + at,
                               WR_MIN(place.length, m->size - at), place.offset,
                               NULL);
            o->ops->close(o, /* sync= */ false, NULL);
        }
        at += got > 0 ? (size_t)got : 0;
    }
    m->offset[c->count] = at;
    return 0;
}

int wr_limit_decode(const struct wr_limit_job *job, struct wr_limit *ret,
                    weir_err *err)
{
    struct memory m = {0};
    struct crew c;
    int r;

    init_crew(&c, job);
    plan_memory(&c, &m.size);
    m.bytes = wr_big_alloc(m.size);
    m.offset = calloc(c.count + 1, sizeof(*m.offset));
    if (!m.bytes || !m.offset)
        r = wr_fail(err, WEIR_ENOMEM, "no memory for the decode limit");
    else
        r = load_memory(&c, &m, err);
    c.memory = &m;
    if (r == 0)
        r = run_crew(&c, decode_share, ret, err);
    wr_big_free(m.bytes, m.size);
    free(m.offset);
    return r;
}

/* --- read --- */

static void close_objects(int *fds, uint64_t n)
{
    for (uint64_t i = 0; fds && i < n; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(fds);
}

static int open_objects(struct crew *c, uint64_t n, weir_err *err)
{
    const weir_dataset *ds = c->job->ds;
    char rel[PATH_CAP], path[PATH_CAP];

    c->fds = malloc(n * sizeof(*c->fds));
    if (!c->fds)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (uint64_t i = 0; i < n; i++)
        c->fds[i] = -1;
    for (uint64_t i = 0; i < n; i++) {
        wr_index_object_path(ds->index, i, rel, sizeof(rel));
        if (ds->store->ops->local_path(ds->store, rel, path, sizeof(path)))
            c->fds[i] = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (c->fds[i] < 0)
            return wr_fail_errno(err, errno, "'%s': cannot open", rel);
    }
    return 0;
}

int wr_limit_read(const struct wr_limit_job *job, struct wr_limit *ret,
                  weir_err *err)
{
    const struct wr_index *ix = job->ds->index;
    uint64_t objects = wr_index_object_count(ix);
    size_t cap = place_bytes(job);
    size_t ring_size = job->slots * cap;
    struct crew c;
    int r = 0;

    /* Below an emulated or failing device there is nothing to compare with. */
    if (!job->ds->store->ops->local_path || job->ds->store->ops->wraps)
        return wr_fail(err, WEIR_ENOTSUP, "not on plain local files");
    if (job->slots > MAX_RING / cap)
        return wr_fail(err, WEIR_ELIMIT, "%u places are too many", job->slots);
    init_crew(&c, job);
    if (ring_size) {
        c.ring = wr_big_alloc(ring_size);
        if (!c.ring)
            return wr_fail(err, WEIR_ENOMEM, "out of memory");
        memset(c.ring, 1, ring_size);
    }
    if (objects != wr_index_count(ix))
        r = open_objects(&c, objects, err);
    if (r == 0)
        r = run_crew(&c, read_share, ret, err);
    close_objects(c.fds, objects);
    wr_big_free(c.ring, ring_size);
    return r;
}
