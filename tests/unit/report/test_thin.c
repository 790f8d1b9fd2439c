/* test_thin.c - thinning keeps what the eye would see.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "report/points.h"

#define N 10007

static double y[N];
static bool keep[N];

static void fill(void)
{
    for (size_t i = 0; i < N; i++)
        y[i] = (double)(i * 2654435761u % 1000);
    memset(keep, 0, sizeof(keep));
}

static size_t count(void)
{
    size_t n = 0;

    for (size_t i = 0; i < N; i++)
        n += keep[i];
    return n;
}

static void test_few_stay(void **state)
{
    fill();
    assert_int_equal(wr_thin(y, keep, 100, 100), 100);
    assert_true(keep[0] && keep[57] && keep[99] && !keep[100]);
    assert_int_equal(wr_thin(y, keep, 0, 10), 0);
}

static void test_extremes_and_ends(void **state)
{
    for (size_t limit = 0; limit < 600; limit += 7) {
        size_t n;

        fill();
        y[1234] = 1e6;
        y[N - 2] = -5;
        n = wr_thin(y, keep, N, limit);
        assert_int_equal(n, count());
        assert_true(n <= (limit < WR_THIN_MIN ? WR_THIN_MIN : limit));
        assert_true(keep[0] && keep[N - 1] && keep[1234] && keep[N - 2]);
    }
}

static void test_marks_stay(void **state)
{
    fill();
    for (size_t i = 5; i < N; i += 301)
        keep[i] = true;
    assert_true(wr_thin(y, keep, N, 200) <= 200);
    for (size_t i = 5; i < N; i += 301)
        assert_true(keep[i]);
}

/* More marks than room: the highest is among those that stay, and the curve
 * between them still is. */
static void test_many_marks(void **state)
{
    fill();
    for (size_t i = 0; i < N; i += 2)
        keep[i] = true;
    y[5000] = 1e6;
    y[3333] = -7;
    assert_true(wr_thin(y, keep, N, 100) <= 100);
    assert_true(keep[5000] && keep[3333]);
}

static void test_gaps(void **state)
{
    fill();
    for (size_t i = 2000; i < 8000; i++)
        y[i] = NAN;
    y[100] = 1e6;
    assert_true(wr_thin(y, keep, N, 100) <= 100);
    assert_true(keep[100]);
    for (size_t i = 2000; i < 8000; i++)
        if (keep[i])
            return;
    fail_msg("the gap is gone");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_stay),
        cmocka_unit_test(test_extremes_and_ends),
        cmocka_unit_test(test_marks_stay),
        cmocka_unit_test(test_many_marks),
        cmocka_unit_test(test_gaps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
