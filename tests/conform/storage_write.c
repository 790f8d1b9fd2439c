/* storage_write.c - what every backend that can be written to must do.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "storage_place.h"

#define BLOCK  ((size_t)WR_DIRECT_ALIGN)
#define BLOCKS 64
#define ALL    (BLOCKS * BLOCK)

/* An object that is written to, and what it should hold. */
struct sheet {
    const struct place *pl;
    struct wr_object *o;
    struct wr_queue *q;
    uint8_t *want; /* ALL bytes */
    uint8_t *buf;  /* aligned: room to read ALL bytes */
    size_t cap;
};

static void sheet_init(struct sheet *s, void **state, unsigned depth)
{
    const struct place *pl = *state;
    void *buf = NULL;

    s->pl = pl;
    s->q = open_queue(pl, depth);
    s->want = calloc(ALL, 1);
    s->cap = wr_read_cap(ALL, /* direct= */ true);
    assert_int_equal(posix_memalign(&buf, BLOCK, s->cap), 0);
    s->buf = buf;
    assert_int_equal(
        pl->st->ops->object_open(pl->st, "sheet", WR_OPEN_CREATE, &s->o, NULL),
        0);
}

static void sheet_done(struct sheet *s)
{
    s->q->ops->close(s->q);
    assert_int_equal(s->o->ops->close(s->o, /* sync= */ false, NULL), 0);
    free(s->want);
    free(s->buf);
}

/* One request, there and back. */
static void one(struct sheet *s, struct wr_io *io)
{
    struct wr_io *back = NULL;

    assert_int_equal(s->q->ops->submit(s->q, &io, 1), 1);
    assert_int_equal(s->q->ops->reap(s->q, &back, 1, /* wait= */ true), 1);
    assert_ptr_equal(io, back);
}

static void check_write(const struct wr_io *io)
{
    weir_err err;

    if (io->result) {
        wr_io_error(io, "sheet", &err);
        fail_msg("%s", err.msg);
    }
    assert_int_equal(io->step, WR_STEP_WRITE);
    assert_int_equal(io->got, io->len);
}

/* Writes new bytes at [offset, offset+len), from memory that is `shift` bytes
 * away from an alignment. */
static void put(struct sheet *s, size_t offset, size_t len, size_t shift)
{
    uint8_t *bytes = s->buf + shift;
    struct wr_io io = {.op = WR_IO_WRITE,
                       .object = s->o,
                       .offset = offset,
                       .len = len,
                       .buf = bytes,
                       .cap = len,
                       .tag = 77};

    for (size_t i = 0; i < len; i++)
        bytes[i] = s->want[offset + i] = (uint8_t)(s->want[offset + i] + 1 + i +
                                                   (i >> 8));
    one(s, &io);
    check_write(&io);
    assert_int_equal(io.tag, 77);
    assert_ptr_equal(io.object, s->o);
    assert_ptr_equal(io.data, bytes);
    assert_memory_equal(bytes, s->want + offset, len);
}

/* All of the object, through the queue and past it, is what was written. */
static void check_all(struct sheet *s, size_t size)
{
    struct wr_io io = {.object = s->o,
                       .len = size,
                       .buf = s->buf,
                       .cap = s->cap,
                       .whole = true};
    struct wr_stat sb;
    int64_t n;

    assert_int_equal(s->pl->st->ops->stat(s->pl->st, "sheet", &sb, NULL), 0);
    assert_int_equal(sb.size, size);
    one(s, &io);
    assert_int_equal(io.result, 0);
    assert_int_equal(io.step, WR_STEP_READ);
    assert_memory_equal(io.data, s->want, size);
    memset(s->buf, 0xee, s->cap);
    for (size_t at = 0; at < size; at += (size_t)n) {
        n = s->o->ops->read(s->o, s->buf + at, size - at, at, NULL);
        assert_true(n > 0);
    }
    assert_memory_equal(s->buf, s->want, size);
}

/* Blocks and odd ranges in turn: what goes past the page cache and what goes
 * through it is one object. */
void random_writes(void **state)
{
    struct wr_rng rng = {.seed = 5};
    struct sheet s;

    sheet_init(&s, state, 4);
    put(&s, 0, ALL, 0);
    check_all(&s, ALL);
    for (unsigned k = 0; k < 80; k++) {
        uint64_t from = wr_rng_below(&rng, BLOCKS) * BLOCK, len = BLOCK, odd;

        odd = wr_rng_below(&rng, 4);
        if (odd == 0)
            from += wr_rng_below(&rng, BLOCK);
        if (odd <= 1)
            len += wr_rng_below(&rng, 3 * BLOCK);
        put(&s, from, WR_MIN(len, ALL - from), odd == 2 ? 64 : 0);
        if (k % 20 == 0)
            check_all(&s, ALL);
    }
    check_all(&s, ALL);
    sheet_done(&s);
}

/* Writes behind the end make it longer; what lies between reads as 0. */
void writes_past_the_end(void **state)
{
    struct sheet s;

    sheet_init(&s, state, 1);
    put(&s, 5, 20, 0);
    check_all(&s, 25);
    put(&s, 3 * BLOCK, BLOCK, 0);
    check_all(&s, 4 * BLOCK);
    put(&s, 5 * BLOCK + 100, 200, 0);
    check_all(&s, 5 * BLOCK + 300);
    put(&s, 5 * BLOCK, 2 * BLOCK, 0);
    check_all(&s, 7 * BLOCK);
    sheet_done(&s);
}

/* Each block is written while others are, and is read while others are
 * written. */
void mixed_reads_and_writes(void **state)
{
    struct wr_io ios[BLOCKS], *ready[BLOCKS], *back[7];
    unsigned ready_count = 0, reads_left = BLOCKS;
    struct sheet s;
    uint8_t *place;
    void *mem = NULL;

    sheet_init(&s, state, 8);
    assert_int_equal(posix_memalign(&mem, BLOCK, 3 * BLOCKS * BLOCK), 0);
    for (unsigned k = 0; k < BLOCKS; k++) {
        place = (uint8_t *)mem + 3 * k * BLOCK;
        for (size_t i = 0; i < BLOCK; i++)
            place[i] = s.want[k * BLOCK + i] = (uint8_t)(k * 3 + i);
        ios[k] = (struct wr_io){.op = WR_IO_WRITE,
                                .object = s.o,
                                .offset = k * BLOCK,
                                .len = k % 5 ? BLOCK : BLOCK - 1,
                                .buf = place,
                                .cap = 3 * BLOCK};
        s.want[(k + 1) * BLOCK - 1] = k % 5 ? place[BLOCK - 1] : 0;
        ready[ready_count++] = &ios[k];
    }
    while (reads_left) {
        unsigned n = s.q->ops->submit(s.q, ready, ready_count);

        ready_count -= n;
        memmove(ready, ready + n, ready_count * sizeof(*ready));
        n = s.q->ops->reap(s.q, back, 7, /* wait= */ true);
        assert_true(n > 0);
        for (unsigned i = 0; i < n; i++) {
            struct wr_io *io = back[i];

            assert_int_equal(io->result, 0);
            assert_int_equal(io->got, io->len);
            if (io->op == WR_IO_READ) {
                assert_memory_equal(io->data, s.want + io->offset, io->len);
                reads_left--;
                continue;
            }
            check_write(io);
            io->op = WR_IO_READ;
            memset(io->buf, 0xee, io->cap);
            ready[ready_count++] = io;
        }
    }
    free(mem);
    check_all(&s, ALL);
    sheet_done(&s);
}

void closing_with_writes_in_flight(void **state)
{
    struct wr_io ios[8], *io;
    struct sheet s;

    sheet_init(&s, state, 8);
    memset(s.buf, 'w', ALL);
    memset(s.want, 'w', ALL);
    for (unsigned k = 0; k < 8; k++) {
        ios[k] = (struct wr_io){.op = WR_IO_WRITE,
                                .object = s.o,
                                .offset = k * ALL / 8,
                                .len = ALL / 8,
                                .buf = s.buf + k * ALL / 8,
                                .cap = ALL / 8};
        io = &ios[k];
        assert_int_equal(s.q->ops->submit(s.q, &io, 1), 1);
    }
    s.q->ops->close(s.q); /* waits: all of it is there */
    s.q = open_queue(s.pl, 1);
    check_all(&s, ALL);
    sheet_done(&s);
}

static void fails_to_write(struct sheet *s, struct wr_io io)
{
    weir_err err;

    one(s, &io);
    assert_true(io.result < 0);
    assert_int_equal(io.step, WR_STEP_WRITE);
    assert_int_equal(io.got, 0);
    assert_int_equal(wr_io_error(&io, "NAME", &err), io.result);
    assert_non_null(
        strstr(err.msg, "'NAME': cannot write 4096 bytes at offset 8192: "));
}

void writes_where_none_can_be(void **state)
{
    struct wr_object *o;
    struct sheet s;
    struct wr_io io = {
        .op = WR_IO_WRITE, .offset = 2 * BLOCK, .len = BLOCK, .cap = BLOCK};

    sheet_init(&s, state, 2);
    assert_int_equal(
        s.pl->st->ops->object_open(s.pl->st, "sheet", WR_OPEN_READ, &o, NULL),
        0);
    io.buf = s.buf;
    io.object = o;
    fails_to_write(&s, io);
    io.buf = s.buf + 1;
    fails_to_write(&s, io);
    io.path = "sheet"; /* a write has to name an object */
    io.object = NULL;
    fails_to_write(&s, io);
    put(&s, 0, BLOCK, 0);
    check_all(&s, BLOCK);
    o->ops->close(o, /* sync= */ false, NULL);
    sheet_done(&s);
}

void open_to_write_what_exists(void **state)
{
    struct wr_object *o = NULL;
    struct sheet s;
    struct wr_store *st;
    weir_err err;

    sheet_init(&s, state, 2);
    st = s.pl->st;
    put(&s, 0, 2 * BLOCK, 0);
    assert_int_equal(st->ops->object_open(st, "none", WR_OPEN_WRITE, &o, &err),
                     WEIR_ENOENT);
    assert_non_null(strstr(err.msg, "'none': cannot open"));
    assert_null(o);
    assert_int_equal(st->ops->object_open(st, "sub", WR_OPEN_WRITE, &o, NULL),
                     WEIR_EIO);
    assert_null(o);
    assert_int_equal(s.o->ops->close(s.o, /* sync= */ true, NULL), 0);
    assert_int_equal(
        st->ops->object_open(st, "sheet", WR_OPEN_WRITE, &s.o, NULL), 0);
    check_all(&s, 2 * BLOCK);
    put(&s, BLOCK, BLOCK, 0);
    put(&s, 7, 3, 0);
    assert_int_equal(s.o->ops->write(s.o, "abc", 3, 100, NULL), 0);
    memcpy(s.want + 100, "abc", 3);
    check_all(&s, 2 * BLOCK);
    sheet_done(&s);
}

void sync_and_resize(void **state)
{
    struct sheet s;
    weir_err err;

    sheet_init(&s, state, 2);
    assert_int_equal(s.o->ops->sync(s.o, NULL), 0);
    put(&s, 0, 4 * BLOCK, 0);
    assert_int_equal(s.o->ops->resize(s.o, 9 * BLOCK + 9, NULL), 0);
    check_all(&s, 9 * BLOCK + 9); /* what is new reads as 0 */
    put(&s, 8 * BLOCK, BLOCK, 0);
    assert_int_equal(s.o->ops->sync(s.o, NULL), 0);
    assert_int_equal(s.o->ops->resize(s.o, 2 * BLOCK + 2, NULL), 0);
    check_all(&s, 2 * BLOCK + 2);
    memset(s.want + 2 * BLOCK + 2, 0, ALL - 2 * BLOCK - 2);
    assert_int_equal(s.o->ops->resize(s.o, ALL, NULL), 0); /* none comes back */
    check_all(&s, ALL);
    assert_int_equal(s.o->ops->resize(s.o, ALL, NULL), 0);
    assert_true(s.o->ops->resize(s.o, UINT64_MAX, &err) < 0);
    assert_non_null(strstr(err.msg, "sheet"));
    check_all(&s, ALL);
    assert_int_equal(s.o->ops->resize(s.o, 0, NULL), 0);
    assert_int_equal(s.o->ops->read(s.o, s.buf, 1, 0, NULL), 0);
    sheet_done(&s);
}

/* A reservation of more than there is fails and changes nothing. */
void space_is_known(void **state)
{
    struct wr_store *st = ((const struct place *)*state)->st;
    uint64_t bytes = 0;
    struct sheet s;
    weir_err err;

    sheet_init(&s, state, 1);
    assert_int_equal(st->ops->space(st, &bytes, NULL), 0);
    assert_true(bytes > 0);
    put(&s, 0, 100, 0);
    assert_true(s.o->ops->resize(s.o, (uint64_t)1 << 62, &err) < 0);
    check_all(&s, 100);
    sheet_done(&s);
}
