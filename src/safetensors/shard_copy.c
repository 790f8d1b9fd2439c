/* shard_copy.c - copies a shard from one store to another and checks it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One thread, two queues. Buffers go round: read, summed, written, free. What
 * is waited for is the side that holds the other one up: writes when half of
 * the buffers are being written, else reads. */
#include "safetensors/shard.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "safetensors/shard_sum.h"
#include "safetensors/shard_write.h"

#define PIECE ((uint64_t)4 << 20)
#define DEPTH 8u

/* A buffer and what happens to it. */
struct piece {
    struct wr_io io;
    uint8_t *buf;      /* borrowed from the copier */
    bool arrived;      /* read, not yet summed */
    unsigned writes;   /* in flight: its blocks, its end */
    struct wr_io tail; /* the end that fills no block */
};

struct copier {
    struct wr_way *way; /* borrowed */
    const struct wr_st_shard *s;
    const struct wr_byte_meter *meter;
    struct wr_object *source; /* owned */
    struct wr_queue *reads;   /* owned */
    struct wr_shard_file out;
    uint8_t *memory; /* owned */
    size_t memory_len, buf_len;
    struct piece pieces[DEPTH];

    /* Rings of pieces: those that are read, in the order of the file, and
     * those that are free. */
    struct piece *reading[DEPTH], *free[DEPTH];
    unsigned reading_head, reading_count, free_count;
    unsigned writing;
    uint64_t next, end; /* what is to be read */
    struct wr_sum sum;
    bool second; /* all of it once more: the meter has counted it */
};

/* --- reading --- */

static int read_next(struct copier *c, weir_err *err)
{
    struct piece *p = c->free[--c->free_count];
    struct wr_io *io = &p->io;

    p->arrived = false;
    *io = (struct wr_io){.op = WR_IO_READ,
                         .object = c->source,
                         .offset = c->next,
                         .len = (size_t)WR_MIN(PIECE, c->end - c->next),
                         .buf = p->buf,
                         .cap = c->buf_len};
    if (c->reads->ops->submit(c->reads, &io, 1) != 1)
        return wr_fail(err, WEIR_EIO, "'%s': the queue takes no read",
                       c->way->from.path);
    c->next += io->len;
    c->reading[(c->reading_head + c->reading_count++) % DEPTH] = p;
    return 0;
}

static void reap_reads(struct copier *c, bool wait)
{
    struct wr_io *done[DEPTH];
    unsigned n = c->reads->ops->reap(c->reads, done, DEPTH, wait);

    for (unsigned i = 0; i < n; i++)
        ((struct piece *)done[i])->arrived =
            true; /* `io` is the first member */
}

/* --- writing --- */

static int put(struct copier *c, struct wr_io *io, weir_err *err)
{
    struct wr_queue *q = c->out.queue;

    if (q->ops->submit(q, &io, 1) != 1)
        return wr_fail(err, WEIR_EIO, "'%s': the queue takes no write",
                       c->way->to.path);
    return 0;
}

/* Sends a piece that was read and is good; the end that fills no block goes by
 * itself, through the page cache. */
static int write_piece(struct copier *c, struct piece *p, weir_err *err)
{
    struct wr_io io = {.op = WR_IO_WRITE,
                       .object = c->out.object,
                       .offset = p->io.offset,
                       .len = p->io.len,
                       .buf = p->io.data,
                       .cap = p->io.len,
                       .tag = (unsigned)(p - c->pieces)};
    size_t rest = io.len % WR_DIRECT_ALIGN, whole = io.len - rest;
    int r = 0;

    c->writing++;
    p->writes = 0;
    p->tail = io;
    p->tail.offset += whole;
    p->tail.buf = p->io.data + whole;
    p->tail.len = p->tail.cap = rest;
    p->io = io;
    p->io.len = p->io.cap = whole;
    if (whole) {
        r = put(c, &p->io, err);
        p->writes += r == 0;
    }
    if (r == 0 && rest) {
        r = put(c, &p->tail, err);
        p->writes += r == 0;
    }
    return r;
}

static int reap_writes(struct copier *c, bool wait, uint64_t *done_bytes,
                       weir_err *err)
{
    struct wr_queue *q = c->out.queue;
    struct wr_io *done[2 * DEPTH];
    unsigned n = q->ops->reap(q, done, 2 * DEPTH, wait);
    int r = 0;

    for (unsigned i = 0; i < n; i++) {
        struct piece *p = &c->pieces[done[i]->tag];

        if (done[i]->result < 0 && r == 0)
            r = wr_io_error(done[i], c->way->to.path, err);
        *done_bytes += done[i]->len;
        if (--p->writes == 0) {
            c->writing--;
            c->free[c->free_count++] = p;
        }
    }
    return r;
}

/* --- both --- */

static int of_out(struct copier *c, int r)
{
    c->way->to_failed |= r < 0;
    return r;
}

/* Sums and sends what was read, in the order of the file. */
static int pass_on(struct copier *c, weir_err *err)
{
    int r = 0;

    while (r == 0 && c->reading_count) {
        struct piece *p = c->reading[c->reading_head];

        if (!p->arrived)
            break;
        c->reading_head = (c->reading_head + 1) % DEPTH;
        c->reading_count--;
        r = wr_sum_result(&c->sum, &p->io, err);
        if (r == 0)
            r = wr_sum_add(&c->sum, p->io.offset, p->io.data, p->io.len, err);
        if (r == 0)
            r = of_out(c, write_piece(c, p, err));
    }
    return r;
}

static int tell(const struct copier *c, uint64_t bytes, weir_err *err)
{
    const struct wr_byte_meter *m = c->meter;

    if (bytes && m && m->add && m->add(m->arg, c->second ? 0 : bytes))
        return wr_fail(err, WEIR_ECANCELED, "canceled");
    return 0;
}

/* Copies [begin, end) of the file; nothing is in flight afterwards. */
static int copy_range(struct copier *c, uint64_t begin, uint64_t end,
                      weir_err *err)
{
    int r = 0;

    c->next = begin;
    c->end = end;
    while (r == 0 && (c->next < c->end || c->reading_count || c->writing)) {
        bool for_writes;
        uint64_t done = 0;

        while (r == 0 && c->free_count && c->next < c->end)
            r = read_next(c, err);
        if (r < 0)
            break;
        for_writes = c->writing >= DEPTH / 2 || !c->reading_count;
        if (c->reading_count)
            reap_reads(c, /* wait= */ !for_writes);
        if (c->writing)
            r = of_out(c, reap_writes(c, for_writes, &done, err));
        if (r == 0)
            r = pass_on(c, err);
        if (r == 0)
            r = tell(c, done, err);
    }
    return r;
}

static int copy_file(struct copier *c, bool *ret_again, weir_err *err)
{
    const struct wr_st_shard *s = c->s;
    int r = of_out(
        c, wr_shard_file_open(&c->way->to, s->size, 2 * DEPTH, &c->out, err));

    if (r < 0)
        return r;
    c->reading_count = c->writing = 0;
    for (c->free_count = 0; c->free_count < DEPTH; c->free_count++)
        c->free[c->free_count] = &c->pieces[c->free_count];
    r = copy_range(c, s->data_offset, s->size, err);
    if (r == 0)
        r = copy_range(c, 0, s->data_offset, err);
    if (r < 0) {
        wr_shard_file_drop(&c->out);
        return r;
    }
    return of_out(c, wr_shard_file_settle(&c->out, ret_again, err));
}

static int copier_open(struct copier *c, weir_err *err)
{
    struct wr_queue_config cfg = {.depth = DEPTH, .direct = true};
    struct wr_store *st = c->way->from.store;
    int r = st->ops->object_open(st, c->way->from.path, WR_OPEN_READ,
                                 &c->source, err);

    if (r == 0)
        r = st->ops->queue_open(st, &cfg, &c->reads, err);
    if (r < 0)
        return r;
    c->buf_len = WR_ALIGN_UP(wr_read_cap((size_t)PIECE, /* direct= */ true),
                             (size_t)WR_DIRECT_ALIGN);
    c->memory_len = DEPTH * c->buf_len;
    c->memory = wr_big_alloc(c->memory_len);
    if (!c->memory)
        return wr_fail(err, WEIR_ENOMEM, "out of memory");
    for (unsigned i = 0; i < DEPTH; i++)
        c->pieces[i].buf = c->memory + i * c->buf_len;
    return 0;
}

static void copier_close(struct copier *c)
{
    if (c->reads)
        c->reads->ops->close(c->reads); /* waits for what is in flight */
    if (c->source)
        c->source->ops->close(c->source, /* sync= */ false, NULL);
    wr_big_free(c->memory, c->memory_len);
}

int wr_byte_count_add(void *count, uint64_t bytes)
{
    struct wr_byte_count *n = count;

    n->done += bytes;
    n->total = WR_MAX(n->total, n->done);
    return n->progress ? n->progress(n->arg, n->done, n->total) : 0;
}

int wr_shard_copy(struct wr_way *way, const struct wr_st_shard *s,
                  uint32_t chunk, const struct wr_byte_meter *meter,
                  weir_err *err)
{
    struct copier c = {.way = way, .s = s, .meter = meter};
    bool again = false;
    int r = wr_sum_init(&c.sum, way->from.path, s, chunk, err);

    way->to_failed = false;
    if (r == 0)
        r = copier_open(&c, err);
    if (r == 0)
        r = copy_file(&c, &again, err);
    if (r < 0 && again) {
        c.second = true;
        way->to_failed = false;
        r = copy_file(&c, &again, err);
    }
    copier_close(&c);
    return r;
}
