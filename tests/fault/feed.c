/* feed.c - a pipeline on storage that fails: all is named, nothing is lost.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>

#include "../unit/pipeline/fixture.h"

#define N 48

static const char *const names[] = {"tensors", "pictures", "reading"};

struct result {
    struct fx_log log;
    uint64_t bad_count;
    bool bad[N];
    int codes[N];
    char text[200]; /* of the first */
    int r;
};

/* Feeds one epoch and notes who was bad; each at most once. */
static void feed(const struct fx *fx, const weir_dataset *ds,
                 const weir_pipeline_config *cfg, struct result *res)
{
    weir_pipeline *p = fx_start(ds, cfg);
    weir_err err;

    memset(res, 0, sizeof(*res));
    res->r = fx_take(fx, p, SIZE_MAX, &res->log, &err);
    res->bad_count = weir_pipeline_bad_count(p);
    for (uint64_t k = 0; k < res->bad_count; k++) {
        const weir_bad_sample *s = weir_pipeline_bad(p, k);

        assert_false(res->bad[s->id]);
        res->bad[s->id] = true;
        res->codes[s->id] = s->code;
        if (k == 0)
            snprintf(res->text, sizeof(res->text), "%s", s->text);
    }
    weir_pipeline_close(&p);
}

static void assert_all_accounted(const struct result *res)
{
    assert_int_equal(res->r, 0);
    fx_assert_once(res->log.ids, res->log.id_count, res->bad, N);
    assert_int_equal(res->log.id_count + res->bad_count, N);
}

/* Reads fail by their number: which samples that hits depends on timing, but
 * every sample is either delivered or named. */
static void errors_by_number(void **state)
{
    static const char *const rules[] = {"eio@%5", "eio@60+", "short@%4",
                                        "enoent@%6,eacces@%9,short=1@%11",
                                        "delay=1@%3,eio@%8"};

    (void)state;
    for (int kind = FX_TENSORS; kind <= FX_BLOBS; kind++) {
        weir_pipeline_config cfg;
        struct fx fx;

        fx_make(&fx, kind, N, 24); /* tensors: few reads for the index */
        fx_config(&fx, &cfg);
        for (unsigned i = 0; i < 5; i++) {
            char prefix[100];
            struct result res;
            weir_dataset *ds = NULL;
            char url[400];

            snprintf(prefix, sizeof(prefix), "fault:%s:", rules[i]);
            snprintf(url, sizeof(url), "%s%s", prefix, fx.dir);
            /* a rule may hit the index itself: then there is no data set */
            if (weir_dataset_open(&ds, url, NULL, NULL) < 0 ||
                weir_dataset_count(ds) != N) {
                assert_int_equal(kind, FX_TENSORS);
                weir_dataset_close(&ds);
                continue;
            }
            cfg.threads = 1 + i % 3;
            cfg.prefetch = i % 3;
            feed(&fx, ds, &cfg, &res);
            assert_all_accounted(&res);
            if (kind == FX_BLOBS && i != 1)
                assert_true(res.bad_count > 0);
            fx_log_done(&res.log);
            weir_dataset_close(&ds);
        }
        fx_done(&fx);
    }
}

/* Each harm comes with its code and a reason that names the file. */
static void harms_are_named(void **state)
{
    static const struct {
        enum fx_harm harm;
        int code;
        const char *reason;
    } table[] = {
        {FX_REMOVE, WEIR_ENOENT, "cannot open: No such file or directory"},
        {FX_CUT, WEIR_ECHANGED, "bytes were indexed"},
        {FX_GROW, WEIR_ECHANGED, "longer than"},
        {FX_GARBAGE, WEIR_EFORMAT, ""},
        {FX_PIPE, WEIR_EIO, "is no regular file"},
    };

    (void)state;
    for (unsigned k = 0; k < 20; k++) {
        unsigned i = k % 5;
        weir_pipeline_config cfg;
        struct result res;
        weir_dataset *ds;
        struct fx fx;

        fx_make(&fx, FX_JPEGS, N, 1);
        ds = fx_open(&fx, "");
        fx_spoil(&fx, 17, table[i].harm); /* after it was indexed */
        fx_config(&fx, &cfg);
        cfg.io = k / 5 % 2 ? WEIR_IO_BLOCKING : WEIR_IO_AUTO;
        cfg.direct = k / 10;
        feed(&fx, ds, &cfg, &res);
        assert_all_accounted(&res);
        assert_int_equal(res.bad_count, 1);
        assert_int_equal(res.codes[17], table[i].code);
        assert_non_null(strstr(res.text, "'a/00017.jpg': "));
        assert_non_null(strstr(res.text, table[i].reason));
        fx_log_done(&res.log);
        weir_dataset_close(&ds);
        fx_done(&fx);
    }
}

/* A file of many samples: gone, or with its end cut off. */
static void a_part_of_a_file_is_lost(void **state)
{
    weir_pipeline_config cfg;
    struct result res;
    weir_dataset *ds;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_TENSORS, N, 8);
    ds = fx_open(&fx, "");
    fx_spoil(&fx, 0, FX_REMOVE);
    fx_spoil(&fx, 16, FX_CUT); /* samples 16 to 23 */
    fx_config(&fx, &cfg);
    for (int direct = 0; direct < 2; direct++) {
        cfg.direct = direct;
        feed(&fx, ds, &cfg, &res);
        assert_all_accounted(&res);
        assert_int_equal(res.bad_count, 16);
        for (unsigned i = 0; i < 8; i++) {
            assert_int_equal(res.codes[i], WEIR_ENOENT);
            assert_int_equal(res.codes[16 + i], WEIR_ECHANGED);
        }
        fx_log_done(&res.log);
    }
    weir_dataset_close(&ds);
    fx_done(&fx);
}

/* A file that disappears while the pipeline is at work. */
static void disappearing_in_mid_run(void **state)
{
    weir_pipeline_config cfg;
    struct fx_log log = {0};
    bool bad[N] = {0};
    weir_dataset *ds;
    weir_pipeline *p;
    weir_err err;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_BLOBS, N, 1);
    ds = fx_open(&fx, "");
    fx_config(&fx, &cfg);
    cfg.order = WEIR_ORDER_SEQUENTIAL;
    cfg.prefetch = 0; /* nothing is read before it is asked for */
    p = fx_start(ds, &cfg);
    assert_int_equal(fx_take(&fx, p, 3, &log, &err), 1);
    for (uint32_t i = 20; i < 30; i++) {
        fx_spoil(&fx, i, FX_REMOVE);
        bad[i] = true;
    }
    assert_int_equal(fx_take(&fx, p, SIZE_MAX, &log, &err), 0);
    fx_assert_once(log.ids, log.id_count, bad, N);
    assert_int_equal(weir_pipeline_bad_count(p), 10);
    assert_int_equal(weir_pipeline_bad(p, 0)->id, 20);
    assert_int_equal(weir_pipeline_bad(p, 0)->code, WEIR_ENOENT);
    weir_pipeline_close(&p);
    weir_dataset_close(&ds);
    fx_log_done(&log);
    fx_done(&fx);
}

/* Late answers change when things come, not what comes. */
static void delays_change_nothing(void **state)
{
    static const char *const rules[] = {
        "", "fault:delay=4@%3:", "fault:delay=2@~2.,delay=1@%2:"};

    (void)state;
    for (int kind = FX_TENSORS; kind <= FX_BLOBS; kind++) {
        uint64_t hash = 0;
        struct fx fx;

        fx_make(&fx, kind, N, 6);
        for (unsigned i = 0; i < 6; i++) {
            weir_dataset *ds = fx_open(&fx, rules[i % 3]);
            weir_pipeline_config cfg;
            struct fx_log log = {0};

            fx_config(&fx, &cfg);
            cfg.threads = 1 + i / 2;
            cfg.prefetch = i % 3;
            assert_int_equal(fx_run(&fx, ds, &cfg, &log), 0);
            hash = i ? hash : log.hash;
            if (log.hash != hash)
                fail_msg("%s: %s changed the result", names[kind],
                         rules[i % 3]);
            fx_log_done(&log);
            weir_dataset_close(&ds);
        }
        fx_done(&fx);
    }
}

/* Nothing can be read at all: an error that says so, not an endless run. */
static void everything_fails(void **state)
{
    weir_pipeline_config cfg;
    struct result res;
    weir_dataset *ds;
    struct fx fx;

    (void)state;
    fx_make(&fx, FX_BLOBS, N, 1);
    ds = fx_open(&fx, "fault:eio:");
    for (int mode = WEIR_REMAINDER_KEEP; mode <= WEIR_REMAINDER_PAD; mode++) {
        fx_config(&fx, &cfg);
        cfg.epochs = 0;
        cfg.remainder = (enum weir_remainder)mode;
        feed(&fx, ds, &cfg, &res);
        assert_int_equal(res.r, WEIR_EFORMAT);
        assert_int_equal(res.log.batch_count, 0);
        assert_int_equal(res.bad_count, N);
        assert_non_null(strstr(res.text, "Input/output error"));
        fx_log_done(&res.log);
    }
    weir_dataset_close(&ds);
    fx_done(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_by_number),
        cmocka_unit_test(harms_are_named),
        cmocka_unit_test(a_part_of_a_file_is_lost),
        cmocka_unit_test(disappearing_in_mid_run),
        cmocka_unit_test(delays_change_nothing),
        cmocka_unit_test(everything_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
