/* test_meter.c - a meter counts each read once, and how it lies to the last.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "storage/meter.h"

#define SIZE    ((size_t)20000)
#define THREADS 4u
#define ROUNDS  200u

static char dir[256];

struct metered {
    struct wr_meter *meter;
    struct wr_store *inner, *st;
};

static void put(const char *name)
{
    char path[300];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < SIZE; i++)
        fputc((int)(i * 7 + (i >> 8)), f);
    assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");

    (void)state;
    snprintf(dir, sizeof(dir), "%s/weir-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dir))
        return -1;
    put("a");
    put("b");
    return 0;
}

static int teardown(void **state)
{
    char path[300];

    (void)state;
    for (const char *name = "ab"; *name; name++) {
        snprintf(path, sizeof(path), "%s/%c", dir, *name);
        unlink(path);
    }
    return rmdir(dir);
}

static struct metered open_metered(const char *prefix)
{
    struct metered b = {0};
    char url[400], *leaf = NULL;

    snprintf(url, sizeof(url), "%s%s", prefix, dir);
    assert_int_equal(wr_store_open(url, &b.inner, &leaf, NULL), 0);
    assert_int_equal(wr_meter_new(&b.meter, NULL), 0);
    assert_int_equal(wr_meter_wrap(b.meter, b.inner, &b.st, NULL), 0);
    return b;
}

static void close_metered(struct metered *b)
{
    wr_store_close(b->st);
    wr_store_close(b->inner);
    wr_meter_free(b->meter);
}

static struct wr_queue *open_queue(struct wr_store *st, unsigned depth)
{
    struct wr_queue_config cfg = {.depth = depth, .io = WEIR_IO_BLOCKING};
    struct wr_queue *q = NULL;

    assert_int_equal(st->ops->queue_open(st, &cfg, &q, NULL), 0);
    return q;
}

/* One read, from beginning to end; returns its result. */
static int read_at(struct wr_queue *q, const char *path, uint64_t offset,
                   size_t len)
{
    static const size_t cap = SIZE + 8192;
    uint8_t *buf = aligned_alloc(4096, WR_ALIGN_UP(cap, (size_t)4096));
    struct wr_io rd = {.path = path,
                       .offset = offset,
                       .len = len,
                       .buf = buf,
                       .cap = cap,
                       .whole = offset + len == SIZE};
    struct wr_io *one = &rd;

    assert_int_equal(q->ops->submit(q, &one, 1), 1);
    one = NULL;
    assert_int_equal(q->ops->reap(q, &one, 1, /* wait= */ true), 1);
    assert_ptr_equal(one, &rd);
    assert_ptr_equal(rd.path, path);
    if (rd.result == 0)
        assert_int_equal(rd.data[0], (uint8_t)(offset * 7 + (offset >> 8)));
    free(buf);
    return rd.result;
}

static struct wr_meter_counts *take(struct wr_meter *m)
{
    struct wr_meter_counts *c = malloc(sizeof(*c));

    memset(c, 0x55, sizeof(*c));
    wr_meter_take(m, c);
    return c;
}

static void reads_are_counted_by_place(void **state)
{
    static const struct {
        const char *path;
        unsigned offset, len;
        bool sequential, consecutive, whole;
    } steps[] = {
        {"a", 0, 100, true, true, false},   /* the first one, at 0 */
        {"a", 100, 100, true, true, false}, /* at the end of the last */
        {"a", 300, 50, true, false, false}, /* past it */
        {"a", 200, 50, false, false, false},
        {"b", 500, 100, true, true, false}, /* behind a header */
        {"a", 250, 10, true, true, false},  /* others are in between */
        {"a", 0, SIZE, true, true, true},
        {"a", 0, SIZE, true, true, true}, /* of the next epoch */
        {"a", 0, 10, true, true, false},  /* a pass begins */
        {"a", 0, 10, false, false, false},
        {"a", 9000, 10, true, false, false},
        {"a", 5000, 10, false, false, false},
        {"b", 600, SIZE - 600, true, true, false}, /* its end, not all */
    };
    struct metered b = open_metered("");
    struct wr_queue *q = open_queue(b.st, 2);
    struct wr_meter_counts want = {0}, *c;

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(steps); i++) {
        assert_int_equal(
            read_at(q, steps[i].path, steps[i].offset, steps[i].len), 0);
        want.bytes += steps[i].len;
        want.sequential += steps[i].sequential;
        want.consecutive += steps[i].consecutive;
        want.whole_files += steps[i].whole;
        c = take(b.meter);
        assert_int_equal(c->reads, i + 1);
        assert_int_equal(c->opens, i + 1);
        assert_int_equal(c->bytes, want.bytes);
        assert_int_equal(c->sequential, want.sequential);
        assert_int_equal(c->consecutive, want.consecutive);
        assert_int_equal(c->whole_files, want.whole_files);
        assert_int_equal(c->latency_ns.count, i + 1);
        assert_int_equal(c->sizes.sum, want.bytes);
        assert_true(c->latency_ns.min > 0);
        assert_true(c->busy_ns > 0);
        free(c);
    }
    q->ops->close(q);
    c = take(b.meter); /* a closed queue's counts stay */
    assert_int_equal(c->reads, WR_ARRAY_LEN(steps));
    assert_int_equal(c->sizes.count, WR_ARRAY_LEN(steps));
    free(c);
    close_metered(&b);
}

static void errors_are_told_and_counted(void **state)
{
    struct metered b = open_metered("fault:eio@2:");
    struct wr_queue *q = open_queue(b.st, 1);
    struct wr_meter_counts *c;

    (void)state;
    assert_int_equal(read_at(q, "a", 0, 10), 0);
    assert_int_equal(read_at(q, "a", 10, 10), WEIR_EIO);
    assert_int_equal(read_at(q, "none", 0, 10), WEIR_ENOENT);
    assert_int_equal(read_at(q, "a", 20, 10), 0);
    q->ops->close(q);
    c = take(b.meter);
    assert_int_equal(c->reads, 2);
    assert_int_equal(c->errors, 2);
    assert_int_equal(c->bytes, 20);
    assert_int_equal(c->latency_ns.count, 2);
    free(c);
    close_metered(&b);
}

static void objects_are_measured_too(void **state)
{
    struct metered b = open_metered("");
    struct wr_meter_counts *c;
    struct wr_object *o = NULL;
    char *buf = malloc(2 * SIZE);
    weir_err err;

    (void)state;
    assert_int_equal(
        b.st->ops->object_open(b.st, "none", WR_OPEN_READ, &o, &err),
        WEIR_ENOENT);
    assert_int_equal(b.st->ops->object_open(b.st, "a", WR_OPEN_READ, &o, NULL),
                     0);
    assert_int_equal(o->ops->read(o, buf, 2 * SIZE, 0, NULL), SIZE);
    assert_int_equal(o->ops->read(o, buf, 100, SIZE, NULL), 0); /* the end */
    assert_int_equal(o->ops->read(o, buf, 100, 5000, NULL), 100);
    assert_int_equal(o->ops->read(o, buf, 100, 5100, NULL), 100);
    c = take(b.meter);
    assert_int_equal(c->opens, 1);
    assert_int_equal(c->reads, 3);
    assert_int_equal(c->bytes, SIZE + 200);
    assert_int_equal(c->whole_files, 1);
    assert_int_equal(c->consecutive, 2);
    assert_int_equal(c->sequential, 2);
    assert_int_equal(c->errors, 0);
    free(c);
    assert_int_equal(o->ops->close(o, /* sync= */ false, NULL), 0);
    free(buf);
    close_metered(&b);
}

/* By given times, in the meter's steps of 64 ns. */
static void time_in_use_is_a_union(void **state)
{
    struct wr_meter_counts *c;
    struct wr_meter *m = NULL;

    (void)state;
    assert_int_equal(wr_meter_new(&m, NULL), 0);
    wr_meter_busy(m, 6400);
    wr_meter_busy(m, 7040);
    wr_meter_idle(m, 12800);
    wr_meter_idle(m, 19200);
    wr_meter_busy(m, 64000);
    wr_meter_idle(m, 70400);
    c = take(m);
    assert_int_equal(c->busy_ns, 19200 - 6400 + 6400);
    free(c);
    wr_meter_free(m);
    wr_meter_free(NULL);
}

static void counts_add_up(void **state)
{
    struct wr_meter_counts *a = calloc(1, sizeof(*a)), *b = malloc(sizeof(*b));

    (void)state;
    *a = (struct wr_meter_counts){.reads = 1,
                                  .bytes = 10,
                                  .errors = 2,
                                  .sequential = 3,
                                  .consecutive = 4,
                                  .whole_files = 5,
                                  .opens = 6,
                                  .busy_ns = 7};
    wr_hist_add(&a->sizes, 10);
    wr_hist_add(&a->latency_ns, 1000);
    *b = *a;
    wr_meter_add(b, a);
    assert_int_equal(b->reads, 2);
    assert_int_equal(b->bytes, 20);
    assert_int_equal(b->errors, 4);
    assert_int_equal(b->sequential, 6);
    assert_int_equal(b->consecutive, 8);
    assert_int_equal(b->whole_files, 10);
    assert_int_equal(b->opens, 12);
    assert_int_equal(b->busy_ns, 14);
    assert_int_equal(b->sizes.count, 2);
    assert_int_equal(b->latency_ns.sum, 2000);
    free(a);
    free(b);
}

static void *read_much(void *arg)
{
    struct metered *b = arg;

    for (unsigned i = 0; i < ROUNDS / 50; i++) {
        struct wr_queue *q = open_queue(b->st, 3);

        for (unsigned k = 0; k < 50; k++)
            assert_int_equal(read_at(q, k % 2 ? "a" : "b", k * 16, 16), 0);
        q->ops->close(q);
    }
    return NULL;
}

static void many_threads_lose_nothing(void **state)
{
    struct metered b = open_metered("");
    pthread_t threads[THREADS];
    struct wr_meter_counts *c;
    uint64_t before = 0;

    (void)state;
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_much, &b), 0);
    for (unsigned i = 0; i < 20; i++) { /* meanwhile: never less than before */
        c = take(b.meter);
        assert_true(c->reads >= before);
        assert_int_equal(c->reads, c->sizes.count);
        before = c->reads;
        free(c);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    c = take(b.meter);
    assert_int_equal(c->reads, THREADS * ROUNDS);
    assert_int_equal(c->bytes, THREADS * ROUNDS * 16);
    assert_true(c->busy_ns > 0 && c->busy_ns <= c->latency_ns.sum + 64000);
    free(c);
    close_metered(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_are_counted_by_place),
        cmocka_unit_test(errors_are_told_and_counted),
        cmocka_unit_test(objects_are_measured_too),
        cmocka_unit_test(time_in_use_is_a_union),
        cmocka_unit_test(counts_add_up),
        cmocka_unit_test(many_threads_lose_nothing),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
