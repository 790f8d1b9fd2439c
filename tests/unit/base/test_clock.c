/* test_clock.c - sleeping: never too short, and nothing is left changed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/prctl.h>

static void sleeps_reach_their_end(void **state)
{
    static const uint64_t us[] = {0, 1, 20, 60, 200, 1000};
    struct wr_clock_sleeper sleeper = {0};

    (void)state;
    for (int i = 0; i < 120; i++) {
        uint64_t end = wr_clock_ns() + us[i / 3 % 6] * 1000;

        if (i % 3 == 1)
            wr_clock_sleep_until(end);
        else if (i % 3 == 2)
            wr_clock_sleep_closely(end);
        else
            wr_clock_sleep_exactly(&sleeper, end);
        assert_true(wr_clock_ns() >= end);
    }
    wr_clock_sleep_exactly(&sleeper, 0); /* long ago */
    wr_clock_sleep_closely(0);
    wr_clock_sleep_until(0);
}

static void the_margin_is_learned_and_bounded(void **state)
{
    struct wr_clock_sleeper sleeper = {.margin_ns = 30000};

    (void)state;
    do /* a thread that was kept from running has nothing to learn from */
        wr_clock_sleep_exactly(&sleeper, wr_clock_ns() + WR_NS_PER_MS);
    while (sleeper.margin_ns == 30000);
    for (int i = 0; i < 300; i++) {
        wr_clock_sleep_exactly(&sleeper, wr_clock_ns() + 100000);
        assert_true(sleeper.margin_ns <= 60000);
    }
}

static void the_timer_slack_stays(void **state)
{
    struct wr_clock_sleeper sleeper = {0};
    int old = prctl(PR_GET_TIMERSLACK);

    (void)state;
    assert_int_equal(prctl(PR_SET_TIMERSLACK, 12345ul), 0);
    wr_clock_sleep_exactly(&sleeper, wr_clock_ns() + WR_NS_PER_MS);
    wr_clock_sleep_closely(wr_clock_ns() + WR_NS_PER_MS);
    assert_int_equal(prctl(PR_GET_TIMERSLACK), 12345);
    prctl(PR_SET_TIMERSLACK, (unsigned long)old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sleeps_reach_their_end),
        cmocka_unit_test(the_margin_is_learned_and_bounded),
        cmocka_unit_test(the_timer_slack_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
