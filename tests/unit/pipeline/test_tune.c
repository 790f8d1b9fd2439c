/* test_tune.c - what is adjusted follows from what is waited for.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "pipeline/tune.h"

/* A machine that is made up: how fast it is under given settings, and what its
 * workers and its consumer then wait for. */
struct world {
    double rate_at_depth; /* samples/s that one read in flight gives */
    double decode;        /* samples/s of one thread */
    double consumer;      /* samples/s it takes; 0: as many as come */
    double jitter;        /* part lost with a prefetch below 3 */
};

static void advance(const struct world *w, const struct wr_knobs *k,
                    struct wr_tune_sums *s)
{
    const double dt = 0.25, ns = dt * 1e9;
    double storage = w->rate_at_depth * k->depth * k->threads;
    double decode = w->decode * k->threads;
    double able = WR_MIN(storage, decode);
    double rate = able;

    if (k->prefetch < 3)
        rate *= 1 - w->jitter;
    if (w->consumer > 0)
        rate = WR_MIN(rate, w->consumer);
    s->now_ns += (uint64_t)ns;
    s->samples += (uint64_t)(rate * dt);
    s->batches += 10;
    if (!(w->consumer > 0) || rate < w->consumer)
        s->consumer_wait_ns += (uint64_t)(ns * 0.9);
    if (storage < decode)
        s->storage_wait_ns += (uint64_t)(ns * k->threads *
                                         (1 - storage / decode));
    s->idle_ns += (uint64_t)(ns * k->threads * (1 - rate / able));
}

static struct wr_knobs settle(const struct world *w, struct wr_tune *t,
                              const bool is_auto[3])
{
    struct wr_knobs k = {4, 32, 1};
    const struct wr_knobs most = {4, 1024, 8};
    struct wr_tune_sums s = {.now_ns = 1};

    wr_tune_init(t, &k, &most, is_auto);
    for (int step = 0; step < 100; step++) {
        struct wr_knobs next;

        advance(w, &k, &s);
        assert_true(wr_tune_is_due(t, s.now_ns, s.batches));
        if (wr_tune_step(t, &s, &next))
            k = next;
        assert_true(k.threads >= 1 && k.threads <= most.threads);
        assert_true(k.depth >= 1 && k.depth <= most.depth);
        assert_true(k.prefetch >= 1 && k.prefetch <= most.prefetch);
    }
    return k;
}

static const bool all[3] = {true, true, true};

static void slow_storage_gets_depth(void **state)
{
    const struct world w = {.rate_at_depth = 5, .decode = 1000};
    struct wr_tune t;
    struct wr_knobs k = settle(&w, &t, all);
    char text[2200];

    (void)state;
    assert_true(k.depth * k.threads * 5 >= 4000); /* decoding limits it now */
    assert_int_equal(k.threads, 4);
    assert_true(wr_tune_text(&t, text, sizeof(text)) < sizeof(text));
    assert_non_null(strstr(text, "depth 32 -> 64: workers wait"));
    assert_non_null(strstr(text, "for storage"));
}

static void depth_that_does_not_help_is_taken_back(void **state)
{
    /* 4 workers wait for a device that is full: depth changes nothing. */
    struct wr_tune t;
    struct wr_knobs k = {4, 32, 1}, most = {4, 1024, 8}, next;
    struct wr_tune_sums s = {.now_ns = 1};
    char text[2200];

    (void)state;
    wr_tune_init(&t, &k, &most, all);
    for (int step = 0; step < 30; step++) {
        s.now_ns += 250000000;
        s.batches += 10;
        s.samples += 1000;
        s.consumer_wait_ns += 240000000;
        s.storage_wait_ns += 800000000;
        if (wr_tune_step(&t, &s, &next))
            k = next;
    }
    assert_int_equal(k.depth, 32);
    wr_tune_text(&t, text, sizeof(text));
    assert_non_null(strstr(text, "depth stays 32"));
}

static void decoding_is_left_alone(void **state)
{
    const struct world w = {.rate_at_depth = 1000, .decode = 300};
    struct wr_tune t;
    struct wr_knobs k = settle(&w, &t, all);

    (void)state;
    assert_int_equal(k.threads, 4);
    assert_int_equal(k.depth, 32);
}

static void uneven_supply_gets_prefetch(void **state)
{
    const struct world w = {
        .rate_at_depth = 1000, .decode = 1000, .jitter = 0.3};
    struct wr_tune t;
    struct wr_knobs k = settle(&w, &t, all);

    (void)state;
    /* From 1 to 2 there is no gain here, so it may stay; it never explodes. */
    assert_true(k.prefetch <= 4);
}

static void a_slow_consumer_needs_fewer_threads(void **state)
{
    const struct world w = {
        .rate_at_depth = 1000, .decode = 1000, .consumer = 500};
    struct wr_tune t;
    struct wr_knobs k = settle(&w, &t, all);

    (void)state;
    assert_true(k.threads < 4);
    assert_true(k.threads * 1000 >= 500); /* and it is still fed */
}

static void fixed_ones_stay(void **state)
{
    const struct world w = {.rate_at_depth = 5, .decode = 1000};
    static const bool only_prefetch[3] = {false, false, true};
    static const bool none[3] = {false, false, false};
    struct wr_tune t;
    struct wr_knobs k = settle(&w, &t, only_prefetch);
    char text[100];

    (void)state;
    assert_int_equal(k.depth, 32);
    assert_int_equal(k.threads, 4);
    wr_tune_init(&t, &k, &k, none);
    assert_false(wr_tune_is_on(&t));
    assert_int_equal(wr_tune_text(&t, text, sizeof(text)), 0);
}

/* Nothing was changed: the text says why. */
static void nothing_is_changed(void **state)
{
    const struct world cpu = {.rate_at_depth = 1000, .decode = 100};
    const struct world enough = {
        .rate_at_depth = 1000, .decode = 100, .consumer = 380};
    const struct world slow = {.rate_at_depth = 5, .decode = 1000};
    static const bool only_prefetch[3] = {false, false, true};
    struct wr_knobs k = {4, 32, 1}, most = {4, 1024, 8};
    struct wr_tune t;
    char text[2400];

    (void)state;
    settle(&cpu, &t, all);
    wr_tune_text(&t, text, sizeof(text));
    assert_non_null(strstr(text, "nothing was changed: the consumer waits 90 "
                                 "%, but all threads are at work already"));
    settle(&enough, &t, all);
    wr_tune_text(&t, text, sizeof(text));
    assert_non_null(strstr(text, "the consumer waits only 0 %"));
    settle(&slow, &t, only_prefetch);
    wr_tune_text(&t, text, sizeof(text));
    assert_non_null(strstr(text, "but depth is fixed (workers wait "));
    wr_tune_init(&t, &k, &most, all);
    wr_tune_text(&t, text, sizeof(text));
    assert_non_null(strstr(text, "it ended before the first look"));
}

/* A trial whose gain was not measured any more. */
static void the_end_of_a_trial(void **state)
{
    struct wr_knobs k = {4, 32, 1}, most = {4, 1024, 8}, next;
    struct wr_tune_sums s = {.now_ns = 1};
    struct wr_tune t;
    char text[2400];

    (void)state;
    wr_tune_init(&t, &k, &most, all);
    for (int step = 0; step < 2; step++) {
        s.now_ns += 250000000;
        s.batches += 10;
        s.samples += 1000;
        s.consumer_wait_ns += 240000000;
        s.storage_wait_ns += 800000000;
        wr_tune_step(&t, &s, &next);
    }
    wr_tune_text(&t, text, sizeof(text));
    assert_non_null(strstr(text, "depth 32 -> 64: workers wait 80 % for "
                                 "storage; it ended before"));
}

/* A text that does not fit is cut, and its length is told. */
static void text_is_cut(void **state)
{
    const struct world w = {.rate_at_depth = 5, .decode = 1000};
    struct wr_tune t;
    char small[10];
    size_t n;

    (void)state;
    settle(&w, &t, all);
    n = wr_tune_text(&t, NULL, 0);
    assert_true(n > 20);
    assert_int_equal(wr_tune_text(&t, small, sizeof(small)), n);
    assert_int_equal(strlen(small), sizeof(small) - 1);
}

/* Nobody has memory for what was to be tried: it stays, and it is said why. */
static void what_is_refused_stays(void **state)
{
    const struct world w = {.rate_at_depth = 5, .decode = 1000};
    struct wr_knobs k = {4, 32, 1}, next;
    const struct wr_knobs most = {4, 1024, 8};
    struct wr_tune_sums s = {.now_ns = 1};
    struct wr_tune t;
    char text[2200];
    int asked = 0;

    (void)state;
    wr_tune_init(&t, &k, &most, all);
    wr_tune_refuse(&t, "nothing was asked for"); /* does nothing */
    for (int step = 0; step < 30; step++) {
        advance(&w, &k, &s);
        if (!wr_tune_step(&t, &s, &next))
            continue;
        asked++;
        assert_int_equal(next.depth, 64);
        wr_tune_refuse(&t, "there is no memory");
        assert_int_equal(t.now[WR_KNOB_DEPTH], 32);
    }
    assert_int_equal(asked, 1); /* not every step */
    wr_tune_text(&t, text, sizeof(text));
    assert_non_null(strstr(text, "depth stays 32 (workers wait"));
    assert_non_null(strstr(text, "but there is no memory)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_storage_gets_depth),
        cmocka_unit_test(depth_that_does_not_help_is_taken_back),
        cmocka_unit_test(decoding_is_left_alone),
        cmocka_unit_test(uneven_supply_gets_prefetch),
        cmocka_unit_test(a_slow_consumer_needs_fewer_threads),
        cmocka_unit_test(fixed_ones_stay),
        cmocka_unit_test(nothing_is_changed),
        cmocka_unit_test(the_end_of_a_trial),
        cmocka_unit_test(text_is_cut),
        cmocka_unit_test(what_is_refused_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
