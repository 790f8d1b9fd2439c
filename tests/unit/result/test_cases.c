/* test_cases.c - the values of a record, read once: cases, runs, medians.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "result/bench.h"
#include "result/cases.h"
#include "result/run.h"
#include "result/train.h"

static void open_record(struct wr_view_record *r, const char *text)
{
    *r = (struct wr_view_record){.label = "a",
                                 .json = json_loads(text, 0, NULL)};
    assert_non_null(r->json);
    assert_true(wr_view_record_read(r));
}

static void close_record(struct wr_view_record *r)
{
    wr_view_record_done(r);
    json_decref((json_t *)(uintptr_t)r->json);
}

#define RUN(rate, p50)                                                         \
    "{\"samples_per_s\": " rate ", \"gap_p50_ms\": " p50                       \
    ", \"times\": {\"decode_s\": " p50 "}}"

static void test_bench(void **state)
{
    struct wr_view_record r;
    const struct wr_bench_values *m;
    struct wr_cases c;
    double v[WR_CASE_RUNS_MAX];

    (void)state;
    open_record(
        &r,
        "{\"command\": \"bench\", \"cases\": [{\"warm_up_runs\": 1, "
        "\"settings\": {\"threads\": 1}, \"runs\": [" RUN("1", "9") ", " RUN(
            "0.3", "3") ", " RUN("0.1",
                                 "1") ", " RUN("null",
                                               "8") "]}, 7, {\"settings\": "
                                                    "{\"threads\": 2}, "
                                                    "\"warm_up_runs\": 5, "
                                                    "\"runs\": [" RUN(
                                                        "4", "2") "]}, {}]}");
    wr_cases_init(&c, &r, 1, &wr_bench_spec);
    assert_int_equal(c.count, 3);
    assert_int_equal(c.left_out, 0);
    assert_int_equal(c.v[0].list.count, 3);
    assert_int_equal(wr_bench_case(&c.v[0])->runs.count, 4);
    m = wr_bench_median(&c.v[0]);
    assert_true(m->samples_per_s == 0.2 && m->gap_p50_ms == 3);
    assert_true(m->times.decode_s == 3 && isnan(m->seconds));
    assert_true(wr_bench_middle(&c.v[0])->samples_per_s == 0.3);
    assert_true(wr_bench_run(&c.v[0], 1)->gap_p50_ms == 1);
    assert_true(isnan(wr_bench_run(&c.v[0], 3)->gap_p50_ms));
    assert_int_equal(WR_BENCH_NUMBERS(&c.v[0], samples_per_s, v), 2);
    /* All of it is warm-up: still something to show. */
    assert_true(wr_bench_middle(&c.v[1])->samples_per_s == 4);
    assert_true(isnan(wr_bench_middle(&c.v[2])->samples_per_s));
    wr_cases_done(&c);
    close_record(&r);
}

/* A record that nobody has read has no rows with values. */
static void test_unread(void **state)
{
    json_t *j = json_loads("{\"command\": \"bench\", \"cases\": [{}, {}]}", 0,
                           NULL);
    const struct wr_view_record r = {.label = "a", .json = j};
    struct wr_cases c;

    (void)state;
    wr_cases_init(&c, &r, 1, &wr_bench_spec);
    assert_int_equal(c.count, 0);
    assert_int_equal(c.left_out, 2);
    wr_cases_done(&c);
    json_decref(j);
}

/* A run is its only row, and its epochs are the runs. */
static void test_run(void **state)
{
    struct wr_view_record r;
    const struct wr_run_values *v;
    struct wr_cases c;

    (void)state;
    open_record(&r, "{\"command\": \"run\", \"config\": {\"threads\": 3}, "
                    "\"epochs\": [{\"au\": 0.5}, {\"au\": 0.7}], "
                    "\"result\": {\"meets\": true}}");
    wr_cases_init(&c, &r, 1, &wr_run_spec);
    assert_int_equal(c.count, 1);
    assert_int_equal(c.v[0].list.count, 2);
    v = c.v[0].values;
    assert_true(v->config.threads == 3 && v->result.meets == 1);
    assert_null(v->config.title);
    assert_true(fabs(((const struct wr_run_epoch_values *)c.v[0].median)->au -
                     0.6) < 1e-12);
    wr_cases_done(&c);
    close_record(&r);
}

/* A record that is one row without runs; lists of it are freed with it. */
static void test_single(void **state)
{
    const struct wr_train_values *v;
    const struct wr_train_save_values *save;
    struct wr_view_record r;
    struct wr_cases c;

    (void)state;
    open_record(&r, "{\"command\": \"train\", \"settings\": {\"batch\": 4}, "
                    "\"result\": {\"iterations\": 7}, "
                    "\"saves\": [{\"step\": 3}, 5]}");
    wr_cases_init(&c, &r, 1, &wr_train_spec);
    assert_int_equal(c.count, 1);
    assert_int_equal(c.v[0].list.count, 0);
    v = wr_train_values_of(&r);
    assert_true(v == c.v[0].values && v->result.iterations == 7);
    assert_true(isnan(v->result.loss_last) && isnan(v->compare.cost.median));
    assert_int_equal(v->saves.count, 2);
    save = wr_list_at(&v->saves, 1);
    assert_true(isnan(save->step));
    wr_cases_done(&c);
    close_record(&r);
}

/* Of other commands, and of what is no record, nothing is read. */
static void test_others(void **state)
{
    static const char *const texts[] = {
        "{}", "{\"command\": \"convert\"}", "{\"command\": \"bench\"}",
        "{\"command\": \"bench\", \"cases\": {}}", "[]"};
    struct wr_view_record r;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        open_record(&r, texts[i]);
        assert_int_equal(r.cases.count, 0);
        close_record(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bench), cmocka_unit_test(test_unread),
        cmocka_unit_test(test_run), cmocka_unit_test(test_single),
        cmocka_unit_test(test_others)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
