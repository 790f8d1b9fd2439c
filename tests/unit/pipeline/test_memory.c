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
#include <stdio.h>

#include <cmocka.h>
#include <string.h>
#include <sys/resource.h>
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
    alarm(300); /* rather than hang */
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

/* Memory that does not suffice says nothing about the sample: it is not called
 * bad, the epoch fails and names the limit, and the run can go on from its
 * state. (A sanitizer reserves more than any limit, so there the case is left
 * out.) */
static void no_memory_for_a_sample(void **state)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)state;
    skip();
#else
    struct rlimit old, few;
    weir_pipeline_config cfg;
    struct fx_log log = {0};
    char path[300], state_bytes[200];
    const void *resume = state_bytes;
    weir_dataset *ds;
    weir_pipeline *p;
    weir_err err;
    struct fx fx;
    size_t len;

    (void)state;
    fx_make(&fx, FX_BLOBS, 20, 1);
    snprintf(path, sizeof(path), "%s/a/00007.jpg", fx.dir);
    assert_int_equal(truncate(path, 1 << 30), 0);
    ds = fx_open(&fx, "");
    fx_config(&fx, &cfg);
    cfg.prefetch = 0; /* nothing is read before the limit is set */
    cfg.depth = 2;
    p = fx_start(ds, &cfg);
    getrlimit(RLIMIT_AS, &old);
    few = old;
    few.rlim_cur = (rlim_t)900 << 20;
    alarm(300); /* rather than hang */
    setrlimit(RLIMIT_AS, &few);
    assert_int_equal(fx_take(&fx, p, SIZE_MAX, &log, &err), WEIR_ENOMEM);
    setrlimit(RLIMIT_AS, &old);
    assert_non_null(strstr(err.msg, "00007.jpg"));
    assert_non_null(strstr(err.msg, "RLIMIT_AS is 944 MB"));
    assert_int_equal(weir_pipeline_bad_count(p), 0);
    len = weir_pipeline_state(p, state_bytes, sizeof(state_bytes));
    weir_pipeline_close(&p);

    fx_write(&fx, 7, 0); /* of a size that there is memory for */
    weir_dataset_close(&ds);
    ds = fx_open(&fx, "");
    cfg.resume = &resume;
    cfg.resume_len = &len;
    cfg.resume_count = 1;
    assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
    alarm(0);
    fx_assert_once(log.ids, log.id_count, (bool[20]){0}, fx.n);
    fx_log_done(&log);
    weir_dataset_close(&ds);
    fx_done(&fx);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_samples_fill_the_ring),
        cmocka_unit_test(samples_larger_than_the_ring),
        cmocka_unit_test(no_memory_for_a_sample),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
