/* test_series.c - rows are merged by their rules, at any length.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "base/series.h"

static const enum wr_series_rule all_rules[] = {WR_SERIES_MEAN, WR_SERIES_MAX,
                                                WR_SERIES_SUM, WR_SERIES_LAST};

static void make(struct wr_series *s, size_t capacity)
{
    weir_err err;

    assert_int_equal(wr_series_init(s, capacity, 4, all_rules, &err), 0);
}

/* The same number in every column. */
static void add(struct wr_series *s, double t, double x)
{
    wr_series_add(s, t, (const double[]){x, x, x, x});
}

static void check_row(const struct wr_series *s, size_t row,
                      const double want[4])
{
    for (size_t c = 0; c < 4; c++) {
        double got = wr_series_value(s, row, c);

        if (isnan(want[c]))
            assert_true(isnan(got));
        else
            assert_true(fabs(got - want[c]) <= 1e-9 * (1 + fabs(want[c])));
    }
}

static void rows_are_kept_until_it_is_full(void **state)
{
    struct wr_series s;

    (void)state;
    make(&s, 4);
    assert_int_equal(wr_series_rows(&s), 0);
    for (int i = 0; i < 3; i++)
        add(&s, i, 10 * i);
    assert_int_equal(wr_series_rows(&s), 3);
    assert_int_equal(s.merge, 1);
    for (int i = 0; i < 3; i++) {
        assert_true(s.t[i] == i);
        check_row(&s, (size_t)i,
                  (const double[]){10 * i, 10 * i, 10 * i, 10 * i});
    }
    wr_series_done(&s);
}

static void each_column_has_its_rule(void **state)
{
    struct wr_series s;

    (void)state;
    make(&s, 4);
    add(&s, 1, 7);
    add(&s, 2, 3);
    add(&s, 3, 1);
    add(&s, 4, 2);
    assert_int_equal(s.merge, 2);
    assert_int_equal(wr_series_rows(&s), 2);
    assert_true(s.t[0] == 2 && s.t[1] == 4);
    check_row(&s, 0, (const double[]){5, 7, 10, 3});
    check_row(&s, 1, (const double[]){1.5, 2, 3, 2});
    wr_series_done(&s);
}

static void the_row_in_the_making_can_be_read(void **state)
{
    struct wr_series s;

    (void)state;
    make(&s, 2);
    for (int i = 1; i <= 8; i++) /* 1 row of 8, or 2 that become one */
        add(&s, i, i);
    assert_int_equal(s.merge, 8);
    assert_int_equal(wr_series_rows(&s), 1);
    add(&s, 9, 5);
    add(&s, 10, 8);
    add(&s, 11, 2);
    assert_int_equal(wr_series_rows(&s), 2);
    assert_int_equal(s.added, 11);
    assert_true(s.t[0] == 8 && s.t[1] == 11);
    check_row(&s, 0, (const double[]){4.5, 8, 36, 8});
    check_row(&s, 1, (const double[]){5, 8, 15, 2});
    wr_series_done(&s);
}

static void unknown_numbers_are_left_out(void **state)
{
    struct wr_series s;

    (void)state;
    make(&s, 4);
    add(&s, 1, NAN);
    add(&s, 2, 6);
    add(&s, 3, NAN);
    add(&s, 4, NAN);
    check_row(&s, 0, (const double[]){6, 6, 6, 6});
    check_row(&s, 1, (const double[]){NAN, NAN, NAN, NAN});
    add(&s, 5, 6);
    add(&s, 6, NAN);
    check_row(&s, 2, (const double[]){6, 6, 6, 6});
    wr_series_done(&s);
}

/* Also in a long row, where a mean has many parts. */
static void means_count_only_what_is_known(void **state)
{
    struct wr_series s;

    (void)state;
    make(&s, 2);
    for (int i = 0; i < 16; i++)
        add(&s, i, 0);
    assert_int_equal(s.merge, 16);
    for (int i = 0; i < 15; i++)
        add(&s, 16 + i, i % 3 ? NAN : i);
    check_row(&s, 1, (const double[]){6, 12, 30, 12});
    wr_series_done(&s);
}

static void sizes_are_made_even(void **state)
{
    struct wr_series s;

    (void)state;
    make(&s, 0);
    assert_int_equal(s.capacity, 2);
    wr_series_done(&s);
    make(&s, 5);
    assert_int_equal(s.capacity, 6);
    wr_series_done(&s);
    wr_series_done(&s); /* twice is harmless */
}

static void sizes_that_do_not_fit_fail(void **state)
{
    struct wr_series s = {.count = 77};
    weir_err err;

    (void)state;
    assert_int_equal(wr_series_init(&s, SIZE_MAX / 16, 4, all_rules, &err),
                     WEIR_ENOMEM);
    assert_int_equal(s.count, 77);
}

/* Every length up to some rounds of merging: nothing is lost or twice. */
static void any_length_covers_all(void **state)
{
    (void)state;
    for (int n = 1; n <= 300; n++) {
        struct wr_series s;
        double sum = 0, max = 0;

        make(&s, 8);
        for (int i = 1; i <= n; i++)
            add(&s, i, i);
        assert_true(wr_series_rows(&s) <= 8);
        assert_true(n < 8 || wr_series_rows(&s) >= 4);
        for (size_t row = 0; row < wr_series_rows(&s); row++) {
            sum += wr_series_value(&s, row, 2);
            max = fmax(max, wr_series_value(&s, row, 1));
            assert_true(row == 0 || s.t[row] > s.t[row - 1]);
        }
        assert_true(sum == (double)n * (n + 1) / 2 && max == n);
        assert_true(s.t[0] == (double)s.merge || n < (int)s.merge);
        assert_true(s.t[wr_series_rows(&s) - 1] == n);
        assert_int_equal(s.added, n);
        wr_series_done(&s);
    }
}

/* Ten minutes of 10,000 batches a second: a stall of one is still there, at
 * its time, and the memory is that of the beginning. */
static void six_million_rows_fit(void **state)
{
    const uint64_t n = 6000000, stall = 4123457;
    struct wr_series s;
    const double *v, *t;
    size_t where = 0, last;

    (void)state;
    make(&s, 20000);
    v = s.v;
    t = s.t;
    for (uint64_t i = 1; i <= n; i++)
        add(&s, (double)i * 1e-4, i == stall ? 250 : 1);
    last = wr_series_rows(&s) - 1;
    assert_true(s.v == v && s.t == t);
    assert_true(last < 20000 && last >= 10000);
    assert_true(s.t[last] == (double)n * 1e-4);
    while (wr_series_value(&s, where, 1) < 250)
        where++;
    assert_true(s.t[where] >= (double)stall * 1e-4);
    assert_true(s.t[where - 1] < (double)stall * 1e-4);
    assert_true(s.t[0] == (double)s.merge * 1e-4);
    wr_series_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_kept_until_it_is_full),
        cmocka_unit_test(each_column_has_its_rule),
        cmocka_unit_test(the_row_in_the_making_can_be_read),
        cmocka_unit_test(unknown_numbers_are_left_out),
        cmocka_unit_test(means_count_only_what_is_known),
        cmocka_unit_test(sizes_are_made_even),
        cmocka_unit_test(sizes_that_do_not_fit_fail),
        cmocka_unit_test(any_length_covers_all),
        cmocka_unit_test(six_million_rows_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
