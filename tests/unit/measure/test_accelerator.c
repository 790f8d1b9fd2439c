/* test_accelerator.c - names and times of accelerators, and their clock.
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/accelerator.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"

#define MS WR_NS_PER_MS

static double step_of(const char *name, uint32_t batch)
{
    struct wr_accelerator a;
    weir_err err;

    assert_int_equal(wr_accelerator_parse(name, &a, &err), 0);
    return wr_accelerator_step_ms(&a, batch);
}

/* The numbers of the sources, as their tables state them. */
static void steps_are_those_of_the_sources(void **state)
{
    (void)state;
    assert_true(fabs(step_of("K4000", 64) - 1500) < 1e-9);
    assert_true(fabs(step_of("K4000", 16) - 600) < 1e-9);
    assert_true(fabs(512 / step_of("K80", 512) - 0.656) < 1e-9);
    assert_true(fabs(512 / step_of("P100", 512) - 2.987) < 1e-9);
    assert_true(fabs(step_of("V100", 64) - 195) < 1e-9);
    assert_true(fabs(step_of("H100", 64) - 103) < 1e-9);
    assert_true(fabs(step_of("A100", 400) - 435) < 1e-9);
    assert_true(fabs(step_of("ms=12.5", 7) - 12.5) < 1e-9);
    assert_true(step_of("none", 64) == 0);
    assert_true(step_of("cpu", 64) == 0);
}

static void texts_say_the_step_or_the_law(void **state)
{
    static const struct {
        const char *name;
        uint32_t batch;
        const char *text;
    } cases[] = {
        {"K4000", 64, "K4000 (emulated), 1500 ms per batch of 64"},
        {"K4000", 0, "K4000 (emulated), 300 ms + 18.75 ms per sample"},
        {"K80", 0, "K80 (emulated), 1.524 ms per sample"},
        {"ms=2.5", 64, "ms=2.5 (emulated), 2.5 ms per batch"},
        {"none", 64, "none"},
    };
    struct wr_accelerator a;
    char text[96];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(wr_accelerator_parse(cases[i].name, &a, NULL), 0);
        assert_string_equal(
            wr_accelerator_text(&a, cases[i].batch, text, sizeof(text)),
            cases[i].text);
    }
}

static void every_name_is_found_and_has_a_source(void **state)
{
    const struct wr_accelerator *known;
    struct wr_accelerator a;
    size_t k = 0;

    (void)state;
    for (; (known = wr_accelerator_at(k)); k++) {
        assert_int_equal(wr_accelerator_parse(known->name, &a, NULL), 0);
        assert_string_equal(a.name, known->name);
        assert_true(strlen(a.source) > 10);
        assert_true((a.fixed_ms + a.per_sample_ms > 0) ==
                    (a.kind == WR_ACCELERATOR_EMULATED));
    }
    assert_true(k >= 8);
    assert_int_equal(wr_accelerator_parse("k4000", &a, NULL), 0);
    assert_string_equal(a.name, "K4000");
}

static void wrong_names_list_the_right_ones(void **state)
{
    static const char *const wrong[] = {"",     "K400",  "K40000", "ms",
                                        "1500", "ms=",   "ms=-1",  "ms=2e6",
                                        "ms=x", "ms=1 ", "ms=nan"};
    struct wr_accelerator a = {.name = "kept"};
    weir_err err;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(wr_accelerator_parse(wrong[i], &a, &err), WEIR_EINVAL);
        assert_non_null(strstr(err.msg, wrong[i]));
        assert_string_equal(a.name, "kept");
    }
    wr_accelerator_parse("GTX", &a, &err);
    for (size_t k = 0; wr_accelerator_at(k); k++)
        assert_non_null(strstr(err.msg, wr_accelerator_at(k)->name));
    assert_non_null(strstr(err.msg, "ms="));
}

/* Batches that are ready: however late the wake-ups, step k ends at k steps. */
static void lateness_does_not_add_up(void **state)
{
    struct wr_accelerator_clock c = {0};
    const uint64_t begin = 1000 * MS;
    uint64_t now = begin;

    (void)state;
    for (uint64_t k = 1; k <= 1000; k++) {
        assert_int_equal(wr_accelerator_begin(&c, now, 10 * MS),
                         begin + k * 10 * MS);
        now = c.end_ns + (k * 7919) % (15 * MS);
        wr_accelerator_woke(&c, now);
    }
}

/* What the accelerator waited for a batch is never made up for. */
static void waiting_shifts_all_that_follows(void **state)
{
    struct wr_accelerator_clock c = {0};
    uint64_t now = 5 * MS;

    (void)state;
    for (uint64_t k = 0; k < 100; k++) {
        assert_int_equal(wr_accelerator_begin(&c, now, 10 * MS),
                         15 * MS + k * 13 * MS);
        now = c.end_ns + k % 5 * 1000;
        wr_accelerator_woke(&c, now);
        now += 3 * MS;
    }
}

/* Steps that are started before the last one ended queue up. */
static void steps_follow_each_other(void **state)
{
    struct wr_accelerator_clock c = {0};

    (void)state;
    assert_int_equal(wr_accelerator_begin(&c, 100, 50), 150);
    assert_int_equal(wr_accelerator_begin(&c, 120, 50), 200);
    assert_int_equal(wr_accelerator_begin(&c, 300, 50), 350);
    assert_int_equal(wr_accelerator_begin(&c, 400, 0), 400);
}

/* A process that was stopped for a minute does not catch up. */
static void a_stop_is_no_lateness(void **state)
{
    struct wr_accelerator_clock c = {0};

    (void)state;
    wr_accelerator_begin(&c, MS, 10 * MS);
    wr_accelerator_woke(&c, 60000 * MS);
    assert_int_equal(wr_accelerator_begin(&c, 60000 * MS, 10 * MS), 60010 * MS);
    wr_accelerator_woke(&c, 60010 * MS + 30);
    assert_int_equal(wr_accelerator_begin(&c, 60010 * MS + 30, 10 * MS),
                     60020 * MS);
}

static bool always(void)
{
    return true;
}

/* With the real clock: a wait never ends early, and a stop ends it. */
static void waits_reach_their_end_or_are_stopped(void **state)
{
    struct wr_accelerator a;
    struct wr_accelerator_clock c = {0};
    uint64_t begin = wr_clock_ns();

    (void)state;
    assert_int_equal(wr_accelerator_parse("ms=2", &a, NULL), 0);
    for (int i = 0; i < 5; i++) {
        wr_accelerator_start(&a, &c, 1);
        assert_true(wr_accelerator_wait(&c, NULL));
        assert_true(wr_clock_ns() >= begin + (uint64_t)(i + 1) * 2 * MS);
    }
    assert_int_equal(wr_accelerator_parse("ms=900000", &a, NULL), 0);
    wr_accelerator_start(&a, &c, 1);
    assert_false(wr_accelerator_wait(&c, always)); /* or this takes 15 min */
    assert_int_equal(wr_accelerator_parse("none", &a, NULL), 0);
    c = (struct wr_accelerator_clock){0};
    wr_accelerator_start(&a, &c, 64);
    assert_true(wr_accelerator_wait(&c, always)); /* nothing to wait for */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_those_of_the_sources),
        cmocka_unit_test(texts_say_the_step_or_the_law),
        cmocka_unit_test(every_name_is_found_and_has_a_source),
        cmocka_unit_test(wrong_names_list_the_right_ones),
        cmocka_unit_test(lateness_does_not_add_up),
        cmocka_unit_test(waiting_shifts_all_that_follows),
        cmocka_unit_test(steps_follow_each_other),
        cmocka_unit_test(a_stop_is_no_lateness),
        cmocka_unit_test(waits_reach_their_end_or_are_stopped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
