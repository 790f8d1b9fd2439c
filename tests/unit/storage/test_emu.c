/* test_emu.c - the emulated device as a store: contents, errors, and times that
 * are never shorter than the device's.
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

#include "base/clock.h"
#include "base/mem.h"
#include "storage/storage.h"

#define MS   WR_NS_PER_MS
#define SIZE ((size_t)20000)

static char dir[256];

static void put(const char *name, const void *bytes, size_t len)
{
    char path[300];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
}

/* 10 ms a read and 1 ms a byte in 1000; all one after the other. */
static const char slow[] = "read_latency = 10 ms\n"
                           "write_latency = 1 ms\n"
                           "meta_latency = 5 ms\n"
                           "sync_latency = 3 ms\n"
                           "read_bandwidth = 1 MB/s\n"
                           "write_bandwidth = 1 MB/s\n"
                           "write_cache = 10 KB\n"
                           "channels = 1\n";

static const char ages[] = "like = null\n"
                           "read_latency = 60 s\n"
                           "write_bandwidth = 1 KB/s\n"
                           "write_latency = 60 s\n"
                           "channels = 1\n";

static int setup(void **state)
{
    const char *base = getenv("TMPDIR");
    static uint8_t bytes[SIZE];

    (void)state;
    snprintf(dir, sizeof(dir), "%s/weir-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(dir))
        return -1;
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 7 + (i >> 8));
    put("a", bytes, SIZE);
    put("b", bytes, SIZE);
    put("slow.profile", slow, strlen(slow));
    put("ages.profile", ages, strlen(ages));
    put("wrong.profile", "like = hdd\nseek = never\n", 24);
    return 0;
}

static int teardown(void **state)
{
    static const char *const names[] = {
        "a", "b", "new", "slow.profile", "ages.profile", "wrong.profile"};
    char path[300];

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        unlink(path);
    }
    return rmdir(dir);
}

static struct wr_store *open_as(const char *profile, const char *inner)
{
    struct wr_store *st = NULL;
    char url[900], *leaf = NULL;
    weir_err err;

    snprintf(url, sizeof(url), "emu:%s/%s:%s%s", dir, profile, inner, dir);
    if (wr_store_open(url, &st, &leaf, &err) < 0)
        fail_msg("%s", err.msg);
    assert_null(leaf);
    return st;
}

static struct wr_store *open_slow(const char *inner)
{
    return open_as("slow.profile", inner);
}

static struct wr_queue *open_queue(struct wr_store *st, unsigned depth)
{
    struct wr_queue_config cfg = {.depth = depth, .io = WEIR_IO_AUTO};
    struct wr_queue *q = NULL;

    assert_int_equal(st->ops->queue_open(st, &cfg, &q, NULL), 0);
    return q;
}

static void at_least(uint64_t since, uint64_t ns)
{
    uint64_t took = wr_clock_ns() - since;

    if (took < ns)
        fail_msg("took %.3f ms, the device takes %.3f ms", (double)took / 1e6,
                 (double)ns / 1e6);
}

static void check_bytes(const uint8_t *bytes, size_t from, size_t len)
{
    for (size_t i = from; i < from + len; i++)
        assert_int_equal(bytes[i - from], (uint8_t)(i * 7 + (i >> 8)));
}

static void urls(void **state)
{
    static const struct {
        const char *before, *behind; /* the folder */
        int code;
        const char *text;
    } table[] = {
        {"emu:hdd", NULL, WEIR_EINVAL, "'emu:hdd': write emu:PROFILE:PATH"},
        {"emu:disk:", "", WEIR_EINVAL, "'disk': no such device profile (there"},
        {"emu:", "/none.profile:/", WEIR_ENOENT, "none.profile"},
        {"emu:", "/wrong.profile:/", WEIR_EFORMAT,
         "wrong.profile': line 2: seek: 'never' is not a number"},
        {"emu:hdd:", "/none", WEIR_ENOENT, "none"},
        {"emu:hdd:emu:x:", "", WEIR_EINVAL, "'x': no such device profile"},
    };

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(table); i++) {
        struct wr_store *st = NULL;
        char url[600], *leaf = NULL;
        weir_err err;

        snprintf(url, sizeof(url), "%s%s%s", table[i].before,
                 table[i].behind ? dir : "",
                 table[i].behind ? table[i].behind : "");
        assert_int_equal(wr_store_open(url, &st, &leaf, &err), table[i].code);
        assert_null(st);
        assert_null(leaf);
        if (!strstr(err.msg, table[i].text))
            fail_msg("'%s' says \"%s\"", url, err.msg);
    }
}

/* Opened, read, one after the other, all asked for at once. */
static void a_queue_takes_the_devices_time(void **state)
{
    struct wr_store *st = open_slow("");
    struct wr_queue *q = open_queue(st, 4);
    static uint8_t bufs[4][SIZE + 1];
    struct wr_io ios[4], *list[4], *back[4];
    uint64_t since = wr_clock_ns();
    unsigned n = 0;
    bool wait = false;

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        ios[i] = (struct wr_io){.path = i % 2 ? "a" : "b",
                                .offset = i * 1000,
                                .len = 5000,
                                .buf = bufs[i],
                                .cap = SIZE + 1,
                                .tag = i};
        list[i] = &ios[i];
    }
    assert_int_equal(q->ops->submit(q, list, 4), 4);
    while (n < 4) {
        unsigned more = q->ops->reap(q, back, 4, wait);

        assert_true(more >= wait);
        wait = true;
        for (unsigned i = 0; i < more; i++, n++) {
            assert_int_equal(back[i]->tag, n); /* first come, first served */
            assert_int_equal(back[i]->result, 0);
            check_bytes(back[i]->data, n * 1000, 5000);
            at_least(since, (n + 1) * 20 * MS);
        }
    }
    assert_int_equal(q->ops->reap(q, back, 4, /* wait= */ true), 0);
    q->ops->close(q);
    wr_store_close(st);
}

static void objects_take_the_devices_time(void **state)
{
    struct wr_store *st = open_slow("");
    static uint8_t buf[SIZE];
    struct wr_object *o = NULL;
    struct wr_stat sb;
    uint64_t t = wr_clock_ns();

    (void)state;
    assert_int_equal(st->ops->stat(st, "a", &sb, NULL), 0);
    assert_int_equal(sb.size, SIZE);
    at_least(t, 5 * MS);
    t = wr_clock_ns();
    assert_int_equal(st->ops->object_open(st, "a", WR_OPEN_READ, &o, NULL), 0);
    at_least(t, 5 * MS);
    t = wr_clock_ns();
    assert_int_equal(o->ops->read(o, buf, 3000, 7, NULL), 3000);
    at_least(t, 13 * MS);
    check_bytes(buf, 7, 3000);
    t = wr_clock_ns();
    assert_int_equal(o->ops->read(o, buf, SIZE, SIZE - 100, NULL), 100);
    at_least(t, 10 * MS);
    assert_int_equal(o->ops->read(o, buf, SIZE, SIZE, NULL), 0);
    assert_int_equal(o->ops->close(o, /* sync= */ false, NULL), 0);
    t = wr_clock_ns();
    assert_int_equal(st->ops->object_open(st, "new", WR_OPEN_CREATE, &o, NULL),
                     0);
    assert_int_equal(o->ops->write(o, buf, SIZE, 0, NULL), 0);
    at_least(t, 5 * MS + 10 * MS); /* half of it fits in the cache */
    assert_int_equal(o->ops->sync(o, NULL), 0);
    at_least(t, 5 * MS + 20 * MS + 3 * MS);
    t = wr_clock_ns();
    assert_int_equal(o->ops->resize(o, 10, NULL), 0);
    at_least(t, 5 * MS);
    t = wr_clock_ns();
    assert_int_equal(o->ops->close(o, /* sync= */ true, NULL), 0);
    at_least(t, 3 * MS);
    t = wr_clock_ns();
    assert_int_equal(st->ops->change(st, WR_REMOVE, "new", NULL, NULL), 0);
    at_least(t, 5 * MS);
    t = wr_clock_ns();
    assert_int_equal(st->ops->change(st, WR_SYNC_DIR, "", NULL, NULL), 0);
    at_least(t, 3 * MS);
    wr_store_close(st);
}

/* Two stores of one place are one disk, however the place is written; the bound
 * is what one device takes for both, which two would halve. */
static void stores_of_one_place_share_the_device(void **state)
{
    struct wr_store *st[2] = {open_slow(""), NULL};
    struct wr_queue *q[2];
    static uint8_t bufs[8][SIZE + 1];
    struct wr_io ios[8], *one, *back[4];
    uint64_t since = wr_clock_ns();
    char url[900], *leaf = NULL;

    (void)state;
    snprintf(url, sizeof(url), "emu:%s/slow.profile:%s/./a", dir, dir);
    assert_int_equal(wr_store_open(url, &st[1], &leaf, NULL), 0);
    assert_string_equal(leaf, "a");
    free(leaf);
    for (unsigned k = 0; k < 2; k++)
        q[k] = open_queue(st[k], 4);
    for (unsigned i = 0; i < 8; i++) {
        ios[i] = (struct wr_io){
            .path = "a", .len = 5000, .buf = bufs[i], .cap = SIZE + 1};
        one = &ios[i];
        assert_int_equal(q[i % 2]->ops->submit(q[i % 2], &one, 1), 1);
    }
    for (unsigned k = 0; k < 2; k++) {
        for (unsigned n = 0; n < 4;)
            n += q[k]->ops->reap(q[k], back, 4, /* wait= */ true);
        q[k]->ops->close(q[k]);
    }
    at_least(since, 8 * 20 * MS);
    wr_store_close(st[0]);
    /* The other one goes on with the device. */
    assert_int_equal(st[1]->ops->stat(st[1], "a", &(struct wr_stat){0}, NULL),
                     0);
    wr_store_close(st[1]);
}

static void errors_pass_through(void **state)
{
    struct wr_store *st = open_slow("fault:eio@2,write-enospc,sync-eio:");
    struct wr_queue *q = open_queue(st, 2);
    struct wr_object *o = NULL;
    static uint8_t buf[SIZE + 1];
    struct wr_io io = {.path = "none", .len = 10, .buf = buf, .cap = SIZE + 1};
    struct wr_io *one = &io, *back = NULL;
    weir_err err;

    (void)state;
    assert_int_equal(q->ops->submit(q, &one, 1), 1);
    assert_int_equal(q->ops->reap(q, &back, 1, /* wait= */ true), 1);
    assert_ptr_equal(back, &io);
    assert_int_equal(io.result, WEIR_ENOENT);
    io.path = "a";
    assert_int_equal(q->ops->submit(q, &one, 1), 1);
    assert_int_equal(q->ops->reap(q, &back, 1, /* wait= */ true), 1);
    assert_int_equal(io.result, WEIR_EIO);
    wr_io_error(&io, "x", &err);
    assert_string_equal(
        err.msg, "'x': cannot read 10 bytes at offset 0: Input/output error");
    assert_int_equal(st->ops->object_open(st, "a", WR_OPEN_WRITE, &o, NULL), 0);
    assert_int_equal(o->ops->write(o, "x", 1, 0, &err), WEIR_ENOSPC);
    assert_int_equal(o->ops->sync(o, &err), WEIR_EIO);
    io = (struct wr_io){.op = WR_IO_WRITE, .object = o, .len = 1, .buf = buf};
    assert_int_equal(q->ops->submit(q, &one, 1), 1);
    assert_int_equal(q->ops->reap(q, &back, 1, /* wait= */ true), 1);
    assert_int_equal(io.result, WEIR_ENOSPC);
    assert_ptr_equal(io.object, o);
    assert_int_equal(o->ops->close(o, /* sync= */ false, NULL), 0);
    q->ops->close(q);
    wr_store_close(st);
}

/* Inside it takes longer than the device would. */
static void a_late_one_is_waited_for(void **state)
{
    struct wr_store *st = open_slow("fault:delay=200@1:");
    struct wr_queue *q = open_queue(st, 3);
    static uint8_t bufs[3][SIZE + 1];
    struct wr_io ios[3], *list[3], *back[3];
    uint64_t since = wr_clock_ns();
    unsigned n = 0;

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        ios[i] = (struct wr_io){
            .path = "a", .len = 100, .buf = bufs[i], .cap = SIZE + 1, .tag = i};
        list[i] = &ios[i];
    }
    assert_int_equal(q->ops->submit(q, list, 3), 3);
    while (n < 3)
        n += q->ops->reap(q, back + n, 3 - n, /* wait= */ true);
    at_least(since, 200 * MS);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(ios[i].result, 0);
        check_bytes(ios[i].data, 0, 100);
    }
    q->ops->close(q);
    wr_store_close(st);
}

/* Who does not want it any more need not wait for the device: this one would
 * take minutes. */
static void closing_does_not_wait_for_the_device(void **state)
{
    static const enum weir_io how[] = {WEIR_IO_AUTO, WEIR_IO_BLOCKING};
    static uint8_t bufs[4][SIZE + 1];

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(how); k++) {
        struct wr_store *st = open_as("ages.profile", "");
        struct wr_queue_config cfg = {.depth = 4, .io = how[k], .lazy = k == 0};
        struct wr_queue *q = NULL;
        struct wr_object *o = NULL;
        struct wr_io ios[4], *list[4], *back[4];

        assert_int_equal(st->ops->queue_open(st, &cfg, &q, NULL), 0);
        assert_int_equal(st->ops->object_open(st, "b", WR_OPEN_WRITE, &o, NULL),
                         0);
        memset(bufs, 0, sizeof(bufs));
        for (unsigned i = 0; i < 4; i++) {
            ios[i] = (struct wr_io){
                .path = "a", .len = SIZE, .buf = bufs[i], .cap = SIZE + 1};
            list[i] = &ios[i];
        }
        memcpy(bufs[3], "\0\7", 2); /* what is there */
        ios[3] = (struct wr_io){
            .op = WR_IO_WRITE, .object = o, .len = 2, .buf = bufs[3]};
        assert_int_equal(q->ops->submit(q, list, 4), 4);
        assert_int_equal(q->ops->submit(q, list, 1), 0); /* full */
        assert_int_equal(q->ops->reap(q, back, 4, /* wait= */ false), 0);
        q->ops->close(q);
        for (unsigned i = 0; i < 3; i++) /* it was waited for inside */
            check_bytes(bufs[i], 0, SIZE);
        assert_int_equal(o->ops->close(o, /* sync= */ false, NULL), 0);
        wr_store_close(st);
    }
}

static void *read_some(void *arg)
{
    struct wr_store *st = arg;
    char *text = NULL;
    size_t len;

    for (int i = 0; i < 3; i++) {
        if (wr_store_slurp(st, "b", SIZE, &text, &len, NULL) < 0)
            return NULL;
        free(text);
    }
    return st;
}

/* They share one device: its time is the sum. */
static void threads_share_the_device(void **state)
{
    struct wr_store *st = open_slow("");
    uint64_t t = wr_clock_ns();
    pthread_t threads[4];
    void *ret;

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_some, st), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &ret);
        assert_ptr_equal(ret, st);
    }
    at_least(t, 12 * (5 + 10 + 20) * MS);
    wr_store_close(st);
}

static void *hurry(void *q)
{
    wr_clock_sleep_until(wr_clock_ns() +
                         20 * MS); /* it waits by then, likely */
    wr_queue_hurry(q);
    return NULL;
}

/* One who gives up need not wait for a device that answers in a minute, nor for
 * a store inside that is late by an hour; the answers are right. */
static void hurried_queues_answer_at_once(void **state)
{
    static const char *const inner[] = {"", "fault:delay=3600000:"};

    (void)state;
    for (size_t k = 0; k < WR_ARRAY_LEN(inner); k++) {
        struct wr_store *st = open_as("ages.profile", inner[k]);
        struct wr_queue *q = open_queue(st, 4);
        static uint8_t bufs[4][SIZE + 1];
        struct wr_io ios[4], *back[4];
        pthread_t thread;
        unsigned n = 0;

        for (unsigned i = 0; i < 4; i++) {
            struct wr_io *io = &ios[i];

            *io = (struct wr_io){
                .path = "a", .len = SIZE, .buf = bufs[i], .cap = SIZE + 1};
            assert_int_equal(q->ops->submit(q, &io, 1), 1);
        }
        assert_int_equal(q->ops->reap(q, back, 4, /* wait= */ false), 0);
        assert_int_equal(pthread_create(&thread, NULL, hurry, q), 0);
        while (n < 4)
            n += q->ops->reap(q, back + n, 4 - n, /* wait= */ true);
        pthread_join(thread, NULL);
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(ios[i].result, 0);
            check_bytes(ios[i].data, 0, SIZE);
        }
        q->ops->close(q);
        wr_store_close(st);
    }
    wr_queue_hurry(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls),
        cmocka_unit_test(a_queue_takes_the_devices_time),
        cmocka_unit_test(objects_take_the_devices_time),
        cmocka_unit_test(stores_of_one_place_share_the_device),
        cmocka_unit_test(errors_pass_through),
        cmocka_unit_test(a_late_one_is_waited_for),
        cmocka_unit_test(closing_does_not_wait_for_the_device),
        cmocka_unit_test(hurried_queues_answer_at_once),
        cmocka_unit_test(threads_share_the_device),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
