/* lack.c - storage that lacks resources: samples wait for them, none is bad.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>
#include <unistd.h>

#include "../unit/pipeline/fixture.h"

#define N 48

static const bool none_bad[N];

/* Resources that come back: the epoch is complete. */
static void lack_is_waited_out(void **state)
{
    static const char *const rules[] = {
        "fault:emfile@%3:", "fault:enomem@%2:", "fault:emfile@7,enomem@20:",
        "fault:emfile@%4,enomem@%5:"};

    (void)state;
    for (int kind = FX_TENSORS; kind <= FX_BLOBS; kind++)
        for (unsigned i = 0; i < 4; i++) {
            weir_pipeline_config cfg;
            struct fx_log log = {0};
            weir_dataset *ds;
            weir_err err;
            weir_pipeline *p;
            struct fx fx;
            char url[400];

            fx_make(&fx, kind, N, 24);
            snprintf(url, sizeof(url), "%s%s", rules[i], fx.dir);
            if (weir_dataset_open(&ds, url, NULL, &err) < 0) {
                /* the rule has hit the index: that is not bad data either */
                assert_true(err.code == WEIR_EMFILE || err.code == WEIR_ENOMEM);
                fx_done(&fx);
                continue;
            }
            assert_int_equal(weir_dataset_issue_count(ds), 0);
            fx_config(&fx, &cfg);
            cfg.threads = 1 + i % 3;
            cfg.prefetch = i % 3;
            cfg.order = i % 2 ? WEIR_ORDER_BLOCK : WEIR_ORDER_SHUFFLE;
            p = fx_start(ds, &cfg);
            alarm(300); /* rather than hang */
            assert_int_equal(fx_take(&fx, p, SIZE_MAX, &log, &err), 0);
            alarm(0);
            assert_int_equal(weir_pipeline_bad_count(p), 0);
            fx_assert_once(log.ids, log.id_count, none_bad, N);
            weir_pipeline_close(&p);
            fx_log_done(&log);
            weir_dataset_close(&ds);
            fx_done(&fx);
        }
}

/* Resources that never come back: the epoch fails, whatever the policy, names
 * the limit, and what is left of it comes when the run is resumed. */
static void lack_that_stays_fails(void **state)
{
    weir_pipeline_config cfg;
    struct fx_log log = {0};
    char bytes[200];
    const void *resume = bytes;
    weir_dataset *ds;
    weir_pipeline *p;
    weir_err err;
    struct fx fx;
    size_t len;

    (void)state;
    fx_make(&fx, FX_BLOBS, N, 1);
    ds = fx_open(&fx, "fault:emfile@20+:");
    fx_config(&fx, &cfg);
    cfg.on_error = WEIR_ON_ERROR_SKIP;
    p = fx_start(ds, &cfg);
    alarm(300); /* rather than hang */
    assert_int_equal(fx_take(&fx, p, SIZE_MAX, &log, &err), WEIR_EMFILE);
    assert_non_null(strstr(err.msg, "RLIMIT_NOFILE is "));
    assert_non_null(strstr(err.msg, "threads and depth"));
    assert_int_equal(weir_pipeline_bad_count(p), 0);
    len = weir_pipeline_state(p, bytes, sizeof(bytes));
    assert_int_equal(len, 80); /* of a run without bad samples */
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);

    ds = fx_open(&fx, "");
    cfg.resume = &resume;
    cfg.resume_len = &len;
    cfg.resume_count = 1;
    assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
    alarm(0);
    fx_assert_once(log.ids, log.id_count, none_bad, N);
    fx_log_done(&log);
    weir_dataset_close(&ds);
    fx_done(&fx);
}

/* A tier that cannot be read now is passed over, not damaged. */
static void lack_is_no_damage_of_a_cache(void **state)
{
    static const char *const prefixes[] = {
        "", "fault:emfile@%3:", "fault:enomem@%5:", "fault:open-emfile@1:", ""};
    weir_pipeline_config cfg;
    struct fx fx, tier;
    char spec[600];
    weir_dataset *ds;
    weir_stats st;
    weir_err err;

    (void)state;
    fx_make(&fx, FX_BLOBS, N, 1);
    fx_make(&tier, FX_BLOBS, 1, 1);
    ds = fx_open(&fx, "");
    fx_config(&fx, &cfg);
    for (int round = 0; round < 5; round++) {
        struct fx_log log = {0};
        weir_pipeline *p;

        snprintf(spec, sizeof(spec), "%s%s:10MiB", prefixes[round], tier.dir);
        cfg.cache = spec;
        p = fx_start(ds, &cfg);
        assert_int_equal(fx_take(&fx, p, SIZE_MAX, &log, &err), 0);
        fx_assert_once(log.ids, log.id_count, none_bad, N);
        weir_pipeline_stats(p, &st);
        assert_int_equal(st.cache_damaged, 0);
        if (round == 4) /* all of it is there still */
            assert_int_equal(st.cache_dir_hits, N);
        weir_pipeline_close(&p);
        fx_log_done(&log);
    }
    weir_dataset_close(&ds);
    fx_done(&tier);
    fx_done(&fx);
}

/* An index that was not made for a lack is no index with problems. */
static void an_index_is_whole_or_none(void **state)
{
    static const char *const rules[] = {
        "fault:list-emfile@1:",  "fault:list-emfile@2:",
        "fault:list-emfile@3:",  "fault:open-emfile@1:",
        "fault:open-emfile@2:",  "fault:stat-enomem@2:",
        "fault:stat-enomem@3:",  "fault:open-emfile@%2:",
        "fault:open-emfile@%3:", "fault:list-emfile@2+:",
    };

    (void)state;
    for (int kind = FX_TENSORS; kind <= FX_JPEGS; kind++) {
        struct fx fx;

        fx_make(&fx, kind, N, 4);
        for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
            weir_dataset *ds = NULL;
            char url[400];
            weir_err err;

            snprintf(url, sizeof(url), "%s%s", rules[i], fx.dir);
            if (weir_dataset_open(&ds, url, NULL, &err) < 0) {
                assert_true(err.code == WEIR_EMFILE || err.code == WEIR_ENOMEM);
                continue;
            }
            assert_int_equal(weir_dataset_count(ds), N);
            assert_int_equal(weir_dataset_issue_count(ds), 0);
            weir_dataset_close(&ds);
        }
        fx_done(&fx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lack_is_waited_out),
        cmocka_unit_test(lack_that_stays_fails),
        cmocka_unit_test(lack_is_no_damage_of_a_cache),
        cmocka_unit_test(an_index_is_whole_or_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
