/* test_stretch.c - stretches: what is joined, which pages need no copy.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "safetensors/image.h"

#define LEAST (128 * 1024)

static uint8_t memory[64 * 4096] __attribute__((aligned(4096)));

static void test_join(void **state)
{
    struct wr_stretch x[] = {
        {0, 10, memory},       {10, 10, memory + 999}, {10, 25, memory + 10},
        {25, 30, memory + 30}, {30, 31, memory + 35},  {40, 41, memory + 45},
        {41, 41, NULL},        {41, 50, memory + 46},
    };

    (void)state;
    assert_int_equal(wr_stretches_join(x, 8), 3);
    assert_int_equal(x[0].begin, 0);
    assert_int_equal(x[0].end, 25);
    assert_ptr_equal(x[0].at, memory);
    assert_int_equal(x[1].begin, 25);
    assert_int_equal(x[1].end, 31);
    assert_ptr_equal(x[1].at, memory + 30);
    assert_int_equal(x[2].begin, 40);
    assert_int_equal(x[2].end, 50);
    assert_ptr_equal(x[2].at, memory + 45);
    assert_int_equal(wr_stretches_join(x, 0), 0);
    x[0].end = x[0].begin;
    assert_int_equal(wr_stretches_join(x, 1), 0);
}

static void test_pages(void **state)
{
    static const struct {
        uint64_t begin, end; /* of the stretch */
        size_t at;           /* in `memory` */
        uint64_t pages_begin, pages_end;
        size_t pages_at;
    } cases[] = {
        {0, LEAST + 4096, 0, 0, LEAST + 4096, 0},
        {0, LEAST + 4095, 0, 0, LEAST, 0},
        {0, LEAST - 1, 0, 0, 0, 0},
        {0, LEAST, 16, 0, 0, 0}, /* memory not at a page */
        {100, LEAST + 12000, 100, 4096, LEAST + 8192, 4096},
        {100, LEAST + 12000, 0, 0, 0, 0}, /* lies otherwise in its page */
        {4000, LEAST + 4100, 4000, 4096, LEAST + 4096, 4096},
        {4000, LEAST + 4100, 96, 0, 0, 0},
        {5000, LEAST + 8000, 5000, 0, 0, 0}, /* a page too little */
        {5000, 8000, 5000, 0, 0, 0},         /* no whole page */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct wr_stretch x = {cases[i].begin, cases[i].end,
                               memory + cases[i].at};
        struct wr_stretch p = wr_stretch_pages(&x);

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
