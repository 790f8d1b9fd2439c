/* test_paper.c - what the TensorFlow I/O paper found follows from its devices.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Chien et al. 2018: Table I's bandwidths are the profiles, a K4000 takes 1.5 s
 * per batch of 64 (the middle of "1-2 s"), threads of tf.data read and decode one
 * file each. bench/plan_paper.c prints the same beside the paper's numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/paper.h"

static void test_threads(void **state)
{
    static const double hdd[] = {1.65, 1.95, 2.3};
    double one = wr_paper_read_rate("hdd", 1, NULL);

    (void)state;
    for (unsigned k = 0; k < 3; k++)
        assert_true(
            fabs(wr_paper_read_rate("hdd", 2u << k, NULL) / one / hdd[k] - 1) <
            0.03);
    assert_true(fabs(wr_paper_read_rate("lustre", 8, NULL) /
                         wr_paper_read_rate("lustre", 1, NULL) / 7.8 -
                     1) < 0.03);
    one = wr_paper_read_rate("ssd", 1, NULL); /* "almost double" */
    assert_true(wr_paper_read_rate("ssd", 2, NULL) > 1.7 * one);
}

/* With prefetch it matters neither where the pictures lie nor how many threads
 * read them; without, the time of loading comes on top. */
static void test_prefetch(void **state)
{
    static const char *const devices[] = {"hdd", "ssd", "optane", "lustre"};
    double least = INFINITY, most = 0, before = INFINITY;

    (void)state;
    for (unsigned d = 0; d < 4; d++)
        for (uint32_t threads = 1; threads <= 8; threads *= 2) {
            double with = wr_paper_run(devices[d], threads, 1, NULL);
            double without = wr_paper_run(devices[d], threads, 0, NULL);

            least = fmin(least, with);
            most = fmax(most, with);
            assert_true(without > with);
        }
    assert_true(most < 1.01 * least);
    for (uint32_t threads = 1; threads <= 8; threads *= 2) {
        double without = wr_paper_run("hdd", threads, 0, NULL);

        assert_true(without < before);
        before = without;
    }
    assert_true(wr_paper_run("hdd", 1, 0, NULL) > 1.3 * least);
}

static void test_saves(void **state)
{
    struct wr_paper_saves hdd, ssd, optane, burst;

    (void)state;
    assert_int_equal(wr_paper_saving("hdd", 0, &hdd, NULL), 0);
    assert_int_equal(wr_paper_saving("ssd", 0, &ssd, NULL), 0);
    assert_int_equal(wr_paper_saving("optane", 0, &optane, NULL), 0);
    assert_int_equal(wr_paper_saving("burst", 0, &burst, NULL), 0);
    assert_true(hdd.stall_s > ssd.stall_s && ssd.stall_s > optane.stall_s);
    assert_true(fabs(burst.run_s / optane.run_s - 1) < 0.01);
    assert_true(hdd.stall_s / burst.stall_s > 2.6); /* by bandwidth alone */
    assert_int_equal(wr_paper_saving("hdd", WR_PAPER_SAVER_S, &hdd, NULL), 0);
    assert_int_equal(wr_paper_saving("burst", WR_PAPER_SAVER_S, &burst, NULL),
                     0);
    assert_true(fabs(hdd.stall_s / burst.stall_s / 2.6 - 1) < 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_prefetch),
        cmocka_unit_test(test_saves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
