/* test_bench.c - the benchmark's bookkeeping and its limits.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "measure/bench.h"

#define SAMPLES 40
#define SIDE    8

struct fixture {
    char dir[32], path[64];
    weir_dataset *ds;
};

/* A .npy file of SAMPLES pictures of SIDE x SIDE x 3 bytes. */
static int setup(void **state)
{
    static const char dict[] =
        "{'descr': '|u1', 'fortran_order': False, 'shape': (40, 8, 8, 3), }";
    struct fixture *f = calloc(1, sizeof(*f));
    uint8_t head[128];
    FILE *file;

    strcpy(f->dir, "/tmp/weir-bench-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->path, sizeof(f->path), "%s/x.npy", f->dir);
    memset(head, ' ', sizeof(head));
    memcpy(head, "\x93NUMPY\x01\x00\x76\x00", 10);
    memcpy(head + 10, dict, sizeof(dict) - 1);
    head[127] = '\n';
    file = fopen(f->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(head, 1, sizeof(head), file), sizeof(head));
    for (int i = 0; i < SAMPLES * SIDE * SIDE * 3; i++)
        fputc(i * 7 & 255, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(weir_dataset_open(&f->ds, f->path, NULL, NULL), 0);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    weir_dataset_close(&f->ds);
    unlink(f->path);
    rmdir(f->dir);
    free(f);
    return 0;
}

static void set_case(struct wr_bench_case *c, enum weir_dtype dtype)
{
    weir_pipeline_defaults(&c->cfg);
    c->cfg.batch = 16;
    c->cfg.picture.dtype = dtype;
    c->cfg.threads = 2;
    c->cache = WR_CACHE_WARM;
}

/* Each number of a pipeline goes where it belongs: all of them differ. */
static void test_fill(void **state)
{
    const weir_stats s = {.wall_ns = 1000000000,
                          .samples = 2,
                          .batches = 3,
                          .bytes_read = 4,
                          .requests = 5,
                          .first_batch_ns = 6000000,
                          .storage_wait_ns = 7000000000,
                          .submit_ns = 8000000000,
                          .decode_ns = 9000000000,
                          .resample_ns = 10000000000,
                          .idle_ns = 11000000000,
                          .consumer_wait_ns = 12000000000,
                          .consumer_busy_ns = 13000000000,
                          .workers = 14,
                          .depth = 15,
                          .prefetch = 16,
                          .cache_ram_hits = 17,
                          .cache_dir_hits = 18,
                          .cache_misses = 19,
                          .cache_damaged = 20,
                          .cache_ram_bytes = 21,
                          .cache_dir_bytes = 22,
                          .io = "blocking"};
    struct wr_bench_values v;

    (void)state;
    wr_vals_clear(&wr_bench_vals, &v);
    wr_bench_fill(&v, &s);
    assert_true(v.seconds == 1 && v.samples == 2 && v.batches == 3);
    assert_true(v.bytes == 4 && v.requests == 5 && v.first_batch_ms == 6);
    assert_true(v.times.storage_wait_s == 7 && v.times.submit_s == 8);
    assert_true(v.times.decode_s == 9 && v.times.resample_s == 10);
    assert_true(v.times.idle_s == 11 && v.times.consumer_wait_s == 12);
    assert_true(v.times.consumer_busy_s == 13 && v.in_force.threads == 14);
    assert_true(v.in_force.depth == 15 && v.in_force.prefetch == 16);
    assert_true(v.cache.ram_hits == 17 && v.cache.dir_hits == 18);
    assert_true(v.cache.misses == 19 && v.cache.damaged == 20);
    assert_true(v.cache.ram_bytes == 21 && v.cache.dir_bytes == 22);
    assert_string_equal(v.io, "blocking");
    assert_true(isnan(v.gap_p50_ms) && isnan(v.resident));
}

static void test_counts_and_digest(void **state)
{
    struct fixture *f = *state;
    struct wr_bench_case cases[3];
    struct wr_bench_plan plan = {.ds = f->ds,
                                 .cases = cases,
                                 .case_count = 3,
                                 .rounds = 3,
                                 .digest = true,
                                 .limits = true,
                                 .keep_batches = true};
    struct wr_bench_result *res;
    weir_err err;

    for (int i = 0; i < 3; i++)
        set_case(&cases[i], WEIR_U8);
    cases[1].cfg.threads = 1;
    cases[1].cfg.io = WEIR_IO_BLOCKING;
    cases[2].cfg.seed = 5;
    assert_int_equal(wr_bench(&plan, &res, &err), 0);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(res[k].round_count, 3);
        assert_in_range(res[k].median, 1, 2);
        assert_true(res[k].v.samples_per_s_min <= res[k].v.samples_per_s);
        assert_true(res[k].v.samples_per_s <= res[k].v.samples_per_s_max);
        assert_true(res[k].v.of_read_limit > 0);
        assert_true(
            isnan(res[k].v.of_decode_limit)); /* tensors are not decoded */
        for (int i = 0; i < 3; i++) {
            const struct wr_bench_run *run = &res[k].runs[i];

            assert_int_equal(run->v.samples, SAMPLES);
            assert_int_equal(run->v.batches, 3);
            assert_int_equal(run->v.bytes, SAMPLES * SIDE * SIDE * 3);
            assert_string_equal(run->digest, res[k].runs[0].digest);
            assert_int_equal(run->batch_times[2].count, 8);
            assert_true(run->batch_times[2].at_ns >= run->batch_times[1].at_ns);
        }
    }
    assert_string_equal(res[0].runs[1].digest, res[1].runs[1].digest);
    assert_string_not_equal(res[0].runs[1].digest, res[2].runs[1].digest);
    wr_bench_free(res, 3);
}

/* Of counted runs, in as many rows as there may be; together they cover all
 * batches, whose exact times are kept beside. */
static void check_series(const struct wr_bench_run *run, size_t capacity)
{
    const struct wr_series *s = &run->series;
    const struct wr_bench_batch *times = run->batch_times;
    size_t rows = wr_series_rows(s), n = run->v.batches;
    double longest = 0, wait = 0;

    assert_int_equal(s->capacity, capacity);
    assert_int_equal(s->added, n);
    assert_true(rows <= capacity);
    assert_true(s->t[rows - 1] == (double)times[n - 1].at_ns / 1e6);
    for (size_t i = 0; i < rows; i++)
        longest = WR_MAX(longest, wr_series_value(s, i, WR_BENCH_WAIT));
    for (size_t b = 0; b < n; b++)
        wait = WR_MAX(wait, (double)times[b].wait_ns / 1e6);
    assert_true(longest == wait);
    assert_true(run->start_ns > 0);
}

static void test_batch_series(void **state)
{
    struct fixture *f = *state;
    struct wr_bench_case c;
    struct wr_bench_plan plan = {.ds = f->ds,
                                 .cases = &c,
                                 .case_count = 1,
                                 .rounds = 3,
                                 .keep_batches = true};
    struct wr_bench_result *res;
    weir_err err;

    set_case(&c, WEIR_U8);
    c.cfg.epochs = 5; /* of 3 batches */
    for (size_t rows = 0; rows <= 40; rows += 8) {
        plan.batch_rows = rows;
        assert_int_equal(wr_bench(&plan, &res, &err), 0);
        assert_int_equal(res->runs[0].series.capacity, 0); /* the warm-up */
        for (int i = 1; i < 3 && rows; i++) {
            check_series(&res->runs[i], WR_MIN(rows, (size_t)16));
            assert_int_equal(res->runs[i].series.merge, rows < 16 ? 2 : 1);
            assert_true(isnan(wr_series_value(&res->runs[i].series, 0,
                                              WR_BENCH_GAP)) == (rows >= 16));
        }
        assert_true(rows || !res->runs[1].series.capacity);
        wr_bench_free(res, 1);
    }
}

static void test_decode_limit(void **state)
{
    struct fixture *f = *state;
    struct wr_bench_case c;
    struct wr_limit_job job = {.ds = f->ds, .cfg = &c.cfg, .threads = 2};
    struct wr_limit limit;

    set_case(&c, WEIR_F32); /* converted: that counts as decoding */
    assert_true(wr_limit_has_decode(f->ds, &c.cfg));
    assert_int_equal(wr_limit_decode(&job, &limit, NULL), 0);
    assert_int_equal(limit.samples, SAMPLES);
    job.samples = 10;
    assert_int_equal(wr_limit_read(&job, &limit, NULL), 0);
    assert_int_equal(limit.samples, 10);
    set_case(&c, WEIR_U8);
    assert_false(wr_limit_has_decode(f->ds, &c.cfg));
}

static bool always(void)
{
    return true;
}

static void test_stopped(void **state)
{
    struct fixture *f = *state;
    struct wr_bench_case c;
    struct wr_bench_plan plan = {.ds = f->ds,
                                 .cases = &c,
                                 .case_count = 1,
                                 .rounds = 2,
                                 .stopped = always};
    struct wr_bench_result *res = NULL;
    weir_err err;

    set_case(&c, WEIR_U8);
    assert_int_equal(wr_bench(&plan, &res, &err), WEIR_ECANCELED);
    plan.limits = true;
    assert_int_equal(wr_bench(&plan, &res, &err), WEIR_ECANCELED);
    assert_null(res);
}

static void count_progress(void *arg, uint64_t done, uint64_t total)
{
    (void)done;
    (void)total;
    ++*(unsigned *)arg;
}

/* The last case cannot be run: the first one is not run either. */
static void test_cases_are_checked_first(void **state)
{
    struct fixture *f = *state;
    struct wr_bench_case c[2];
    unsigned batches = 0;
    struct wr_bench_plan plan = {.ds = f->ds,
                                 .cases = c,
                                 .case_count = 2,
                                 .rounds = 2,
                                 .progress = count_progress,
                                 .progress_arg = &batches};
    struct wr_bench_result *res = NULL;
    weir_err err;

    set_case(&c[0], WEIR_U8);
    set_case(&c[1], WEIR_U8);
    c[1].cfg.rank = c[1].cfg.world; /* no such rank */
    assert_true(wr_bench(&plan, &res, &err) < 0);
    assert_null(res);
    assert_int_equal(batches, 0);
}

static void test_bad_samples_are_kept(void **state)
{
    struct fixture *f = *state;
    char url[96];
    weir_dataset *ds;
    struct wr_bench_case c;
    struct wr_bench_plan plan = {.cases = &c, .case_count = 1, .rounds = 2};
    struct wr_bench_result *res;

    snprintf(url, sizeof(url), "fault:eio@%%10:%s", f->path);
    assert_int_equal(weir_dataset_open(&ds, url, NULL, NULL), 0);
    plan.ds = ds;
    set_case(&c, WEIR_U8);
    assert_int_equal(wr_bench(&plan, &res, NULL), 0);
    assert_true(res[0].bad_count >= 3);
    assert_int_equal(res[0].bad_kept, res[0].bad_count);
    assert_non_null(strstr(res[0].bad[0].text, "x.npy"));
    assert_int_equal(res[0].runs[1].v.samples + res[0].bad_count, SAMPLES);
    wr_bench_free(res, 1);
    weir_dataset_close(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_counts_and_digest),
        cmocka_unit_test(test_batch_series),
        cmocka_unit_test(test_decode_limit),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_cases_are_checked_first),
        cmocka_unit_test(test_bad_samples_are_kept),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
