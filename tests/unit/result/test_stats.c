/* test_stats.c - medians, quantiles, and the rank test against known values.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "result/stats.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static void test_quantiles(void **state)
{
    double v[] = {5, NAN, 1, 3, NAN, 2, 4};

    NEAR(wr_stats_median(v, 7), 3);
    assert_int_equal(wr_stats_sort(v, 7), 5);
    NEAR(v[0], 1);
    NEAR(v[4], 5);
    NEAR(wr_stats_quantile(v, 5, 0), 1);
    NEAR(wr_stats_quantile(v, 5, 1), 5);
    NEAR(wr_stats_quantile(v, 5, 0.1), 1.4);
    NEAR(wr_stats_quantile(v, 1, 0.9), 1);
    assert_true(isnan(wr_stats_quantile(v, 0, 0.5)));
    assert_true(isnan(wr_stats_median(v + 5, 2)));
    NEAR(wr_stats_median((double[]){1, 2}, 2), 1.5);
}

static void test_middle(void **state)
{
    static const struct {
        double v[5];
        size_t n, middle;
    } table[] = {
        {{3, 1, 2}, 3, 2},
        {{1, 2}, 2, 0},
        {{2, 1}, 2, 0},
        {{0.1, 0.3}, 2, 0},
        {{0.3, 0.1}, 2, 0},
        {{4, 1, 3, 2}, 4, 2},
        {{9, 2, 2, 1, 5}, 5, 1},
        {{7, 7, 7}, 3, 0},
        {{NAN, 1, NAN, 3, 2}, 5, 4},
        {{NAN, NAN}, 2, 2},
        {{NAN, 5}, 2, 1},
        {{0}, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        assert_int_equal(wr_stats_middle(table[i].v, table[i].n),
                         table[i].middle);
}

static void test_rank(void **state)
{
    /* 2 of C(8,4) = 70 orders are as extreme; 2 of C(6,3) = 20. */
    NEAR(wr_stats_rank_test((double[]){1, 2, 3, 4}, 4, (double[]){5, 6, 7, 8},
                            4),
         2.0 / 70);
    NEAR(wr_stats_rank_test((double[]){9, 8, 7}, 3, (double[]){1, 2, 3}, 3),
         0.1);
    /* One step less: sums 11 (one way) and 10 (one way) on each side. */
    NEAR(wr_stats_rank_test((double[]){1, 2, 3, 5}, 4, (double[]){4, 6, 7, 8},
                            4),
         4.0 / 70);
    NEAR(wr_stats_rank_test((double[]){1, 4}, 2, (double[]){2, 3}, 2), 1);
    /* All alike: every order is as extreme. */
    NEAR(wr_stats_rank_test((double[]){2, 2, 2}, 3, (double[]){2, 2}, 2), 1);
    /* Ties: {1,1} against {1,2}: 6 choices, sums of double ranks 8 (3 ways)
     * and 12 (3 ways), mean 10: all as extreme. */
    NEAR(wr_stats_rank_test((double[]){1, 1}, 2, (double[]){1, 2}, 2), 1);
    NEAR(wr_stats_rank_test((double[]){NAN, 1}, 2, (double[]){2}, 1), 1);
    assert_true(isnan(wr_stats_rank_test(NULL, 0, (double[]){2}, 1)));
    assert_true(
        isnan(wr_stats_rank_test((double[]){NAN}, 1, (double[]){2}, 1)));
}

/* Where both ways are open they agree. */
static void test_exact_and_normal(void **state)
{
    double a[21], b[21], exact, normal;

    for (int i = 0; i < 21; i++) {
        a[i] = i * 7 % 20;
        b[i] = 4 + i * 11 % 20 + 0.5;
    }
    exact = wr_stats_rank_test(a, 20, b, 20);
    normal = wr_stats_rank_test(a, 21, b, 20);
    assert_true(exact > 0 && fabs(exact - normal) < 0.05);
}

static void test_many_runs(void **state)
{
    double a[100], b[100], p;

    for (int i = 0; i < 100; i++) {
        a[i] = i;
        b[i] = i + 0.5;
    }
    p = wr_stats_rank_test(a, 100, b, 100);
    assert_true(p > 0.5 && p <= 1);
    for (int i = 0; i < 100; i++)
        b[i] = i + 1000;
    p = wr_stats_rank_test(a, 100, b, 100);
    assert_true(p >= 0 && p < 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_middle),
        cmocka_unit_test(test_rank),
        cmocka_unit_test(test_exact_and_normal),
        cmocka_unit_test(test_many_runs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
