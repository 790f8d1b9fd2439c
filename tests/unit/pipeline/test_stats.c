/* test_stats.c - counts are exact, times add up, the verdict follows them.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "fixture.h"

static void counts_are_exact(void **state)
{
    static const enum fx_kind kinds[] = {FX_TENSORS, FX_JPEGS, FX_BLOBS};

    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        weir_pipeline_config cfg;
        struct fx_log log = {0};
        weir_dataset *ds;
        weir_pipeline *p;
        weir_stats st;
        weir_err err;
        struct fx fx;

        fx_make(&fx, kinds[k], 37, 1);
        ds = fx_open(&fx, "");
        fx_config(&fx, &cfg);
        cfg.epochs = 2;
        cfg.threads = 3;
        cfg.depth = 5;
        cfg.prefetch = 1;
        p = fx_start(ds, &cfg);
        weir_pipeline_stats(p, &st);
        assert_int_equal(st.batches, 0);
        assert_int_equal(st.samples, 0);
        assert_int_equal(fx_take(&fx, p, SIZE_MAX, &log, &err), 0);
        weir_pipeline_stats(p, &st);
        assert_int_equal(st.batches, 20);
        assert_int_equal(st.samples, 74);
        assert_int_equal(st.bytes_read, 2 * weir_dataset_bytes(ds));
        assert_int_equal(st.bad, 0);
        assert_int_equal(st.workers, 3);
        assert_int_equal(st.depth, 5);
        assert_int_equal(st.prefetch, 1);
        assert_true(!strcmp(st.io, "io_uring") || !strcmp(st.io, "blocking"));
        weir_pipeline_close(&p);
        weir_dataset_close(&ds);
        fx_log_done(&log);
        fx_done(&fx);
    }
}

/* The parts of the consumer's time cannot be more than the whole, nor those
 * of the workers more than all of theirs. */
static void times_add_up(void **state)
{
    weir_pipeline_config cfg;
    struct fx_log log = {0};
    weir_dataset *ds;
    weir_pipeline *p;
    weir_stats st;
    weir_err err;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_JPEGS, 12, 1);
    ds = fx_open(&fx, "fault:delay=20:"); /* to be waited for */
    fx_config(&fx, &cfg);
    p = fx_start(ds, &cfg);
    assert_int_equal(fx_take(&fx, p, SIZE_MAX, &log, &err), 0);
    weir_pipeline_stats(p, &st);
    assert_true(st.consumer_wait_ns + st.consumer_busy_ns <= st.wall_ns);
    assert_true(st.first_batch_ns > 0 && st.first_batch_ns <= st.wall_ns);
    assert_true(st.decode_ns > 0);
    assert_true(st.storage_wait_ns > 0);
    assert_true(st.storage_wait_ns + st.submit_ns + st.decode_ns +
                    st.resample_ns + st.idle_ns <=
                st.workers * st.wall_ns);
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
    fx_log_done(&log);
    fx_done(&fx);
}

static void engines_are_named(void **state)
{
    weir_pipeline_config cfg;
    weir_dataset *ds;
    weir_pipeline *p;
    weir_stats st;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_BLOBS, 4, 1);
    ds = fx_open(&fx, "");
    fx_config(&fx, &cfg);
    cfg.io = WEIR_IO_BLOCKING;
    p = fx_start(ds, &cfg);
    weir_pipeline_stats(p, &st);
    assert_string_equal(st.io, "blocking");
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
    fx_done(&fx);
}

static void verdicts(void **state)
{
    static const struct {
        weir_stats st;
        enum weir_verdict verdict;
    } table[] = {
        {{.batches = 0}, WEIR_VERDICT_NONE},
        {{.batches = 1, .consumer_wait_ns = 9, .decode_ns = 9},
         WEIR_VERDICT_NONE},
        {{.batches = 9}, WEIR_VERDICT_NONE},
        {{.batches = 9,
          .consumer_wait_ns = 100,
          .storage_wait_ns = 90,
          .decode_ns = 5},
         WEIR_VERDICT_STORAGE},
        {{.batches = 9,
          .consumer_wait_ns = 100,
          .submit_ns = 90,
          .decode_ns = 50,
          .resample_ns = 30},
         WEIR_VERDICT_STORAGE},
        {{.batches = 9,
          .consumer_wait_ns = 100,
          .storage_wait_ns = 5,
          .decode_ns = 90},
         WEIR_VERDICT_DECODE},
        {{.batches = 9,
          .consumer_wait_ns = 100,
          .storage_wait_ns = 50,
          .decode_ns = 30,
          .resample_ns = 30},
         WEIR_VERDICT_DECODE},
        {{.batches = 9,
          .consumer_wait_ns = 100,
          .storage_wait_ns = 5,
          .decode_ns = 2,
          .resample_ns = 90},
         WEIR_VERDICT_CONVERT},
        {{.batches = 9,
          .consumer_wait_ns = 5,
          .consumer_busy_ns = 95,
          .storage_wait_ns = 90},
         WEIR_VERDICT_CONSUMER},
        {{.batches = 9,
          .consumer_wait_ns = 20,
          .consumer_busy_ns = 80,
          .storage_wait_ns = 90},
         WEIR_VERDICT_STORAGE},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (weir_stats_verdict(&table[i].st) != table[i].verdict)
            fail_msg("row %zu: %d", i, weir_stats_verdict(&table[i].st));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_exact),
        cmocka_unit_test(times_add_up),
        cmocka_unit_test(engines_are_named),
        cmocka_unit_test(verdicts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
