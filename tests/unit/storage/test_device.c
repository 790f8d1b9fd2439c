/* test_device.c - the device model in virtual time.
 * SPDX-License-Identifier: Apache-2.0 */
#include "storage/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"

#define MIB (UINT64_C(1) << 20)

static struct wr_device *device(const struct wr_device_profile *p)
{
    struct wr_device *d = NULL;

    assert_int_equal(wr_device_new(p, &d, NULL), 0);
    return d;
}

static struct wr_device_profile profile(const char *name)
{
    struct wr_device_profile p;

    assert_int_equal(wr_device_profile_find(name, &p, NULL), 0);
    return p;
}

static struct wr_device *built_in(const char *name)
{
    struct wr_device_profile p = profile(name);

    return device(&p);
}

static uint64_t rd(struct wr_device *d, uint64_t object, uint64_t offset,
                   uint64_t len, uint64_t now)
{
    return wr_device_submit(d,
                            &(struct wr_device_request){.op = WR_DEVICE_READ,
                                                        .object = object,
                                                        .offset = offset,
                                                        .len = len},
                            now);
}

static uint64_t wr(struct wr_device *d, uint64_t object, uint64_t offset,
                   uint64_t len, uint64_t now)
{
    return wr_device_submit(d,
                            &(struct wr_device_request){.op = WR_DEVICE_WRITE,
                                                        .object = object,
                                                        .offset = offset,
                                                        .len = len},
                            now);
}

static uint64_t other(struct wr_device *d, enum wr_device_op op, uint64_t now)
{
    return wr_device_submit(d, &(struct wr_device_request){.op = op}, now);
}

static void within(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= fabs(want) * tolerance))
        fail_msg("%s: %g, wanted %g (within %g %%)", what, got, want,
                 tolerance * 100);
}

/* The next of `n` clients to act is the one whose last request ends first. */
static unsigned earliest(const uint64_t *at, unsigned n)
{
    unsigned k = 0;

    for (unsigned i = 1; i < n; i++)
        if (at[i] < at[k])
            k = i;
    return k;
}

/* Files per second that `readers` threads get: open, read, close. */
static double files_per_s(const char *name, unsigned readers, bool in_one)
{
    struct wr_device *d = built_in(name);
    uint64_t at[8] = {0}, file = 0, begin = 0;
    bool opened[8] = {false};
    const uint64_t warm_up = 200, files = 2200;
    double rate;

    for (unsigned i = 0; i < readers; i++)
        at[i] = i * 1000;
    while (file < files) {
        unsigned k = earliest(at, readers);
        struct wr_device_request rq = {.op = WR_DEVICE_META};

        if (in_one || opened[k]) {
            rq = (struct wr_device_request){.op = WR_DEVICE_READ,
                                            .object = file++,
                                            .len = 112000,
                                            .opens = in_one};
            if (file == warm_up)
                begin = at[k];
        }
        opened[k] = !opened[k];
        at[k] = wr_device_submit(d, &rq, at[k]);
    }
    rate = (double)(files - warm_up) /
           (double)(at[earliest(at, readers)] - begin) * 1e9;
    wr_device_free(d);
    return rate;
}

static void readers_scale_as_in_the_paper(void **state)
{
    static const struct {
        const char *name;
        unsigned readers;
        double gain, tolerance;
    } table[] = {
        {"hdd", 2, 1.65, 0.02},    {"hdd", 4, 1.95, 0.02},
        {"hdd", 8, 2.3, 0.02},     {"lustre", 8, 7.8, 0.02},
        {"ssd", 2, 1.85, 0.05},    {"optane", 2, 1.95, 0.05},
        {"lustre", 2, 1.98, 0.02},
    };

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(table); i++)
        for (int in_one = 0; in_one < 2; in_one++) {
            double one = files_per_s(table[i].name, 1, in_one);

            within(files_per_s(table[i].name, table[i].readers, in_one) / one,
                   table[i].gain, table[i].tolerance, table[i].name);
        }
}

/* Bytes per second of a stream of 1 MiB requests, `depth` at a time. */
static double stream(struct wr_device *d, enum wr_device_op op, unsigned depth)
{
    const uint64_t n = 2000, warm_up = 1000; /* caches are full by then */
    uint64_t at[64] = {0}, begin = 0, end = 0;

    for (uint64_t i = 0; i < n; i++) {
        unsigned k = earliest(at, depth);

        at[k] = (op == WR_DEVICE_READ ? rd : wr)(d, 1, i * MIB, MIB, at[k]);
        end = WR_MAX(end, at[k]);
        if (i + 1 == warm_up)
            begin = end;
    }
    return (double)((n - warm_up) * MIB) / (double)(end - begin) * 1e9;
}

static void bandwidth_is_the_profiles(void **state)
{
    static const unsigned depths[] = {1, 2, 16, 64};
    const struct wr_device_profile *p;

    (void)state;
    for (unsigned k = 0; (p = wr_device_profile_at(k)); k++) {
        if (p->read_bytes_per_s == 0)
            continue;
        for (size_t i = 0; i < WR_ARRAY_LEN(depths); i++) {
            struct wr_device *d = device(p);
            double rate = stream(d, WR_DEVICE_READ, depths[i]);

            assert_true(rate <= p->read_bytes_per_s * 1.001);
            if (depths[i] >= 16 || !strcmp(p->name, "hdd") ||
                !strcmp(p->name, "ssd"))
                within(rate, p->read_bytes_per_s, 0.02, p->name);
            wr_device_free(d);
            d = device(p);
            rate = stream(d, WR_DEVICE_WRITE, depths[i]);
            within(rate, p->write_bytes_per_s, 0.02, p->name);
            wr_device_free(d);
        }
    }
}

static void table_one(void **state)
{
    static const struct {
        const char *name;
        double read, write;
    } table[] = {{"hdd", 163.00e6, 133.14e6},
                 {"ssd", 280.55e6, 195.05e6},
                 {"optane", 1603.06e6, 511.78e6},
                 {"lustre", 1968.618e6, 991.914e6}};

    (void)state;
    for (size_t i = 0; i < WR_ARRAY_LEN(table); i++) {
        struct wr_device_profile p = profile(table[i].name);

        within(p.read_bytes_per_s, table[i].read, 1e-9, p.name);
        within(p.write_bytes_per_s, table[i].write, 1e-9, p.name);
    }
}

/* 1 us latency, 1 GB/s (a byte takes 1 ns), 10 us seeks. */
static struct wr_device_profile plain(void)
{
    return (struct wr_device_profile){
        .name = "plain",
        .read_latency_us = 1,
        .write_latency_us = 2,
        .meta_latency_us = 5,
        .sync_latency_us = 7,
        .read_bytes_per_s = 1e9,
        .write_bytes_per_s = 1e9,
        .channels = 1,
        .seek_us = 10,
        .near_bytes = 1000,
    };
}

static void one_request_costs_its_parts(void **state)
{
    struct wr_device_profile p = plain();
    struct wr_device *d = device(&p);

    (void)state;
    assert_int_equal(rd(d, 1, 0, 500, 100), 100 + 1000 + 10000 + 500);
    assert_int_equal(rd(d, 1, 500, 500, 50000), 50000 + 1000 + 500);
    assert_int_equal(rd(d, 2, 1000, 500, 100000), 100000 + 11000 + 500);
    assert_int_equal(other(d, WR_DEVICE_META, 200000), 205000);
    assert_int_equal(other(d, WR_DEVICE_SYNC, 300000), 307000);
    assert_int_equal(
        wr_device_submit(d,
                         &(struct wr_device_request){.op = WR_DEVICE_READ,
                                                     .object = 2,
                                                     .offset = 1500,
                                                     .len = 100,
                                                     .opens = true},
                         400000),
        400000 + 5000 + 1000 + 100);
    wr_device_free(d);
}

static void near_requests_may_come_out_of_order(void **state)
{
    struct wr_device_profile p = plain();
    struct wr_device *d = device(&p);
    static const uint64_t order[] = {0, 200, 100, 400, 300, 600, 500};
    uint64_t t = 0;

    (void)state;
    t = rd(d, 1, 0, 100, t);
    for (size_t i = 0; i < WR_ARRAY_LEN(order); i++) {
        uint64_t done = rd(d, 1, 100 + order[i], 100, t);

        assert_int_equal(done - t, 1100);
        t = done;
    }
    assert_int_equal(rd(d, 1, 600 + 1000, 100, t) - t, 1100);
    t += 1100; /* the end is at 1700: 1001 bytes away is a seek */
    assert_int_equal(rd(d, 1, 1700 + 1001, 100, t) - t, 11100);
    t += 11100;
    assert_int_equal(rd(d, 1, 2801 - 1001, 100, t) - t, 11100);
    wr_device_free(d);
}

static void channels_work_at_once_and_share_the_bus(void **state)
{
    struct wr_device_profile p = plain();
    struct wr_device *d;

    (void)state;
    p.channels = 2;
    p.read_latency_us = 100;
    p.seek_us = 0;
    d = device(&p);
    assert_int_equal(rd(d, 1, 0, 1000, 0), 101000);
    assert_int_equal(rd(d, 2, 0, 1000, 0), 102000); /* behind it on the bus */
    assert_int_equal(rd(d, 3, 0, 1000, 0), 202000); /* first free: 101000 */
    assert_int_equal(rd(d, 4, 0, 1000, 0), 203000);
    wr_device_free(d);
    p.channels = 0;
    d = device(&p);
    for (uint64_t i = 0; i < 50; i++)
        assert_int_equal(rd(d, i, 0, 1000, 0), 101000 + i * 1000);
    wr_device_free(d);
}

/* A transfer that is ready goes before one that waits for its seek, and into
 * a gap only when it fits. */
static void the_bus_has_no_idle_queue(void **state)
{
    struct wr_device_profile p = plain();
    struct wr_device *d;

    (void)state;
    p.channels = 4;
    d = device(&p);
    assert_int_equal(rd(d, 1, 0, 100, 0), 11100); /* bus from 11000 on */
    assert_int_equal(rd(d, 1, 100, 2000, 0), 3000);
    assert_int_equal(rd(d, 1, 2100, 9000, 0), 20100); /* 8000 is the gap */
    assert_int_equal(rd(d, 1, 11100, 8000, 1000), 11000);
    wr_device_free(d);
}

static void many_gaps_are_no_trouble(void **state)
{
    struct wr_device_profile p = plain();
    struct wr_device *d;
    uint64_t last = 0;

    (void)state;
    p.channels = 0;
    p.near_bytes = 0;
    d = device(&p);
    for (uint64_t i = 0; i < 500; i++) { /* a transfer every 2000 ns */
        uint64_t done = rd(d, i, 0, 100, i * 20);

        assert_true(done >= i * 20 + 11100);
        assert_true(done >= last + 20 && done <= last + 11100);
        last = done;
    }
    wr_device_free(d);
}

static void seeks_follow_the_law(void **state)
{
    struct wr_device_profile p = plain();
    struct wr_device *d;

    (void)state;
    p.seek_law[0] = (struct wr_seek_point){1, 1};
    p.seek_law[1] = (struct wr_seek_point){4, 0.25};
    p.seek_points = 2;
    p.channels = 0;
    p.read_bytes_per_s = 0;
    d = device(&p);
    assert_int_equal(rd(d, 1, 0, 1, 0), 11000);
    assert_int_equal(rd(d, 2, 0, 1, 0), 6000); /* half way in logarithms */
    rd(d, 3, 0, 1, 0);
    assert_int_equal(rd(d, 4, 0, 1, 0), 3500);
    for (uint64_t i = 5; i < 40; i++)
        assert_int_equal(rd(d, i, 0, 1, 0), 3500);   /* holds past the end */
    assert_int_equal(rd(d, 99, 0, 1, 20000), 31000); /* all are gone by now */
    wr_device_free(d);
}

/* Whose answer left early asks again before the device is done: it is alone all
 * the same, and the device is not faster for it. */
static void answers_that_left_early_wait_no_more(void **state)
{
    struct wr_device_profile p = plain();
    struct wr_device_request rq = {
        .op = WR_DEVICE_READ, .len = 1, .object = 2, .early_ns = 500};
    struct wr_device *d;

    (void)state;
    p.seek_law[0] = (struct wr_seek_point){1, 1};
    p.seek_law[1] = (struct wr_seek_point){2, 0.5};
    p.seek_points = 2;
    p.channels = 1;
    p.read_bytes_per_s = 0;
    d = device(&p);
    assert_int_equal(rd(d, 1, 0, 1, 0), 11000);
    assert_int_equal(wr_device_submit(d, &rq, 10600), 22000);
    rq.object = 3;
    assert_int_equal(wr_device_submit(d, &rq, 21000), 28000); /* too early */
    wr_device_free(d);
}

/* The largest of caches on the slowest of devices: longer than the clock. */
static void a_cache_that_takes_ages_to_drain(void **state)
{
    struct wr_device_profile p = plain();
    struct wr_device *d;

    (void)state;
    p.seek_us = 0;
    p.write_bytes_per_s = WR_DEVICE_MIN_RATE;
    p.write_cache_bytes = WR_DEVICE_MAX_BYTES;
    d = device(&p);
    assert_int_equal(wr(d, 1, 0, 1000000, 0), 2000);
    wr_device_free(d);
}

static void a_cache_takes_writes_until_it_is_full(void **state)
{
    struct wr_device_profile p = plain();
    struct wr_device *d;

    (void)state;
    p.seek_us = 0;
    p.write_cache_bytes = 100000;
    d = device(&p);
    assert_int_equal(wr(d, 1, 0, 60000, 0), 2000);
    /* 122000 are to be drained at 2000: 22000 too many */
    assert_int_equal(wr(d, 1, 60000, 60000, 2000), 20000);
    assert_int_equal(wr(d, 1, 120000, 60000, 20000), 80000);
    assert_int_equal(other(d, WR_DEVICE_SYNC, 80000), 180000 + 7000);
    assert_int_equal(other(d, WR_DEVICE_SYNC, 500000), 507000);
    assert_int_equal(wr(d, 1, 0, 60000, 500000), 502000); /* empty again */
    wr_device_free(d);
    p.write_cache_bytes = 0;
    d = device(&p);
    assert_int_equal(wr(d, 1, 0, 60000, 0), 62000);
    assert_int_equal(wr(d, 1, 60000, 60000, 0), 122000);
    wr_device_free(d);
}

static void random_writes_seek_and_are_sorted_in_the_cache(void **state)
{
    struct wr_device *d = built_in("hdd");
    struct wr_device_profile p = profile("hdd");
    uint64_t t = 0, begin = 0;

    (void)state;
    p.write_cache_bytes = 0;
    for (uint64_t i = 0; i < 40000; i++) { /* 4 KiB each: the cache fills */
        if (i == 30000)
            begin = t;
        t = wr(d, 1, i * 100 * MIB, 4096, t);
    }
    within((double)(t - begin) / 10000, 8500e3 * 0.32 + 4096 / 133.14e-3, 0.02,
           "a random write, 32 and more in the cache");
    wr_device_free(d);
    d = device(&p);
    t = 0;
    for (uint64_t i = 0; i < 100; i++)
        t = wr(d, 1, i * 100 * MIB, 4096, t);
    within((double)t / 100, 8500e3 + 60e3 + 4096 / 133.14e-3, 0.02,
           "a random write, no cache");
    wr_device_free(d);
}

static void reads_go_before_writes(void **state)
{
    struct wr_device_profile p = plain();
    struct wr_device *d;

    (void)state;
    p.channels = 4;
    p.write_cache_bytes = 1000000;
    p.seek_us = 0;
    d = device(&p);
    wr(d, 1, 0, 100000, 0); /* drained at 100000 */
    assert_int_equal(rd(d, 2, 0, 30000, 0), 31000);
    assert_int_equal(other(d, WR_DEVICE_SYNC, 0), 130000 + 7000);
    rd(d, 2, 30000, 30000, 200000); /* nothing left to be delayed */
    assert_int_equal(other(d, WR_DEVICE_SYNC, 200000), 207000);
    wr_device_free(d);
    p.channels = 1; /* one arm: the seek and the latency count too */
    p.seek_us = 10;
    d = device(&p);
    wr(d, 1, 0, 100000, 0); /* a seek: drained at 110000 */
    assert_int_equal(rd(d, 2, 0, 30000, 0), 41000);
    assert_int_equal(other(d, WR_DEVICE_SYNC, 0), 151000 + 7000);
    wr_device_free(d);
}

static void null_is_at_once(void **state)
{
    struct wr_device *d = built_in("null");

    (void)state;
    for (uint64_t t = 0; t < 100; t++) {
        assert_int_equal(rd(d, t, t << 40, UINT64_MAX / 2, t), t);
        assert_int_equal(wr(d, t, t << 40, UINT64_MAX / 2, t), t);
        assert_int_equal(other(d, WR_DEVICE_META, t), t);
        assert_int_equal(other(d, WR_DEVICE_SYNC, t), t);
    }
    wr_device_free(d);
}

/* Whatever is asked: never before it came plus its latency, and a second
 * device that is asked the same says the same. */
static void anything_goes(void **state)
{
    const struct wr_device_profile *p;
    struct wr_rng rng = {.seed = 11};

    (void)state;
    for (unsigned k = 0; (p = wr_device_profile_at(k)); k++) {
        struct wr_device *a = device(p), *b = device(p);
        uint64_t now = 0;

        for (int i = 0; i < 20000; i++) {
            struct wr_device_request rq = {
                .op = (enum wr_device_op)wr_rng_below(&rng, 4),
                .object = wr_rng_below(&rng, 3),
                .offset = wr_rng_below(&rng, 1000) * MIB / 4,
                .len = wr_rng_below(&rng, i % 100 ? MIB : UINT64_MAX / 4),
                .opens = wr_rng_below(&rng, 2),
            };
            uint64_t done = wr_device_submit(a, &rq, now);

            assert_true(done >= now);
            if (rq.op == WR_DEVICE_READ)
                assert_true(done - now >= (uint64_t)(p->read_latency_us * 1e3));
            assert_true(wr_device_submit(b, &rq, now) == done);
            now += wr_rng_below(&rng, 2000000);
        }
        wr_device_free(a);
        wr_device_free(b);
    }
}

static void *hammer(void *arg)
{
    for (uint64_t i = 0; i < 5000; i++) {
        rd(arg, i % 7, i * 4096, 4096, i * 1000);
        wr(arg, i % 5, i * 4096, 4096, i * 1000);
    }
    return NULL;
}

static void threads_may_share_it(void **state)
{
    struct wr_device *d = built_in("hdd");
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, d), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    /* All bytes went over one bus, in whatever order they came. */
    assert_true(other(d, WR_DEVICE_SYNC, 0) >
                (uint64_t)(4 * 5000 * 4096 / 133.14e-3));
    wr_device_free(d);
}

/* --- shared by name --- */

/* Eight readers of 1 MiB pieces, each through its own reference: bytes per
 * second of virtual time, by what the devices have counted. */
static double shared_rate(unsigned places)
{
    struct wr_device_profile p = profile("ssd");
    struct wr_device *d[8] = {NULL};
    struct wr_device_use use;
    uint64_t at[8] = {0}, bytes = 0, end = 0;
    char place[32];

    for (unsigned i = 0; i < 8; i++) {
        snprintf(place, sizeof(place), "/disk-%u", i % places);
        assert_int_equal(wr_device_ref(&p, place, &d[i], NULL), 0);
    }
    for (unsigned n = 0; n < 800; n++) {
        unsigned k = earliest(at, 8);

        at[k] = rd(d[k], k, n * MIB, MIB, at[k]);
    }
    for (unsigned i = 0; i < places; i++) {
        wr_device_use(d[i], &use);
        assert_int_equal(use.written_bytes, 0);
        assert_int_equal(use.requests, use.read_bytes / MIB);
        assert_true(use.read_ns <= use.last_ns - use.first_ns);
        bytes += use.read_bytes;
        end = WR_MAX(end, use.last_ns);
    }
    for (unsigned i = 0; i < 8; i++)
        wr_device_unref(d[i]);
    assert_int_equal(bytes, 800 * MIB);
    return (double)bytes / (double)end * 1e9;
}

static void users_of_one_place_share_its_rate(void **state)
{
    struct wr_device_profile p = profile("ssd");

    (void)state;
    within(shared_rate(1), p.read_bytes_per_s, 0.02, "one disk");
    within(shared_rate(2), 2 * p.read_bytes_per_s, 0.03, "two disks");
}

static void a_place_and_a_profile_make_a_device(void **state)
{
    struct wr_device_profile hdd = profile("hdd"), ssd = profile("ssd");
    struct wr_device *a, *b, *c, *other_place;
    struct wr_device_use use;

    (void)state;
    assert_int_equal(wr_device_ref(&hdd, "/x", &a, NULL), 0);
    assert_int_equal(wr_device_ref(&hdd, "/x", &b, NULL), 0);
    assert_int_equal(wr_device_ref(&ssd, "/x", &c, NULL), 0);
    assert_int_equal(wr_device_ref(&hdd, "/y", &other_place, NULL), 0);
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, c);
    assert_ptr_not_equal(a, other_place);
    rd(a, 1, 0, 10, 5);
    wr_device_unref(a);
    wr_device_use(b, &use);
    assert_int_equal(use.requests, 1);
    wr_device_unref(b);
    assert_int_equal(wr_device_ref(&hdd, "/x", &a, NULL), 0);
    wr_device_use(a, &use); /* a new one: nobody had it any more */
    assert_int_equal(use.requests, 0);
    wr_device_unref(a);
    wr_device_unref(c);
    wr_device_unref(other_place);
    wr_device_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_scale_as_in_the_paper),
        cmocka_unit_test(bandwidth_is_the_profiles),
        cmocka_unit_test(table_one),
        cmocka_unit_test(one_request_costs_its_parts),
        cmocka_unit_test(near_requests_may_come_out_of_order),
        cmocka_unit_test(channels_work_at_once_and_share_the_bus),
        cmocka_unit_test(the_bus_has_no_idle_queue),
        cmocka_unit_test(many_gaps_are_no_trouble),
        cmocka_unit_test(seeks_follow_the_law),
        cmocka_unit_test(answers_that_left_early_wait_no_more),
        cmocka_unit_test(a_cache_takes_writes_until_it_is_full),
        cmocka_unit_test(a_cache_that_takes_ages_to_drain),
        cmocka_unit_test(random_writes_seek_and_are_sorted_in_the_cache),
        cmocka_unit_test(reads_go_before_writes),
        cmocka_unit_test(null_is_at_once),
        cmocka_unit_test(anything_goes),
        cmocka_unit_test(threads_may_share_it),
        cmocka_unit_test(users_of_one_place_share_its_rate),
        cmocka_unit_test(a_place_and_a_profile_make_a_device),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
