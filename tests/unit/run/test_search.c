/* test_search.c - how many accelerators can be fed, and by which machine.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runkit.h"

/* Steps that never wait: whatever is asked for is fed, if it is below 1. */
static void search(struct runkit *k, double target, unsigned most,
                   struct wr_run_search *s)
{
    struct wr_run_plan plan;
    struct wr_run_result res;

    k->w->train.computation = (struct wr_wl_time){.law = WR_WL_FIXED,
                                                  .a = 0.0005};
    k->w->train.epochs = 1;
    runkit_plan(k, &plan);
    plan.train = NULL;
    plan.no_io = true;
    *s = (struct wr_run_search){.target = target, .most_asked = most};
    assert_int_equal(wr_run_search(s, &plan, &res, NULL), 0);
    wr_run_done(&res);
}

static void the_number_asked_for_is_reached(void **state)
{
    struct wr_run_search s;

    search(*state, 0.0001, 6, &s);
    assert_int_equal(s.most, 6);
    assert_int_equal(s.limit, WR_RUN_LIMIT_ASKED);
    assert_int_equal(s.count, 4); /* 1, 2, 4, 6 */
    assert_int_equal(s.points[3].world, 6);
}

static void a_target_may_be_out_of_reach(void **state)
{
    struct wr_run_search s;

    search(*state, 1.5, 6, &s);
    assert_int_equal(s.most, 0);
    assert_int_equal(s.limit, WR_RUN_LIMIT_FOUND);
    assert_int_equal(s.count, 1);
    assert_false(s.points[0].meets);
}

/* 96 samples in batches of 4 are too few for 16 accelerators and two steps. */
static void data_may_be_too_little(void **state)
{
    struct wr_run_search s;

    search(*state, 0.0001, 64, &s);
    assert_int_equal(s.most, 8);
    assert_int_equal(s.limit, WR_RUN_LIMIT_DATA);
}

static void the_emulator_tests_itself(void **state)
{
    struct runkit *k = *state;
    struct wr_run_selftest t;
    struct wr_run_plan plan;

    k->w->train.computation = (struct wr_wl_time){.law = WR_WL_FIXED,
                                                  .a = 0.001};
    runkit_plan(k, &plan);
    assert_int_equal(wr_run_selftest(&plan, &t, NULL), 0);
    assert_int_equal(t.steps, 1000);
    assert_true(t.au > 0 && t.au <= 1);
    assert_true(t.overhead_us >= 0);
    k->w->train.computation.law = WR_WL_NONE;
    assert_int_equal(wr_run_selftest(&plan, &t, NULL), 0);
    assert_int_equal(t.steps, 0); /* nothing to emulate */
    assert_true(t.ok);
}

int main(void)
{
#define CASE(f)                                                                \
    cmocka_unit_test_setup_teardown(f, runkit_setup, runkit_teardown)
    const struct CMUnitTest tests[] = {
        CASE(the_number_asked_for_is_reached),
        CASE(a_target_may_be_out_of_reach),
        CASE(data_may_be_too_little),
        CASE(the_emulator_tests_itself),
    };
#undef CASE

    return cmocka_run_group_tests(tests, NULL, NULL);
}
