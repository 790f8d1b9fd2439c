/* test_time.c - laws of times: their means, and that draws repeat.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "workload/derive.h"

#define DRAWS 200000

struct moments {
    double mean, stdev, min;
};

static struct moments measure(struct wr_wl_time t)
{
    struct moments m = {.min = INFINITY};
    double sum = 0, squares = 0;

    for (uint64_t k = 0; k < DRAWS; k++) {
        double x = wr_wl_time_draw(&t, 7, 3, k);

        sum += x;
        squares += x * x;
        m.min = fmin(m.min, x);
    }
    m.mean = sum / DRAWS;
    m.stdev = sqrt(squares / DRAWS - m.mean * m.mean);
    return m;
}

static void expect(struct wr_wl_time t, double mean, double stdev)
{
    struct moments m = measure(t);

    assert_true(fabs(wr_wl_time_mean(&t) - mean) < 1e-12);
    assert_true(fabs(m.mean - mean) <= 0.01 * mean);
    assert_true(fabs(m.stdev - stdev) <= 0.01 * stdev + 1e-6);
    assert_true(m.min >= 0);
}

static void test_moments(void **state)
{
    expect((struct wr_wl_time){WR_WL_FIXED, 2, 0}, 2, 0);
    expect((struct wr_wl_time){WR_WL_NORMAL, 10, 2}, 10, 2);
    expect((struct wr_wl_time){WR_WL_UNIFORM, 1, 3}, 2, 2 / sqrt(12));
    expect((struct wr_wl_time){WR_WL_GAMMA, 4, 0.5}, 2, 1);
    expect((struct wr_wl_time){WR_WL_GAMMA, 0.5, 2}, 1, sqrt(2));
    expect((struct wr_wl_time){WR_WL_EXPONENTIAL, 0.3, 0}, 0.3, 0.3);
    expect((struct wr_wl_time){WR_WL_POISSON, 4, 0}, 4, 2);
    expect((struct wr_wl_time){WR_WL_POISSON, 400, 0}, 400, 20);
    expect((struct wr_wl_time){WR_WL_NONE, 5, 5}, 0, 0);
}

/* A normal law around 0 loses its sign, as in DLIO. */
static void test_sign(void **state)
{
    struct moments m = measure((struct wr_wl_time){WR_WL_NORMAL, 0, 1});

    assert_true(m.min >= 0);
    assert_true(fabs(m.mean - sqrt(2 / M_PI)) < 0.01);
}

static void test_draws_repeat(void **state)
{
    struct wr_wl_time t = {WR_WL_GAMMA, 2, 1};
    double x = wr_wl_time_draw(&t, 1, 2, 3);

    assert_true(wr_wl_time_draw(&t, 1, 2, 3) == x);
    assert_true(wr_wl_time_draw(&t, 2, 2, 3) != x);
    assert_true(wr_wl_time_draw(&t, 1, 3, 3) != x);
    assert_true(wr_wl_time_draw(&t, 1, 2, 4) != x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_sign),
        cmocka_unit_test(test_draws_repeat),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
