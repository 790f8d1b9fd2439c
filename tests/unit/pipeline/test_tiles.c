/* test_tiles.c - samples of HDF5: the same for any threads, order and engine.
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "format/format.h"
#include "storage/storage.h"
#include "weir/pipeline.h"

#define SAMPLES 12

/* Files of tests/data/hdf5/make.py: element k of x is k * 7 % 251. */
static const struct {
    const char *name;
    uint32_t values; /* of a sample */
    enum weir_dtype dtype;
} sets[] = {
    {"plain", 144, WEIR_U8},    {"tiles", 48, WEIR_I16},
    {"rows", 48, WEIR_F32},     {"raw-tiles", 48, WEIR_U16},
    {"latest", 6, WEIR_I32},    {"btree2", 6, WEIR_U8},
    {"userblock", 6, WEIR_I16}, {"compact", 4, WEIR_U16},
};

static weir_dataset *open_set(const char *name)
{
    weir_dataset *ds = NULL;
    weir_err err;
    char url[512];

    snprintf(url, sizeof(url), "%s/hdf5/%s.h5", WEIR_TEST_DATA, name);
    if (weir_dataset_open(&ds, url, NULL, &err) < 0)
        fail_msg("%s", err.msg);
    return ds;
}

static int64_t value_at(const weir_batch *b, uint64_t k)
{
    const uint8_t *at = b->data;
    union {
        uint8_t u8;
        int16_t i16;
        int32_t i32;
        float f32;
    } v;

    switch (b->dtype) {
    case WEIR_U8:
        return at[k];
    case WEIR_I16:
    case WEIR_U16:
        memcpy(&v, at + 2 * k, 2);
        return v.i16;
    case WEIR_I32:
        memcpy(&v, at + 4 * k, 4);
        return v.i32;
    default:
        memcpy(&v, at + 4 * k, 4);
        return (int64_t)v.f32;
    }
}

static void check_batch(const weir_batch *b, uint32_t values)
{
    for (uint32_t s = 0; s < b->count; s++)
        for (uint32_t k = 0; k < values; k++)
            assert_int_equal(value_at(b, (uint64_t)s * values + k),
                             (b->ids[s] * values + k) * 7 % 251);
}

/* A digest of three epochs. */
static uint64_t run(weir_dataset *ds, const weir_pipeline_config *cfg,
                    uint32_t values)
{
    weir_pipeline *p = NULL;
    const weir_batch *b;
    uint64_t digest = 1;
    uint64_t seen = 0;
    weir_err err;
    int r;

    if (weir_pipeline_open(&p, ds, cfg, &err) < 0)
        fail_msg("%s", err.msg);
    while ((r = weir_pipeline_next(p, &b, &err)) > 0) {
        check_batch(b, values);
        digest = XXH3_64bits_withSeed(b->ids, b->count * sizeof(b->ids[0]),
                                      digest);
        digest = XXH3_64bits_withSeed(b->data, b->bytes, digest);
        seen += b->count;
        weir_batch_release(b);
    }
    assert_int_equal(r, 0);
    assert_int_equal(seen, 3 * SAMPLES);
    weir_pipeline_close(&p);
    return digest;
}

static void test_same(void **state)
{
    static const enum weir_order orders[] = {
        WEIR_ORDER_SHUFFLE, WEIR_ORDER_BLOCK, WEIR_ORDER_SEQUENTIAL};

    (void)state;
    for (size_t n = 0; n < sizeof(sets) / sizeof(sets[0]); n++)
        for (unsigned o = 0; o < 3; o++) {
            weir_dataset *ds = open_set(sets[n].name);
            uint64_t first = 0;

            for (unsigned v = 0; v < 8; v++) {
                weir_pipeline_config cfg;
                uint64_t digest;

                weir_pipeline_defaults(&cfg);
                cfg.batch = 5;
                cfg.epochs = 3;
                cfg.seed = 7;
                cfg.order = orders[o];
                cfg.threads = 1 + v % 4;
                cfg.depth = v % 3 ? 3 : 1;
                cfg.io = v % 2 ? WEIR_IO_BLOCKING : WEIR_IO_AUTO;
                cfg.direct = v == 6;
                cfg.memory = v >= 4 ? 1 << 20 : 0;
                if (sets[n].dtype == WEIR_U8)
                    cfg.picture.dtype = WEIR_U8;
                digest = run(ds, &cfg, sets[n].values);
                first = v ? first : digest;
                assert_int_equal(digest, first);
            }
            weir_dataset_close(&ds);
        }
}

/* A chunk that is not there is fill value; converted, too. */
static void test_fill(void **state)
{
    weir_dataset *ds = open_set("fill");
    weir_field_config own;
    weir_pipeline_config cfg;
    weir_pipeline *p = NULL;
    const weir_batch *b;
    weir_err err;

    (void)state;
    for (int convert = 0; convert < 2; convert++) {
        weir_pipeline_defaults(&cfg);
        cfg.batch = SAMPLES;
        cfg.order = WEIR_ORDER_SEQUENTIAL;
        if (convert) {
            memset(&own, 0, sizeof(own));
            own.name = "x";
            own.convert = 1;
            own.dtype = WEIR_F32;
            own.picture = cfg.picture;
            cfg.field = &own;
            cfg.field_count = 1;
        }
        if (weir_pipeline_open(&p, ds, &cfg, &err) < 0)
            fail_msg("%s", err.msg);
        assert_int_equal(weir_pipeline_next(p, &b, &err), 1);
        for (unsigned k = 0; k < SAMPLES * 48; k++) {
            double want = k / 48 == 5 ? 1 : 0.1;

            if (convert)
                assert_true(((const float *)b->data)[k] == (float)want);
            else
                assert_true(((const double *)b->data)[k] == want);
        }
        weir_batch_release(b);
        weir_pipeline_close(&p);
    }
    weir_dataset_close(&ds);
}

/* Reads of an open data set go through other rules from now on. */
static void set_rules(weir_dataset *ds, const char *rules)
{
    char url[512], *leaf = NULL;
    weir_err err;

    snprintf(url, sizeof(url), "fault:%s:%s", rules, ds->url);
    wr_store_close(ds->store);
    if (wr_store_open(url, &ds->store, &leaf, &err) < 0)
        fail_msg("%s", err.msg);
    free(leaf);
}

/* Samples of three epochs, good ones and bad ones. */
static void count_samples(weir_dataset *ds, const weir_pipeline_config *cfg,
                          uint64_t *ret_good, uint64_t *ret_bad)
{
    weir_pipeline *p = NULL;
    const weir_batch *b;
    weir_err err;
    int r;

    if (weir_pipeline_open(&p, ds, cfg, &err) < 0)
        fail_msg("%s", err.msg);
    for (*ret_good = 0; (r = weir_pipeline_next(p, &b, &err)) > 0;) {
        *ret_good += b->count;
        weir_batch_release(b);
    }
    if (r < 0)
        fail_msg("%s", err.msg);
    *ret_bad = weir_pipeline_bad_count(p);
    weir_pipeline_close(&p);
}

static void fails(weir_dataset *ds, const weir_pipeline_config *cfg)
{
    weir_pipeline *p = NULL;
    const weir_batch *b;
    weir_err err;
    int r;

    if (weir_pipeline_open(&p, ds, cfg, &err) < 0)
        fail_msg("%s", err.msg);
    while ((r = weir_pipeline_next(p, &b, &err)) > 0)
        weir_batch_release(b);
    assert_int_equal(r, WEIR_EIO);
    weir_pipeline_close(&p);
}

/* Units that are read again, or cannot be, with hardly any memory for them. */
static void test_faults(void **state)
{
    static const char *const names[] = {"fill", "tiles", "rows"};
    static const char *const rules[] = {"emfile@%3", "eio@%5", "short=5@%7",
                                        "eio"};

    (void)state;
    for (unsigned how = 0; how < 3 * 4 * 2; how++) {
        weir_dataset *ds = open_set(names[how % 3]);
        unsigned rule = how / 3 % 4;
        weir_pipeline_config cfg;
        uint64_t good, bad;

        set_rules(ds, rules[rule]);
        weir_pipeline_defaults(&cfg);
        cfg.batch = 5;
        cfg.epochs = 3;
        cfg.threads = 3;
        cfg.depth = 2;
        cfg.memory = 1 << 20;
        cfg.order = how / 12 ? WEIR_ORDER_SHUFFLE : WEIR_ORDER_SEQUENTIAL;
        if (rule == 3) { /* not one epoch would have a batch */
            cfg.epochs = 1;
            cfg.on_error = WEIR_ON_ERROR_FAIL;
            fails(ds, &cfg);
        } else {
            count_samples(ds, &cfg, &good, &bad);
            assert_int_equal(good + bad, 3 * SAMPLES);
            if (rule == 0)
                assert_int_equal(bad, 0);
        }
        weir_dataset_close(&ds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_faults),
    };

    if (!WEIR_TEST_HDF5)
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
