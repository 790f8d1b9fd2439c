/* test_block.c - a block of steps as DLIO counts it.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/accel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Loads of 10, computing of 90, 5 between steps; the first load is 500. */
static struct wr_run_block_result block(uint64_t steps, uint64_t start,
                                        uint64_t end)
{
    struct wr_run_block_tally b;
    uint64_t now = 1000;

    wr_run_block_begin(&b, start, end, now);
    for (uint64_t k = 0; k < steps; k++) {
        uint64_t load = k ? 10 : 500;

        wr_run_block_step(&b, load, 90);
        now += load + 90 + 5;
    }
    return wr_run_block_end(&b, now, 7);
}

static void near(double a, double b)
{
    assert_true(a > b - 1e-9 && a < b + 1e-9);
}

static void the_first_step_is_left_out(void **state)
{
    struct wr_run_block_result r = block(10, 1, 0);

    (void)state;
    assert_int_equal(r.steps, 10);
    /* nine steps of 105, and 5 of the first one, which is not left out */
    near(r.au, 9 * 90 / (9 * 105 + 5.0));
    near(r.per_s / 1e9, 8 * 7 / (9 * 105 + 5.0));
}

static void the_last_steps_are_left_out(void **state)
{
    struct wr_run_block_result r = block(10, 1, 3);

    (void)state;
    near(r.au, 6 * 90 / (6 * 105 + 5 + 3 * 5.0));
}

static void short_blocks_are_no_trouble(void **state)
{
    (void)state;
    near(block(0, 1, 0).au, 0);
    near(block(1, 1, 5).au, 0);
    near(block(2, 5, 5).au, 0);
    assert_true(block(200, 0, 1000).au >= 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_step_is_left_out),
        cmocka_unit_test(the_last_steps_are_left_out),
        cmocka_unit_test(short_blocks_are_no_trouble),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
