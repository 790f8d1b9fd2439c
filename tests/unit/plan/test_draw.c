/* test_draw.c - draws: their means, their largest, and that they repeat.
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/plan.h"

#define DRAWS 400000

static void expect_moments(struct wr_plan_draw d, double mean, double stdev)
{
    double sum = 0, squares = 0;

    for (uint64_t k = 0; k < DRAWS; k++) {
        double x = wr_plan_drawn(&d, 5, 2, k);

        assert_true(x >= 0 && isfinite(x));
        sum += x;
        squares += x * x;
    }
    sum /= DRAWS;
    assert_true(fabs(sum - mean) <= 0.01 * mean);
    assert_true(fabs(sqrt(fmax(squares / DRAWS - sum * sum, 0)) - stdev) <=
                0.03 * stdev + 1e-9);
}

static void test_moments(void **state)
{
    (void)state;
    expect_moments((struct wr_plan_draw){WR_PLAN_FIXED, 3, 0}, 3, 0);
    expect_moments((struct wr_plan_draw){WR_PLAN_LOGNORMAL, 3, 0.5}, 3, 1.5);
    expect_moments((struct wr_plan_draw){WR_PLAN_LOGNORMAL, 3, 0}, 3, 0);
    expect_moments((struct wr_plan_draw){WR_PLAN_EXPONENTIAL, 2, 0}, 2, 2);
}

/* The largest of n exponential ones: the n-th harmonic number. */
static void test_max(void **state)
{
    struct wr_plan_draw d = {WR_PLAN_EXPONENTIAL, 1, 0};
    double harmonic = 0, sum = 0, one = 0;

    (void)state;
    for (unsigned n = 1; n <= 64; n++)
        harmonic += 1.0 / n;
    for (uint64_t k = 0; k < DRAWS; k++) {
        double most = 0;

        sum += wr_plan_drawn_max(&d, 64, 9, 1, k);
        for (uint64_t i = 0; k < 2000 && i < 64; i++)
            most = fmax(most, wr_plan_drawn(&d, 9, 2, 64 * k + i));
        one += most;
    }
    assert_true(fabs(sum / DRAWS - harmonic) < 0.01 * harmonic);
    assert_true(fabs(one / 2000 - harmonic) < 0.03 * harmonic);
    assert_true(fabs(wr_plan_mean_max(&d, 64) - harmonic) < 0.005 * harmonic);
    assert_true(fabs(wr_plan_mean_max(&d, 1) - 1) < 0.005);
}

static void test_repeat(void **state)
{
    struct wr_plan_draw d = {WR_PLAN_LOGNORMAL, 1, 1};

    (void)state;
    assert_true(wr_plan_drawn(&d, 1, 2, 3) == wr_plan_drawn(&d, 1, 2, 3));
    assert_true(wr_plan_drawn(&d, 1, 2, 3) != wr_plan_drawn(&d, 2, 2, 3));
    assert_true(wr_plan_drawn(&d, 1, 2, 3) != wr_plan_drawn(&d, 1, 3, 3));
    assert_true(wr_plan_drawn(&d, 1, 2, 3) != wr_plan_drawn(&d, 1, 2, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments),
        cmocka_unit_test(test_max),
        cmocka_unit_test(test_repeat),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
