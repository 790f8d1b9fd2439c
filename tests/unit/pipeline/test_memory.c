/* test_memory.c - samples larger than usual: no waiting for each other.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A worker's memory for encoded samples is sized for usual ones. When it is
 * full of samples of later batches, which wait for a buffer, the sample that
 * fills a hole of the first batch must still find a way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "fixture.h"

#define N 240

static void run(uint32_t large, size_t large_size, uint32_t threads)
{
    weir_pipeline_config cfg;
    struct fx_log log = {0};
    bool bad[N] = {0};
    weir_dataset *ds;
    struct fx fx;

    fx_make(&fx, FX_JPEGS, N, 1);
    for (uint32_t i = 8; i < 8 + large; i++)
        fx_write(&fx, i, large_size); /* bytes behind the picture's end */
    ds = fx_open(&fx, "");
    for (uint32_t i = 0; i < 8; i += 3) {
        bad[i] = true;
        fx_spoil(&fx, i, FX_GARBAGE);
    }
    fx_config(&fx, &cfg);
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    cfg.batch = 2;
    cfg.prefetch = 1;
    cfg.depth = 12;
    cfg.threads = threads;
    alarm(60); /* rather than hang */
    assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
    alarm(0);
    fx_assert_once(log.ids, log.id_count, bad, N);
    fx_log_done(&log);
    weir_dataset_close(&ds);
    fx_done(&fx);
}

/* The ring is 2 MiB here: two of these fill it. */
static void large_samples_fill_the_ring(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 3; threads++)
        run(12, 900 << 10, threads);
}

static void samples_larger_than_the_ring(void **state)
{
    (void)state;
    run(4, 3 << 20, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_samples_fill_the_ring),
        cmocka_unit_test(samples_larger_than_the_ring),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
