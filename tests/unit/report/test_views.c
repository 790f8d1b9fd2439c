/* test_views.c - rows of records, pivots, stalls, and pages that stay small.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/batches.h"
#include "result/bench.h"
#include "result/cases.h"
#include "report/doc_private.h"
#include "report/pivot.h"
#include "report/report.h"

static void test_rows(void **state)
{
    static const struct wr_cases_spec spec = {.rows = "cases",
                                              .settings = "settings"};
    json_t *a = json_pack(
        "{s:[{s:{s:i, s:s, s:s}, s:[{s:f}, {s:f}, {s:n}], s:i}, {}, i]}",
        "cases", "settings", "threads", 4, "page_cache", "cold", "io", "x",
        "runs", "v", 9.0, "v", 3.0, "v", "warm_up_runs", 1, 7);
    json_t *b = json_pack("{s:[{s:{s:s, s:s, s:s}}]}", "cases", "settings",
                          "threads", "auto", "page_cache", "warm", "io", "x");
    const struct wr_view_record r[] = {{.path = "a", .label = "A", .json = a},
                                       {.path = "b", .label = "B", .json = b}};
    struct wr_cases c;
    char buf[100];

    wr_cases_init(&c, r, 2, &spec);
    assert_int_equal(c.count, 3);
    assert_true(wr_cases_varies(&c, "threads"));
    assert_string_equal(wr_cases_label(&c, 0, NULL, buf, sizeof(buf)),
                        "A: threads 4, cold, x");
    assert_string_equal(wr_cases_label(&c, 2, "io", buf, sizeof(buf)),
                        "B: threads auto, warm");
    assert_string_equal(wr_cases_label(&c, 1, NULL, buf, sizeof(buf)), "A");
    assert_int_equal(c.v[0].warm_up, 1);
    assert_int_equal(json_array_size(c.v[0].runs), 3);
    assert_int_equal(c.v[1].warm_up, 0);
    wr_cases_done(&c);
    json_decref(a);
    json_decref(b);
}

static void test_pivot(void **state)
{
    const struct wr_doc_chart_spec bars = {.kind = WR_DOC_BARS, .title = "t"};
    const struct wr_doc_chart_spec lines = {.kind = WR_DOC_LINES, .title = "t"};
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_section *s = wr_doc_section(d, "");
    struct wr_pivot p = {0};
    const struct wr_doc_chart *c;

    wr_pivot_add(&p, "a", "8", 8, 80);
    wr_pivot_add(&p, "a", "auto", INFINITY, 1);
    wr_pivot_add(&p, "b", "2", 2, 20);
    wr_pivot_add(&p, "a", "8", 8, 99); /* the first one counts */
    wr_pivot_draw(&p, d, s, &bars);
    c = s->items[0].chart;
    assert_string_equal(c->labels[0], "2");
    assert_string_equal(c->labels[1], "8");
    assert_string_equal(c->labels[2], "auto");
    assert_true(isnan(c->series[0]->y[0]) && c->series[0]->y[1] == 80);
    assert_true(c->series[1]->y[0] == 20 && isnan(c->series[1]->y[2]));

    wr_pivot_add(&p, "a", "8", 8, 80);
    wr_pivot_mark(&p);
    wr_pivot_add(&p, "a", "1", 1, 10);
    wr_pivot_draw(&p, d, s, &lines);
    c = s->items[1].chart;
    assert_true(c->series[0]->x[0] == 1 && c->series[0]->x[1] == 8);
    assert_true(!c->series[0]->marked[0] && c->series[0]->marked[1]);

    wr_pivot_add(&p, "a", "1", 1, NAN); /* nothing to draw */
    wr_pivot_draw(&p, d, s, &lines);
    assert_int_equal(s->item_count, 2);
    wr_doc_free(d);
}

/* Many series make several charts; what is too much is left out and said. */
static void test_pivot_limits(void **state)
{
    const struct wr_doc_chart_spec bars = {.kind = WR_DOC_BARS, .title = "t"};
    struct wr_doc *d = wr_doc_new("", "");
    struct wr_doc_section *s = wr_doc_section(d, "");
    struct wr_pivot p = {0};
    char name[32];

    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "%d", i);
        wr_pivot_add(&p, name, name, NAN, i);
    }
    wr_pivot_draw(&p, d, s, &bars);
    assert_int_equal(s->item_count, WR_PIVOT_SERIES_MAX / WR_PIVOT_CHART_MAX);
    assert_string_equal(s->items[0].chart->title, "t (1 of 30)");
    assert_int_equal(s->items[0].chart->series_count, WR_PIVOT_CHART_MAX);
    assert_int_equal(s->items[0].chart->label_count, WR_PIVOT_LABELS_MAX);
    assert_non_null(strstr(s->items[0].chart->note, "Not all"));
    wr_doc_free(d);
}

/* A run of n batches of 10 ms; every 100th takes 50 ms, the first 500 ms. */
static json_t *run_of(size_t n)
{
    json_t *t = json_array(), *wait = json_array(), *gap = json_array();

    for (size_t i = 0; i < n; i++) {
        json_array_append_new(t, json_real((double)i * 10));
        json_array_append_new(wait, json_real(i == 7 ? 31 : 1));
        json_array_append_new(gap, json_real(!i              ? 500
                                             : i % 100 == 99 ? 50
                                                             : 10));
    }
    return json_pack("{s:{s:o, s:o, s:o, s:i}}", "batch_times", "t_ms", t,
                     "wait_ms", wait, "gap_ms", gap, "merged", 1);
}

static void test_stalls(void **state)
{
    json_t *runs = json_pack("[{}, o]", run_of(1000));
    json_t *json = json_pack("{s:o}", "runs", runs);
    struct wr_bench_case_values v;
    struct wr_case row = {.runs = runs, .warm_up = 1, .values = &v};
    struct wr_points p = {0};
    struct wr_batches b;

    wr_vals_read(&wr_bench_case_vals, json, &v);
    row.list = (struct wr_list){(struct wr_bench_values *)v.runs.v + 1, 1,
                                v.runs.step};
    wr_batches_of(&row, &p, &b);
    assert_int_equal(b.rows, 1000);
    assert_int_equal(b.stalls, 11); /* ten gaps, one wait, not the first */
    assert_true(b.median_ms == 10 && b.longest_ms == 50);
    assert_int_equal(p.marks, 11);
    assert_true(p.marked[7] && p.marked[99] && !p.marked[0]);
    wr_points_done(&p);
    wr_vals_done(&wr_bench_case_vals, &v);
    json_decref(json);
}

static size_t count_points(const struct wr_doc *d)
{
    size_t n = 0;

    for (size_t i = 0; i < d->section_count; i++)
        for (size_t k = 0; k < d->sections[i]->item_count; k++) {
            const struct wr_doc_chart *c = d->sections[i]->items[k].chart;

            for (size_t j = 0; c && j < c->series_count; j++)
                n += c->series[j]->count;
        }
    return n;
}

/* Fifty records with a hundred thousand batches. */
static void test_many(void **state)
{
    const char *paths[50];
    const json_t *records[50];
    struct wr_comparison comparison;
    struct wr_doc *d = NULL;
    json_t *one = json_pack("{s:s, s:s, s:[{s:{s:i}, s:[o], s:i}]}", "command",
                            "bench", "time", "t", "cases", "settings",
                            "threads", 1, "runs", run_of(2000), "warm_up_runs",
                            0);

    for (int i = 0; i < 50; i++) {
        paths[i] = "same/name.json";
        records[i] = one;
    }
    assert_int_equal(wr_report(&(struct wr_report_spec){.paths = paths,
                                                        .records = records,
                                                        .count = 50,
                                                        .title = "t"},
                               &d, &comparison, NULL),
                     0);
    assert_true(count_points(d) > 3000);
    assert_true(count_points(d) <= WR_VIEW_POINTS + 1000);
    wr_doc_free(d);
    json_decref(one);
}

/* Long names that begin alike: each record still has a series of its own, and
 * where devices differ they name the series. */
static void test_labels(void **state)
{
    char names[3][700];
    const char *paths[3], *urls[3] = {"emu:hdd:x", "emu:ssd:x", "emu:ssd:x"};
    const json_t *records[3];
    json_t *made[3];
    struct wr_comparison comparison;

    for (int i = 0; i < 3; i++) {
        memset(names[i], 'n', 600);
        snprintf(names[i] + 600, 100, "/run.json");
        paths[i] = names[i];
        made[i] = json_pack("{s:s, s:s, s:{s:s}, s:[{s:{s:i}, s:[{s:f}]},"
                            " {s:{s:i}, s:[{s:f}]}]}",
                            "command", "bench", "time", "t", "dataset", "url",
                            urls[i], "cases", "settings", "threads", 1, "runs",
                            "samples_per_s", 1e6, "settings", "threads", 2,
                            "runs", "samples_per_s", 2e6);
        assert_non_null(made[i]);
        records[i] = made[i];
    }
    for (size_t n = 2; n <= 3; n++) {
        const struct wr_doc_chart *c = NULL;
        struct wr_doc *d = NULL;

        assert_int_equal(wr_report(&(struct wr_report_spec){.paths = paths,
                                                            .records = records,
                                                            .count = n,
                                                            .title = "t"},
                                   &d, &comparison, NULL),
                         0);
        for (size_t i = 0; !c && i < d->sections[0]->item_count; i++)
            c = d->sections[0]->items[i].chart;
        assert_non_null(c);
        assert_int_equal(c->series_count, n);
        assert_int_equal(c->label_count, 2);
        if (n == 2) {
            assert_string_equal(c->series[0]->name, "hdd");
            assert_string_equal(c->series[1]->name, "ssd");
        } else {
            assert_string_equal(c->series[0]->name, "run (hdd)");
            assert_non_null(strstr(c->series[2]->name, "(ssd)"));
        }
        wr_doc_free(d);
    }
    for (int i = 0; i < 3; i++)
        json_decref(made[i]);
}

/* Records of weir ckpt that something else wrote, or that were cut. */
static void test_broken_ckpt(void **state)
{
    static const char *const bodies[] = {
        "",
        ", \"cases\": 3",
        ", \"cases\": []",
        ", \"cases\": [7, null, {}, {\"way\": 1, \"name\": []}]",
        ", \"cases\": [{\"way\": \"slow\", \"result\": {\"stall_s\": 0}}]",
        ", \"cases\": [{\"way\": \"slow\", \"result\": {\"stall_s\": \"x\"},"
        " \"runs\": [{}, 1, {\"at_s\": 1}]}], \"bytes\": -1, \"memcpy_s\": "
        "\"\"",
        ", \"cases\": [{\"way\": \"async\", \"result\": {\"stall_s\": -1e300},"
        " \"runs\": {}}], \"tensors\": 1e300, \"bytes\": 1e300,"
        " \"memcpy_s\": 1e300, \"fast\": 1, \"host\": []",
    };
    const char *paths[] = {"a.json", "b.json"};

    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct wr_comparison comparison;
        const json_t *records[2];
        char text[500];
        json_t *r;

        snprintf(text, sizeof(text),
                 "{\"command\": \"ckpt\", \"time\": \"t\"%s}", bodies[i]);
        r = json_loads(text, 0, NULL);
        assert_non_null(r);
        records[0] = records[1] = r;
        for (size_t n = 1; n <= 2; n++) {
            struct wr_doc *d = NULL;

            assert_int_equal(
                wr_report(&(struct wr_report_spec){.paths = paths,
                                                   .records = records,
                                                   .count = n,
                                                   .title = "t"},
                          &d, &comparison, NULL),
                0);
            assert_true(d->section_count >= 1);
            assert_string_equal(d->sections[0]->title, "Checkpoints");
            wr_doc_free(d);
        }
        json_decref(r);
    }
}

/* Whatever stands in records of replays: it is shown, or left out. */
static void test_broken_replay(void **state)
{
    static const char *const bodies[] = {
        "",
        ", \"operations\": 3, \"path\": 7, \"traced_io_s\": \"x\"",
        ", \"operations\": [7, null, {}, {\"operation\": \"\\u001b[2J\","
        " \"requests\": -1e300, \"traced\": []}], \"missing\": 1e300",
        ", \"operations\": [{\"operation\": \"read\", \"requests\": 5,"
        " \"bytes\": 10, \"traced\": {\"sum_s\": 1}, \"replayed\":"
        " {\"sum_s\": 2}}], \"traced_io_s\": 0, \"replayed_io_s\": 1e300,"
        " \"host\": [], \"path\": \"emu:hdd:/d\", \"asap\": true",
    };
    const char *paths[] = {"a.json", "b.json"};

    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct wr_comparison comparison;
        const json_t *records[2];
        struct wr_doc *d = NULL;
        char text[500];
        json_t *r;

        snprintf(text, sizeof(text),
                 "{\"command\": \"replay\", \"time\": \"t\"%s}", bodies[i]);
        r = json_loads(text, 0, NULL);
        assert_non_null(r);
        records[0] = records[1] = r;
        assert_int_equal(wr_report(&(struct wr_report_spec){.paths = paths,
                                                            .records = records,
                                                            .count = 1,
                                                            .title = "t"},
                                   &d, &comparison, NULL),
                         0);
        assert_string_equal(d->sections[0]->title,
                            i == 3 ? "Replay, emulated hdd" : "Replay");
        wr_doc_free(d);
        json_decref(r);
    }
}

/* States of different sizes are not compared. */
static void test_ckpt_sizes(void **state)
{
    const char *paths[] = {"a.json", "b.json", "c.json"};
    const json_t *records[3];
    json_t *made[3];
    struct wr_comparison comparison;
    struct wr_doc *d = NULL;

    for (int i = 0; i < 3; i++)
        records[i] = made[i] = json_pack(
            "{s:s, s:s, s:f, s:[{s:s, s:s, s:{s:f}}]}", "command", "ckpt",
            "time", "t", "bytes", i == 1 ? 2e9 : 1e9, "cases", "way", "slow",
            "name", "direct", "result", "stall_s", 1.0);
    assert_int_equal(wr_report(&(struct wr_report_spec){.paths = paths,
                                                        .records = records,
                                                        .count = 3,
                                                        .title = "t"},
                               &d, &comparison, NULL),
                     0);
    assert_string_equal(d->sections[0]->title, "Checkpoints of 1.0 GB");
    assert_int_equal(d->sections[0]->items[0].chart->label_count, 2);
    assert_string_equal(d->sections[1]->title, "Checkpoints of 2.0 GB");
    wr_doc_free(d);
    for (int i = 0; i < 3; i++)
        json_decref(made[i]);
}

/* Rows that a table has no room for are told. */
static void test_cut_tables(void **state)
{
    const char *path = "a.json";
    json_t *r = json_pack("{s:s, s:s, s:[]}", "command", "probe", "time", "t",
                          "tests"),
           *test = json_pack("{s:s, s:[{}]}", "op", "read", "runs");
    const json_t *record = r;
    struct wr_comparison comparison;
    struct wr_doc *d = NULL;
    bool told = false;

    for (int i = 0; i <= WR_CASES_MAX; i++)
        json_array_append(json_object_get(r, "tests"), test);
    assert_int_equal(wr_report(&(struct wr_report_spec){.paths = &path,
                                                        .records = &record,
                                                        .count = 1,
                                                        .title = "t"},
                               &d, &comparison, NULL),
                     0);
    for (size_t i = 0; i < d->sections[0]->note_count; i++)
        told |= strstr(d->sections[0]->notes[i].text,
                       "Of 20001 tests only the first 5000 ") != NULL;
    assert_true(told);
    wr_doc_free(d);
    json_decref(test);
    json_decref(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_pivot),
        cmocka_unit_test(test_pivot_limits),
        cmocka_unit_test(test_stalls),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_cut_tables),
        cmocka_unit_test(test_broken_ckpt),
        cmocka_unit_test(test_broken_replay),
        cmocka_unit_test(test_ckpt_sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
