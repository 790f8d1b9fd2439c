/* test_figures.c - the numbers that a result comes down to.
 * SPDX-License-Identifier: Apache-2.0 */
#include "run/figures.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)

static struct wr_run_figures f; /* too large for a stack */

static void near(double a, double b)
{
    if (!(fabs(a - b) < 1e-9))
        fail_msg("%.12g is not %.12g", a, b);
}

/* Two ranks of two accelerators: 100 s each, of which the first rank computes
 * 60 and waits 30, the second computes 60, waits 10 and stands at the barrier for
 * 20; both save for 5 and wait 2 for the first batch. */
static struct wr_run_result two_ranks(void)
{
    struct wr_run_result r = {.rank_count = 2, .world = 4, .epoch_count = 1};

    r.ranks = calloc(2, sizeof(*r.ranks));
    r.epochs = calloc(2, sizeof(*r.epochs));
    for (int k = 0; k < 2; k++) {
        struct wr_run_times t = {.wall = 100 * S,
                                 .compute = 2 * 60 * S,
                                 .wait = 2 * (k ? 10 : 30) * S,
                                 .barrier = 2 * (k ? 20 : 0) * S,
                                 .save = 2 * 5 * S};

        r.ranks[k] = (struct wr_run_rank){.accelerators = 2,
                                          .t = t,
                                          .samples = 950,
                                          .bytes = 9500,
                                          .steps = 10,
                                          .first_wait_ns = 2 * S,
                                          .cpu_s = 3,
                                          .peak_bytes = 7};
        r.epochs[k] = (struct wr_run_epoch){.t = t,
                                            .samples = 950,
                                            .bytes = 9500,
                                            .au_dlio = 1.4,
                                            .dlio_per_s = 8,
                                            .resident = k ? 0.5 : -1};
    }
    return r;
}

static void the_rules_of_utilization(void **state)
{
    struct wr_run_result r = two_ranks();

    (void)state;
    wr_run_figures(&r, &f);
    near(f.seconds, 100);
    near(f.au, 240 / (400 - 20 - 8.0)); /* without saving and first batches */
    near(f.au_dlio, 2.8 / 4);
    near(f.dlio_per_s, 16);
    near(f.samples_per_s, 1900 / 95.0);
    near(f.bytes_per_s, 19000 / 95.0);
    near(f.loss.compute, 0.6);
    near(f.loss.read, 0.2);
    near(f.loss.barrier, 0.1);
    near(f.loss.save, 0.05);
    near(f.loss.emulator, 0.05);
    near(f.resident, 0.5);
    near(f.first_batch_ms, 2000);
    near(f.cpu_s, 6);
    assert_int_equal(f.peak_bytes, 14);
    wr_run_done(&r);
}

static void an_epoch_of_all_ranks(void **state)
{
    struct wr_run_result r = two_ranks();
    struct wr_run_epoch_values e = wr_run_epoch_of(&r, 0);

    (void)state;
    near(e.seconds, 100);
    near(e.au, 240 / 372.0);
    near(e.wait_s, 20);
    near(e.save_s, 5);
    near(e.samples, 1900);
    wr_run_done(&r);
}

static void nothing_is_no_number(void **state)
{
    struct wr_run_result r = {0};

    (void)state;
    wr_run_figures(&r, &f);
    assert_true(isnan(f.au));
    assert_true(isnan(f.samples_per_s));
    near(f.resident, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rules_of_utilization),
        cmocka_unit_test(an_epoch_of_all_ranks),
        cmocka_unit_test(nothing_is_no_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
