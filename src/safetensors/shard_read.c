/* shard_read.c - reads a shard into the memory of its tensors and checks it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The file is cut into runs: the head, and chunks that are wanted. A thread
 * takes the next run when it needs one, so the reads of all threads together
 * go through the file once, forwards; it reads the run in pieces, several in
 * flight, and handles them in order. A piece whose pages are pages of the memory
 * that wants them is read there, and only its checksum is left to do; any other
 * is read into a buffer, and copied while it is still in the cache. */
#include "safetensors/shard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/thread.h"
#include "safetensors/image.h"
#include "safetensors/shard_sum.h"

/* Chosen, not tuned: few buffers, because memory that is touched for the first time is
 * slow, and enough of them that a thread may wait for a core now and then. */
#define PIECE       ((uint64_t)1 << 20)
#define DEPTH       6u
#define BLOCK       ((size_t)256 << 10) /* fits the second cache */
#define THREADS_MAX 2u
/* From here on a second thread is worth its start. */
#define SHARED_MIN ((uint64_t)32 << 20)
/* What goes straight to its place takes no buffer. */
#define PLACED_MAX ((uint64_t)4 << 20)

/* Bytes of the file that one thread reads from begin to end: the head, or whole
 * chunks. */
struct read_run {
    uint64_t begin, end;
};

struct reader {
    const struct wr_shard_at *from;
    const struct wr_st_shard *s;
    uint64_t chunk;
    struct wr_sum sum; /* each thread starts with a copy */
    const struct wr_stretch *wants;
    size_t want_count;
    struct wr_object *object; /* owned */
    const struct wr_byte_meter *meter;

    atomic_bool stop;
    atomic_uint_fast64_t done_bytes;
    pthread_mutex_t lock; /* guards all below; a leaf lock */
    bool head_taken;
    uint64_t next; /* chunk to look at */
    size_t want;   /* the first that ends behind that chunk's begin */
    int result;
    weir_err err;
};

/* A piece of a run on its way. */
struct read_piece {
    struct wr_io io;
    uint8_t *buf;        /* borrowed from the lane */
    uint64_t begin, end; /* in the file */
    bool direct;         /* read to where it is wanted, not into `buf` */
    bool arrived;
};

/* What one thread has. */
struct lane {
    struct reader *rd; /* borrowed */
    bool first;        /* the caller's thread */
    struct wr_queue *queue;
    uint8_t *memory; /* owned */
    size_t memory_len, buf_len;
    struct read_piece pieces[DEPTH]; /* a ring */
    unsigned head, in_flight;
    struct read_run run; /* what is left of the one that is being read */
    struct wr_sum sum;
    size_t want;   /* hint: where the last copy ended */
    size_t ahead;  /* the first want that ends behind what was submitted */
    uint64_t told; /* bytes that the meter knows of */
    pthread_t thread;
};

static int fail_run(struct reader *rd, int r, const weir_err *err)
{
    pthread_mutex_lock(&rd->lock);
    if (rd->result == 0) {
        rd->result = r;
        rd->err = *err;
    }
    pthread_mutex_unlock(&rd->lock);
    rd->stop = true;
    return r;
}

/* --- what is to be read --- */

static uint64_t data_bytes(const struct reader *rd)
{
    return rd->s->size - rd->s->data_offset;
}

static uint64_t chunk_count(const struct reader *rd)
{
    return (data_bytes(rd) + rd->chunk - 1) / rd->chunk;
}

/* Whether somebody wants bytes of chunk k; asked with rising k. */
static bool is_wanted(struct reader *rd, uint64_t k)
{
    uint64_t begin = k * rd->chunk, end = begin + rd->chunk;

    if (!rd->want_count)
        return true;
    while (rd->want < rd->want_count &&
           (rd->wants[rd->want].end <= begin ||
            rd->wants[rd->want].begin == rd->wants[rd->want].end))
        rd->want++;
    return rd->want < rd->want_count && rd->wants[rd->want].begin < end;
}

/* The next run, of one chunk or of several small ones. */
static bool take_run(struct reader *rd, struct read_run *ret)
{
    uint64_t count = chunk_count(rd), k;
    bool found = false;

    pthread_mutex_lock(&rd->lock);
    if (!rd->head_taken) {
        rd->head_taken = true;
        *ret = (struct read_run){0, rd->s->data_offset};
        pthread_mutex_unlock(&rd->lock);
        return true;
    }
    k = rd->next;
    while (k < count && !is_wanted(rd, k))
        k++;
    if (k < count) {
        uint64_t first = k++;

        while (k < count && (k - first + 1) * rd->chunk <= PIECE &&
               is_wanted(rd, k))
            k++;
        *ret = (struct read_run){
            rd->s->data_offset + first * rd->chunk,
            WR_MIN(rd->s->data_offset + k * rd->chunk, rd->s->size)};
        found = true;
    }
    rd->next = k;
    pthread_mutex_unlock(&rd->lock);
    return found;
}

/* --- one thread --- */

/* Wants rise, and so does what a thread reads: the search goes on. */
static size_t want_behind(const struct reader *rd, size_t from, uint64_t at)
{
    while (from < rd->want_count && rd->wants[from].end <= at)
        from++;
    return from;
}

/* How many bytes at run.begin the next piece has. *ret_into is where they are
 * wanted when they can be read right there, else NULL. */
static uint64_t plan_piece(struct lane *l, uint8_t **ret_into)
{
    const struct reader *rd = l->rd;
    uint64_t left = l->run.end - l->run.begin, len = WR_MIN(PIECE, left);
    uint64_t base = rd->s->data_offset, at = l->run.begin - base;
    uint64_t whole = (at + WR_MIN(PLACED_MAX, left)) &
                     ~(uint64_t)(WR_DIRECT_ALIGN - 1);

    *ret_into = NULL;
    if (l->run.begin < base || base % WR_DIRECT_ALIGN || at % WR_DIRECT_ALIGN)
        return len;
    l->ahead = want_behind(rd, l->ahead, at);
    for (size_t i = l->ahead;
         i < rd->want_count && rd->wants[i].begin < at + len; i++) {
        struct wr_stretch x = wr_stretch_pages(&rd->wants[i]);

        if (x.begin > at)
            return WR_MIN(len, x.begin - at); /* up to there by the buffer */
        if (x.begin <= at && at < WR_MIN(x.end, whole)) {
            *ret_into = (uint8_t *)x.at + (at - x.begin);
            return WR_MIN(x.end, whole) - at;
        }
    }
    return len;
}

static int submit_piece(struct lane *l, weir_err *err)
{
    struct read_piece *p = &l->pieces[(l->head + l->in_flight) % DEPTH];
    struct wr_io *io = &p->io;
    uint8_t *into;
    uint64_t n = plan_piece(l, &into);

    p->begin = l->run.begin;
    p->end = p->begin + n;
    p->direct = into != NULL;
    p->arrived = false;
    *io = (struct wr_io){.op = WR_IO_READ,
                         .object = l->rd->object,
                         .offset = p->begin,
                         .len = (size_t)n,
                         .buf = into ? into : p->buf,
                         .cap = into ? (size_t)n : l->buf_len};
    if (l->queue->ops->submit(l->queue, &io, 1) != 1)
        return wr_fail(err, WEIR_EIO, "'%s': the queue takes no read",
                       l->rd->from->path);
    l->run.begin = p->end;
    l->in_flight++;
    return 0;
}

/* Keeps the queue full as long as there is something to read. */
static int submit_all(struct lane *l, weir_err *err)
{
    int r = 0;

    while (r == 0 && l->in_flight < DEPTH && !l->rd->stop) {
        if (l->run.begin == l->run.end && !take_run(l->rd, &l->run))
            break;
        r = submit_piece(l, err);
    }
    return r;
}

static void copy_out(struct lane *l, uint64_t offset, const uint8_t *bytes,
                     size_t len)
{
    const struct reader *rd = l->rd;
    uint64_t base = rd->s->data_offset, begin, end;

    if (offset < base)
        return;
    begin = offset - base;
    end = begin + len;
    l->want = want_behind(rd, l->want, begin);
    for (size_t i = l->want; i < rd->want_count; i++) {
        const struct wr_stretch *w = &rd->wants[i];
        uint64_t a = WR_MAX(w->begin, begin), b = WR_MIN(w->end, end);

        if (w->begin >= end)
            break;
        if (a < b)
            wr_copy_past((uint8_t *)w->at + (a - w->begin), bytes + (a - begin),
                         (size_t)(b - a));
    }
}

/* In blocks, so that what was summed is still near when it is copied. */
static int use_piece(struct lane *l, const struct read_piece *p, weir_err *err)
{
    size_t len = (size_t)(p->end - p->begin);
    int r = wr_sum_result(&l->sum, &p->io, err);

    for (size_t at = 0, n; r == 0 && at < len; at += n) {
        n = WR_MIN(len - at, BLOCK);
        r = wr_sum_add(&l->sum, p->begin + at, p->io.data + at, n, err);
        if (r == 0 && !p->direct)
            copy_out(l, p->begin + at, p->io.data + at, n);
    }
    return r;
}

/* The oldest piece: waits for it and uses it. */
static int finish_piece(struct lane *l, weir_err *err)
{
    struct read_piece *p = &l->pieces[l->head];
    struct wr_io *done[DEPTH];
    int r;

    while (!p->arrived) {
        unsigned n = l->queue->ops->reap(l->queue, done, DEPTH,
                                         /* wait= */ true);

        for (unsigned i = 0; i < n; i++) /* `io` is the first member */
            ((struct read_piece *)done[i])->arrived = true;
    }
    r = use_piece(l, p, err);
    if (r < 0)
        return r;
    atomic_fetch_add(&l->rd->done_bytes, p->end - p->begin);
    l->head = (l->head + 1) % DEPTH;
    l->in_flight--;
    return 0;
}

/* Only the caller's thread tells; it counts for all. */
static int tell(struct lane *l, weir_err *err)
{
    const struct wr_byte_meter *m = l->rd->meter;
    uint64_t now = l->rd->done_bytes, more = now - l->told;

    if (!l->first || !m || !m->add || !more)
        return 0;
    l->told = now;
    if (m->add(m->arg, more))
        return wr_fail(err, WEIR_ECANCELED, "canceled");
    return 0;
}

static void *lane_main(void *arg)
{
    struct lane *l = arg;
    weir_err err = {0};
    int r = submit_all(l, &err);

    while (r == 0 && l->in_flight && !l->rd->stop) {
        r = finish_piece(l, &err);
        if (r == 0)
            r = submit_all(l, &err);
        if (r == 0)
            r = tell(l, &err);
    }
    if (r < 0)
        fail_run(l->rd, r, &err);
    return NULL;
}

static int lane_open(struct lane *l, struct reader *rd, weir_err *err)
{
    struct wr_queue_config cfg = {.depth = DEPTH, .direct = true};

    l->rd = rd;
    l->sum = rd->sum;
    l->buf_len = WR_ALIGN_UP(wr_read_cap((size_t)PIECE, /* direct= */ true),
                             (size_t)WR_DIRECT_ALIGN);
    l->memory_len = WR_MAX(DEPTH * l->buf_len, (size_t)2 << 20);
    l->memory = wr_big_alloc(l->memory_len);
    if (!l->memory)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (unsigned i = 0; i < DEPTH; i++)
        l->pieces[i].buf = l->memory + i * l->buf_len;
    return rd->from->store->ops->queue_open(rd->from->store, &cfg, &l->queue,
                                            err);
}

static void lane_close(struct lane *l)
{
    if (l->queue)
        l->queue->ops->close(l->queue); /* waits for what is in flight */
    wr_big_free(l->memory, l->memory_len);
}

static uint64_t wanted_bytes(const struct reader *rd)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < rd->want_count; i++)
        sum += rd->wants[i].end - rd->wants[i].begin;
    return sum;
}

/* Checking alone is faster than any disk; copying out is not. */
static unsigned choose_threads(const struct reader *rd)
{
    if (wanted_bytes(rd) < SHARED_MIN)
        return 1;
    return WR_MIN(wr_cpu_count(), THREADS_MAX);
}

static int read_all(struct reader *rd, weir_err *err)
{
    struct lane lanes[THREADS_MAX] = {0};
    unsigned count = choose_threads(rd), started = 0;
    int r = 0;

    lanes[0].first = true;
    for (unsigned i = 0; r == 0 && i < count; i++)
        r = lane_open(&lanes[i], rd, err);
    for (unsigned i = 1; r == 0 && i < count; i++) {
        r = wr_thread_start(&lanes[i].thread, "weir-restore", lane_main,
                            &lanes[i], err);
        started += r == 0;
    }
    if (r == 0)
        lane_main(&lanes[0]);
    else
        rd->stop = true;
    for (unsigned i = 1; i <= started; i++)
        pthread_join(lanes[i].thread, NULL);
    if (r == 0)
        r = wr_fail_as(err, rd->result, &rd->err);
    if (r == 0)
        r = tell(&lanes[0], err);
    for (unsigned i = 0; i < count; i++)
        lane_close(&lanes[i]);
    return r;
}

int wr_shard_read(const struct wr_shard_at *from, const struct wr_st_shard *s,
                  uint32_t chunk, const struct wr_stretch *wants, size_t count,
                  const struct wr_byte_meter *meter, weir_err *err)
{
    struct reader rd = {
        .from = from,
        .s = s,
        .chunk = chunk,
        .wants = wants,
        .want_count = count,
        .meter = meter,
    };
    int r;

    r = wr_sum_init(&rd.sum, from->path, s, chunk, err);
    if (r < 0)
        return r;
    r = from->store->ops->object_open(from->store, from->path, WR_OPEN_READ,
                                      &rd.object, err);
    if (r < 0)
        return r;
    pthread_mutex_init(&rd.lock, NULL);
    r = read_all(&rd, err);
    pthread_mutex_destroy(&rd.lock);
    rd.object->ops->close(rd.object, /* sync= */ false, NULL);
    return r;
}
