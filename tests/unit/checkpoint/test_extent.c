/* test_extent.c - extents: what is joined, which pages need no copy.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "checkpoint/extent.h"

static uint8_t memory[16 * 4096] __attribute__((aligned(4096)));

static void test_join(void **state)
{
    struct wr_extent x[] = {
        {0, 10, memory},       {10, 10, memory + 999}, {10, 25, memory + 10},
        {25, 30, memory + 30}, {30, 31, memory + 35},  {40, 41, memory + 45},
        {41, 41, NULL},        {41, 50, memory + 46},
    };

    (void)state;
    assert_int_equal(wr_extents_join(x, 8), 3);
    assert_int_equal(x[0].begin, 0);
    assert_int_equal(x[0].end, 25);
    assert_ptr_equal(x[0].at, memory);
    assert_int_equal(x[1].begin, 25);
    assert_int_equal(x[1].end, 31);
    assert_ptr_equal(x[1].at, memory + 30);
    assert_int_equal(x[2].begin, 40);
    assert_int_equal(x[2].end, 50);
    assert_ptr_equal(x[2].at, memory + 45);
    assert_int_equal(wr_extents_join(x, 0), 0);
    x[0].end = x[0].begin;
    assert_int_equal(wr_extents_join(x, 1), 0);
}

static void test_pages(void **state)
{
    static const struct {
        uint64_t begin, end; /* of the extent */
        size_t at;           /* in `memory` */
        uint64_t pages_begin, pages_end;
        size_t pages_at;
    } cases[] = {
        {0, 8192, 0, 0, 8192, 0},
        {0, 8191, 0, 0, 4096, 0},
        {0, 4095, 0, 0, 0, 0},
        {0, 8192, 16, 0, 0, 0}, /* memory not at a page */
        {100, 20000, 100, 4096, 16384, 4096},
        {100, 20000, 0, 0, 0, 0}, /* lies otherwise in its page */
        {4000, 8200, 4000, 4096, 8192, 4096},
        {4000, 8200, 96, 0, 0, 0},
        {5000, 8000, 5000, 0, 0, 0}, /* no whole page */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wr_extent x = {cases[i].begin, cases[i].end,
                              memory + cases[i].at};
        struct wr_extent p = wr_extent_pages(&x);

        assert_int_equal(p.begin, cases[i].pages_begin);
        assert_int_equal(p.end, cases[i].pages_end);
        if (p.end)
            assert_ptr_equal(p.at, memory + cases[i].pages_at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_pages),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
