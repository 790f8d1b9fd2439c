/* test_rng.c - random numbers are a function of their key, and uniform.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "chi.h"

static void values_follow_from_the_key(void **state)
{
    struct wr_rng r = {.seed = 7, .stream = 2};

    (void)state;
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(wr_rng_next(&r), wr_rng_at(7, 2, i));
    assert_int_not_equal(wr_rng_at(7, 2, 0), wr_rng_at(7, 3, 0));
    assert_int_not_equal(wr_rng_at(7, 2, 0), wr_rng_at(8, 2, 0));
    assert_int_not_equal(wr_rng_at(7, 2, 0), wr_rng_at(7, 2, 1));
    /* The order of an epoch must not change between versions. */
    assert_int_equal(wr_mix64(1), UINT64_C(0x5692161d100b05e5));
}

static void each_input_bit_changes_half_of_the_output(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 64; bit++) {
        unsigned changed = 0;

        for (uint64_t i = 0; i < 1000; i++)
            changed += (unsigned)__builtin_popcountll(
                wr_rng_at(i, 0, 5) ^ wr_rng_at(i ^ UINT64_C(1) << bit, 0, 5));
        assert_in_range(changed, 31000, 33000);
    }
}

static void below_is_in_range_and_uniform(void **state)
{
    struct wr_rng r = {.seed = 3};

    (void)state;
    for (uint64_t n = 1; n <= 40; n++) {
        uint64_t cells[40] = {0};

        for (unsigned i = 0; i < 500 * n; i++) {
            uint64_t v = wr_rng_below(&r, n);

            assert_true(v < n);
            cells[v]++;
        }
        if (n > 1)
            assert_uniform(cells, (unsigned)n, 500);
    }
}

static void unit_is_below_one(void **state)
{
    struct wr_rng r = {.seed = 4};
    uint64_t cells[64] = {0};

    (void)state;
    for (unsigned i = 0; i < 64 * 500; i++) {
        double v = wr_rng_unit(&r);

        assert_true(v >= 0 && v < 1);
        cells[(unsigned)(v * 64)]++;
    }
    assert_uniform(cells, 64, 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_follow_from_the_key),
        cmocka_unit_test(each_input_bit_changes_half_of_the_output),
        cmocka_unit_test(below_is_in_range_and_uniform),
        cmocka_unit_test(unit_is_below_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
