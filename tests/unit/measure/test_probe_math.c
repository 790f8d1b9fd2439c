/* test_probe_math.c - mixes, medians, saturation, names, signs of caches.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "measure/probe_private.h"
#include "../format/tmpdir.h"

static void test_imagenet(void **state)
{
    struct wr_probe_mix mix;
    double sum = 0, mean = 0;

    wr_probe_mix_imagenet(&mix);
    assert_string_equal(mix.name, "imagenet");
    assert_int_equal(mix.count, 8);
    for (size_t i = 0; i < mix.count; i++) {
        assert_int_equal(mix.part[i].bytes, (uint64_t)3072 << i);
        sum += mix.part[i].share;
        mean += mix.part[i].share * (double)mix.part[i].bytes;
    }
    /* ILSVRC 2012: 1,281,167 files of 147.9 GB; `weir gen imagenet` makes files
     * of 113 KB in the mean. */
    assert_float_equal(mean, 115.2e3, 100);
    assert_float_equal(sum, 1, 1e-9);
    assert_float_equal(mix.part[5].share, 0.38, 1e-9);
    assert_int_equal(wr_probe_mix_max(&mix), 393216);
}

static void test_pick_keeps_shares(void **state)
{
    struct wr_probe_mix mix;
    unsigned count[8] = {0};
    uint64_t bytes;
    unsigned n = 200000;

    wr_probe_mix_imagenet(&mix);
    for (unsigned i = 0; i < n; i++) {
        bytes = wr_probe_mix_pick(&mix, wr_rng_at(3, 0, i));
        count[__builtin_ctzll(bytes) - 10]++;
    }
    for (size_t i = 0; i < mix.count; i++)
        assert_float_equal((double)count[i] / n, mix.part[i].share, 0.005);
    assert_int_equal(wr_probe_mix_pick(&mix, 0), 3072);
    assert_int_equal(wr_probe_mix_pick(&mix, UINT64_MAX), 393216);
}

static void test_sizes_keep_shares(void **state)
{
    struct wr_probe_mix mix;
    unsigned count[8] = {0}, runs = 0;
    uint64_t *sizes;

    wr_probe_mix_imagenet(&mix);
    sizes = wr_probe_mix_sizes(&mix, 1000, 5);
    assert_non_null(sizes);
    for (unsigned i = 0; i < 1000; i++) {
        count[__builtin_ctzll(sizes[i]) - 10]++;
        runs += i && sizes[i] == sizes[i - 1];
    }
    for (size_t i = 0; i < mix.count; i++)
        assert_int_equal(count[i], (unsigned)(mix.part[i].share * 1000 + 0.5));
    assert_true(runs < 500); /* shuffled */
    free(sizes);
    sizes = wr_probe_mix_sizes(&mix, 1, 5);
    assert_int_equal(sizes[0], 98304); /* the largest share */
    free(sizes);
}

static void test_mix_of_data(void **state)
{
    struct tmpdir t;
    static char bytes[5000];
    weir_dataset *ds;
    struct wr_probe_mix mix;

    tmpdir_init(&t);
    tmpdir_mkdir(&t, "a");
    tmpdir_put(&t, "a/1.jpg", bytes, 100);
    tmpdir_put(&t, "a/2.jpg", bytes, 4500);
    tmpdir_put(&t, "a/3.jpg", bytes, 5000);
    tmpdir_put(&t, "a/4.jpg", bytes, 200);
    assert_int_equal(weir_dataset_open(&ds, t.path, NULL, NULL), 0);
    assert_int_equal(wr_probe_mix_of(ds, &mix, NULL), 0);
    assert_string_equal(mix.name, strrchr(t.path, '/') + 1);
    /* 100 and 200 both round up to one sector. */
    assert_int_equal(mix.count, 2);
    assert_int_equal(mix.part[0].bytes, 512);
    assert_float_equal(mix.part[0].share, 0.5, 1e-9);
    assert_int_equal(mix.part[1].bytes, 5120); /* 4750 by sectors */
    assert_float_equal(mix.part[1].share, 0.5, 1e-9);
    weir_dataset_close(&ds);
    tmpdir_done(&t);
}

static void test_space(void **state)
{
    struct wr_probe_test tests[] = {
        {WR_PROBE_READ, WR_PROBE_RANDOM, 4096, 1, 1, true},
        {WR_PROBE_WRITE, WR_PROBE_SEQUENTIAL, 4096, 1, 1, true},
        {WR_PROBE_FILES, WR_PROBE_RANDOM, 0, 1, 1, false},
    };
    struct wr_probe_plan p = {.tests = tests,
                              .test_count = 1,
                              .file_bytes = 1000000,
                              .small_files = 100};

    wr_probe_mix_imagenet(&p.mix);
    assert_int_equal(wr_probe_space(&p), 1000000);
    p.file = "x";
    assert_int_equal(wr_probe_space(&p), 0);
    p.file = NULL;
    p.test_count = 2;
    assert_int_equal(wr_probe_space(&p), 2000000);
    p.test_count = 3;
    /* 100 files of 115 KB in the mean. */
    assert_true(wr_probe_space(&p) > 2000000 + 11500000);
    assert_true(wr_probe_space(&p) < 2000000 + 13500000);
    p.file_bytes = INT64_MAX; /* twice that and the small ones: no way round */
    assert_true(wr_probe_space(&p) == UINT64_MAX);
}

static void test_medians(void **state)
{
    struct wr_probe_run runs[4] = {
        {.v = {.ops_per_s = 40,
               .bytes_per_s = 400,
               .bytes = 1000,
               .cpu_s = 4e-6}},
        {.v = {.ops_per_s = 10,
               .bytes_per_s = 100,
               .bytes = 1000,
               .cpu_s = 1e-6}},
        {.v = {.ops_per_s = 30,
               .bytes_per_s = 300,
               .bytes = 1000,
               .cpu_s = 3e-6}},
        {.v = {.ops_per_s = 20,
               .bytes_per_s = 200,
               .bytes = 1000,
               .cpu_s = 2e-6}},
    };
    struct wr_probe_result res = {.runs = runs, .run_count = 3};
    double scratch[4];

    wr_probe_summarize(&res, scratch);
    assert_float_equal(res.ops_spread, 10, 1e-9);
    assert_int_equal(res.median, 2);
    assert_float_equal(res.v.ops_per_s, 30, 1e-9);
    assert_float_equal(res.v.bytes_per_s, 300, 1e-9);
    assert_float_equal(res.v.cpu_s_per_gb, 3, 1e-9);
    assert_float_equal(res.v.ops_per_s_min, 10, 1e-9);
    assert_float_equal(res.v.ops_per_s_max, 40, 1e-9);
    res.run_count = 4;
    wr_probe_summarize(&res, scratch);
    assert_float_equal(res.v.ops_per_s, 25, 1e-9);
    assert_int_equal(res.median, 3);
    assert_float_equal(res.ops_spread, 10, 1e-9);
    runs[0].v.ops_per_s = 4000; /* one far off: the median hardly moves */
    wr_probe_summarize(&res, scratch);
    assert_float_equal(res.ops_spread, 10, 1e-9);
    res.run_count = 1;
    wr_probe_summarize(&res, scratch);
    assert_float_equal(res.ops_spread, 0, 1e-9);
    res = (struct wr_probe_result){.skipped = true};
    wr_probe_summarize(&res, scratch);
    assert_true(res.v.ops_per_s == 0);
}

static void test_latency_of_all_passes(void **state)
{
    static struct wr_hist a, b, open;
    struct wr_probe_run runs[2] = {{.latency = &a, .open = &open},
                                   {.latency = &b}};
    struct wr_probe_result res = {.runs = runs, .run_count = 2};
    struct wr_hist all = {.count = 77};

    for (unsigned i = 0; i < 10; i++)
        wr_hist_add(&a, 100);
    wr_hist_add(&b, 5000);
    wr_hist_add(&open, 30);
    wr_probe_latency(&res, WR_PROBE_ALL_STEPS, &all);
    assert_int_equal(all.count, 11);
    assert_int_equal(all.max, 5000);
    wr_probe_latency(&res, WR_PROBE_OPEN, &all);
    assert_int_equal(all.count, 1);
    wr_probe_latency(&res, WR_PROBE_CLOSE, &all);
    assert_int_equal(all.count, 0);
}

/* The depth that is found when depths 1, 2, 4, ... do so many a second. */
static unsigned find_saturation(const double *ops, unsigned n,
                                bool *ret_reached)
{
    struct wr_probe_test tests[10];
    struct wr_probe_result results[10];
    struct wr_probe_plan plan = {.tests = tests, .test_count = n + 2};
    struct wr_probe_report r = {.results = results, .count = n + 2};

    for (unsigned i = 0; i < n; i++) {
        tests[i] = (struct wr_probe_test){
            WR_PROBE_READ, WR_PROBE_RANDOM, 4096, 1u << (n - 1 - i), 1, true};
        results[i] = (struct wr_probe_result){.run_count = ops[n - 1 - i] > 0,
                                              .v.ops_per_s = ops[n - 1 - i]};
    }
    /* Others, that are not to be taken into account. */
    tests[n] = (struct wr_probe_test){
        WR_PROBE_READ, WR_PROBE_RANDOM, 8192, 512, 1, true};
    tests[n + 1] = (struct wr_probe_test){
        WR_PROBE_READ, WR_PROBE_RANDOM, 4096, 512, 2, true};
    results[n] = results[n + 1] = (struct wr_probe_result){.run_count = 1,
                                                           .v.ops_per_s = 1e9};
    return wr_probe_saturation(&plan, &r, &tests[0], ret_reached);
}

static unsigned saturation_of(const double *ops, unsigned n)
{
    bool reached;

    return find_saturation(ops, n, &reached);
}

static void test_saturation_reached(void **state)
{
    bool reached = true;

    assert_int_equal(find_saturation((double[]){100, 200, 400}, 3, &reached),
                     4);
    assert_false(reached);
    assert_int_equal(find_saturation((double[]){100, 200, 201}, 3, &reached),
                     2);
    assert_true(reached);
    /* The deepest was skipped: nobody knows. */
    assert_int_equal(find_saturation((double[]){100, 200, 0}, 3, &reached), 2);
    assert_false(reached);
}

static void test_saturation(void **state)
{
    assert_int_equal(saturation_of((double[]){100, 200, 400, 800}, 4), 8);
    assert_int_equal(saturation_of((double[]){100, 200, 210, 211, 205}, 5), 4);
    assert_int_equal(saturation_of((double[]){100, 200, 208, 211, 205}, 5), 2);
    assert_int_equal(saturation_of((double[]){100, 90, 80}, 3), 1);
    /* Creeping is no gain, and neither is coming back from a dip. */
    assert_int_equal(saturation_of((double[]){100, 103, 106, 109}, 4), 1);
    assert_int_equal(saturation_of((double[]){100, 200, 150, 200}, 4), 2);
    /* One that was skipped is left out: two doublings at once. */
    assert_int_equal(saturation_of((double[]){100, 0, 109}, 3), 1);
    assert_int_equal(saturation_of((double[]){100, 0, 111}, 3), 4);
    assert_int_equal(saturation_of((double[]){100}, 1), 0);
    assert_int_equal(saturation_of((double[]){0, 100}, 2), 0);
}

static void test_names(void **state)
{
    static const struct {
        struct wr_probe_test test;
        const char *name;
    } cases[] = {
        {{WR_PROBE_READ, WR_PROBE_RANDOM, 4096, 32, 1, true},
         "random read 4 KiB, depth 32, direct"},
        {{WR_PROBE_WRITE, WR_PROBE_SEQUENTIAL, 1 << 20, 1, 4, false},
         "sequential write 1 MiB, depth 1, buffered, 4 workers"},
        {{WR_PROBE_READ, WR_PROBE_RANDOM, 0, 8, 1, true},
         "random read mixed sizes, depth 8, direct"},
        {{WR_PROBE_FILES, WR_PROBE_RANDOM, 0, 1, 2, false},
         "small files, 2 workers"},
        {{WR_PROBE_FILES, WR_PROBE_RANDOM, 0, 16, 1, true},
         "small files, depth 16, direct"},
        {{WR_PROBE_CREATE, WR_PROBE_RANDOM, 0, 1, 1, false},
         "create small files"},
        {{WR_PROBE_SYNC, WR_PROBE_RANDOM, 0, 1, 1, false},
         "write 4 KiB and sync"},
    };
    char buf[WR_PROBE_NAME];

    for (unsigned i = 0; i < WR_ARRAY_LEN(cases); i++)
        assert_string_equal(
            wr_probe_test_name(&cases[i].test, buf, sizeof(buf)),
            cases[i].name);
    assert_string_equal(wr_probe_test_name(&cases[0].test, buf, 7), "random");
}

/* The verdict on passes that did so many a second, in n tests alike. */
static bool looks_cached(const double *ops, unsigned passes, unsigned slow,
                         unsigned n)
{
    struct wr_probe_test tests[4];
    struct wr_probe_result results[4];
    struct wr_probe_run runs[4][4];
    struct wr_store store = {.ops = &(struct wr_storage_ops){.name = "x"}};
    struct wr_probe_plan plan = {.tests = tests, .test_count = n};
    struct wr_probe_place place = {.plan = &plan, .store = &store};
    struct wr_probe_report r = {.results = results, .count = n};

    for (unsigned i = 0; i < n; i++) {
        tests[i] = (struct wr_probe_test){
            WR_PROBE_READ, WR_PROBE_RANDOM, 4096, 8, 1, true};
        for (unsigned k = 0; k < passes; k++)
            runs[i][k] = (struct wr_probe_run){.v.ops_per_s = i < slow ? ops[k]
                                                                       : 100};
        results[i] = (struct wr_probe_result){.runs = runs[i],
                                              .run_count = passes};
    }
    wr_probe_find_cache_below(&place, &r);
    assert_int_equal(r.cache.below, r.cache.signs[0] != '\0');
    return r.cache.below;
}

static void test_first_pass(void **state)
{
    assert_true(looks_cached((double[]){50, 100, 110}, 3, 1, 1));
    assert_true(looks_cached((double[]){50, 100, 110}, 3, 2, 4));
    assert_false(looks_cached((double[]){50, 100, 110}, 3, 1, 4));
    assert_false(looks_cached((double[]){50, 100, 60}, 3, 4, 4));
    assert_false(looks_cached((double[]){80, 100, 100}, 3, 4, 4));
    assert_false(looks_cached((double[]){50}, 1, 4, 4));
}

static void test_noise(void **state)
{
    uint8_t a[4099], b[4099];
    unsigned count[256] = {0};

    memset(a, 0, sizeof(a));
    wr_probe_noise(a, sizeof(a), 1);
    wr_probe_noise(b, sizeof(b), 2);
    assert_memory_not_equal(a, b, sizeof(a));
    for (size_t i = 0; i < sizeof(a); i++)
        count[a[i]]++;
    for (unsigned i = 0; i < 256; i++)
        assert_true(count[i] < 64); /* 16 in the mean */
}

int main(void)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_imagenet),
        cmocka_unit_test(test_pick_keeps_shares),
        cmocka_unit_test(test_sizes_keep_shares),
        cmocka_unit_test(test_mix_of_data),
        cmocka_unit_test(test_space),
        cmocka_unit_test(test_medians),
        cmocka_unit_test(test_latency_of_all_passes),
        cmocka_unit_test(test_saturation),
        cmocka_unit_test(test_saturation_reached),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_first_pass),
        cmocka_unit_test(test_noise),
    };

    return cmocka_run_group_tests(all, NULL, NULL);
}
