/* test_experiment.c - which records belong together in one chart.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "record/doc_private.h"
#include "record/experiment.h"
#include "record/report.h"

#define MAX 8

static const struct wr_cases_spec spec = {.rows = "cases",
                                          .settings = "settings"};

/* Records of a test: a URL and the settings of the cases of each. */
struct made {
    struct wr_view_record r[MAX];
    json_t *json[MAX];
    char names[MAX][8];
    size_t count;
};

static void add(struct made *m, const char *url, const char *cases)
{
    json_t *list = json_loads(cases, 0, NULL), *rows = json_array(), *one;
    size_t i;

    assert_non_null(list);
    json_array_foreach(list, i, one) json_array_append_new(
        rows, json_pack("{s:O, s:[{s:f},{s:f}]}", "settings", one, "runs",
                        "samples_per_s", 10.0 * (double)(i + 1),
                        "samples_per_s", 12.0 * (double)(i + 1)));
    json_decref(list);
    m->json[m->count] = json_pack("{s:s, s:s, s:{s:s, s:s, s:i}, s:o}",
                                  "command", "bench", "time", "t", "dataset",
                                  "url", url, "format", "images", "samples",
                                  100, "cases", rows);
    snprintf(m->names[m->count], 8, "r%zu", m->count);
    m->r[m->count] = (struct wr_view_record){.path = m->names[m->count],
                                             .label = m->names[m->count],
                                             .json = m->json[m->count]};
    m->count++;
}

static void done(struct made *m)
{
    for (size_t i = 0; i < m->count; i++)
        json_decref(m->json[i]);
}

#define SWEEP(rest)                                                            \
    "[{\"stages\":\"read\",\"threads\":1," rest                                \
    "},{\"stages\":\"read\",\"threads\":2," rest "}]"

/* Four devices in the middle of other experiments. */
static void test_devices(void **state)
{
    struct made m = {0};
    size_t count = 0;
    struct wr_view_group *e;

    add(&m, "emu:hdd:x", SWEEP("\"depth\":1,\"max_batches\":8"));
    add(&m, "photos",
        "[{\"stages\":\"all\",\"decode\":\"exact\"},"
        "{\"stages\":\"all\",\"decode\":\"fast\"}]");
    add(&m, "emu:ssd:x", SWEEP("\"depth\":1,\"max_batches\":48"));
    add(&m, "photos",
        "[{\"stages\":\"all\",\"threads\":1},"
        "{\"stages\":\"all\",\"threads\":2}]");
    add(&m, "emu:lustre:x", SWEEP("\"depth\":1,\"max_batches\":48"));
    e = wr_experiments(m.r, m.count, &spec, &count);
    assert_non_null(e);
    assert_int_equal(count, 3);
    assert_int_equal(e[0].count, 3);
    assert_string_equal(e[0].title, "Reading alone, by device and threads");
    assert_string_equal(e[0].records[0].label, "hdd");
    assert_string_equal(e[0].records[2].label, "lustre");
    assert_string_equal(e[1].title, "The whole pipeline, by decode");
    assert_string_equal(e[1].records[0].label, "r1");
    assert_string_equal(e[2].title, "The whole pipeline, by threads");
    wr_view_groups_free(e, count);
    done(&m);
}

/* One setting may differ between records; it names the cases. With a second
 * there is nothing to compare. */
static void test_one_setting(void **state)
{
    struct made m = {0};
    struct wr_view_group *e;
    struct wr_cases c;
    size_t count = 0;
    char buf[100];

    add(&m, "x", SWEEP("\"depth\":1,\"batch\":16"));
    add(&m, "x", SWEEP("\"depth\":8,\"batch\":16"));
    add(&m, "x", SWEEP("\"depth\":8,\"batch\":32"));
    e = wr_experiments(m.r, m.count, &spec, &count);
    assert_int_equal(count, 2);
    assert_int_equal(e[0].count, 2);
    assert_string_equal(e[0].title, "Reading alone, by depth and threads");
    wr_cases_init(&c, e[0].records, e[0].count, &spec);
    assert_string_equal(wr_cases_label(&c, 3, NULL, buf, sizeof(buf)),
                        "threads 2, depth 8");
    wr_cases_done(&c);
    wr_view_groups_free(e, count);
    done(&m);
}

/* The same twice: only the files tell them apart. */
static void test_repeated(void **state)
{
    struct made m = {0};
    struct wr_view_group *e;
    size_t count = 0;

    add(&m, "emu:hdd:x", SWEEP("\"depth\":1"));
    add(&m, "emu:hdd:x", SWEEP("\"depth\":1"));
    e = wr_experiments(m.r, m.count, &spec, &count);
    assert_int_equal(count, 1);
    assert_string_equal(e[0].records[1].label, "r1");
    wr_view_groups_free(e, count);
    add(&m, "emu:ssd:x", SWEEP("\"depth\":1"));
    e = wr_experiments(m.r, m.count, &spec, &count);
    assert_int_equal(count, 1);
    assert_string_equal(e[0].records[1].label, "r1 (hdd)");
    assert_string_equal(e[0].records[2].label, "r2 (ssd)");
    wr_view_groups_free(e, count);
    done(&m);
}

/* A record with one case belongs to a sweep that has its setting. */
static void test_within(void **state)
{
    struct made m = {0};
    struct wr_view_group *e;
    size_t count = 0;

    add(&m, "x", "[{\"stages\":\"read\",\"threads\":4,\"depth\":1}]");
    add(&m, "x", SWEEP("\"depth\":1"));
    add(&m, "x", "[{\"stages\":\"read\",\"threads\":4,\"depth\":2}]");
    add(&m, "x", "[]");
    add(&m, "x", "[{},{\"threads\":3}]");
    e = wr_experiments(m.r, m.count, &spec, &count);
    assert_int_equal(e[0].count, 2);
    assert_string_equal(e[0].title, "Reading alone, by threads");
    assert_true(count >= 2);
    wr_view_groups_free(e, count);
    done(&m);
}

/* What makes two records one experiment, and what it is called. */
static void test_pairs(void **state)
{
    static const struct {
        const char *url[2], *cases[2];
        size_t count;
        const char *title, *names[2]; /* of the first group */
    } cases[] = {
        {{"x", "x"},
         {SWEEP("\"depth\":1"), SWEEP("\"depth\":1")},
         1,
         "Reading alone, by threads",
         {"r0", "r1"}},
        {{"emu:hdd:x", "emu:nfs:x"},
         {SWEEP("\"depth\":1"), SWEEP("\"depth\":1")},
         1,
         "Reading alone, by device and threads",
         {"hdd", "nfs"}},
        /* A device and a setting are two things. */
        {{"emu:hdd:x", "emu:nfs:x"},
         {SWEEP("\"depth\":1"), SWEEP("\"depth\":2")},
         2,
         "Reading alone, by threads",
         {"r0", NULL}},
        {{"x", "x"},
         {SWEEP("\"page_cache\":\"cold\""), SWEEP("\"page_cache\":\"warm\"")},
         1,
         "Reading alone, by page cache and threads",
         {"r0", "r1"}},
        /* How long it was measured makes no difference. */
        {{"x", "x"},
         {SWEEP("\"max_batches\":1"), SWEEP("\"max_batches\":9")},
         1,
         "Reading alone, by threads",
         {"r0", "r1"}},
        /* Other stages, another sweep. */
        {{"x", "x"},
         {SWEEP("\"depth\":1"), "[{\"stages\":\"all\",\"threads\":1},"
                                "{\"stages\":\"all\",\"threads\":2}]"},
         2,
         "Reading alone, by threads",
         {"r0", NULL}},
        {{"x", "x"},
         {SWEEP("\"depth\":1"), "[{\"stages\":\"read\",\"depth\":1},"
                                "{\"stages\":\"read\",\"depth\":2}]"},
         2,
         "Reading alone, by threads",
         {"r0", NULL}},
        {{"x", "x"},
         {"[{\"stages\":\"sleep\"}]", "[{\"stages\":\"sleep\"}]"},
         1,
         "Benchmark",
         {"r0", "r1"}},
    };

    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct made m = {0};
        struct wr_view_group *e;
        size_t count = 0;

        add(&m, cases[k].url[0], cases[k].cases[0]);
        add(&m, cases[k].url[1], cases[k].cases[1]);
        e = wr_experiments(m.r, m.count, &spec, &count);
        if (count != cases[k].count || strcmp(e[0].title, cases[k].title) != 0)
            fail_msg("%zu: %zu, '%s'", k, count, e[0].title);
        for (size_t i = 0; i < e[0].count; i++)
            assert_string_equal(e[0].records[i].label, cases[k].names[i]);
        wr_view_groups_free(e, count);
        done(&m);
    }
}

/* On the page: a section each, records once at the end, the summary on top. */
static void test_page(void **state)
{
    struct made m = {0};
    const char *paths[MAX];
    const json_t *records[MAX];
    struct wr_comparison comparison;
    struct wr_doc *d = NULL;
    const struct wr_doc_chart *c = NULL;

    add(&m, "emu:hdd:x", SWEEP("\"depth\":1"));
    add(&m, "x", "[{\"stages\":\"all\",\"prefetch\":0}]");
    add(&m, "emu:ssd:x", SWEEP("\"depth\":1"));
    for (size_t i = 0; i < m.count; i++) {
        paths[i] = m.names[i];
        records[i] = m.json[i];
    }
    assert_int_equal(wr_report(&(struct wr_report_spec){.paths = paths,
                                                        .records = records,
                                                        .count = m.count,
                                                        .title = "t"},
                               &d, &comparison, NULL),
                     0);
    assert_int_equal(d->section_count, 4);
    assert_string_equal(d->sections[0]->title, "Reading alone, by device and "
                                               "threads, emulated devices");
    assert_string_equal(d->sections[1]->title, "The whole pipeline");
    assert_string_equal(d->sections[2]->title, "The data");
    assert_string_equal(d->sections[3]->title, "Records and machines");
    assert_string_equal(d->summary[0],
                        "The pipeline delivers up to 11 samples/s.");
    for (size_t i = 0; i < d->sections[1]->item_count && !c; i++)
        c = d->sections[1]->items[i].chart;
    assert_non_null(c);
    assert_true(wr_doc_low(c->series[0], 0) == 10);
    assert_true(wr_doc_high(c->series[0], 0) == 12);
    wr_doc_free(d);
    done(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices),  cmocka_unit_test(test_one_setting),
        cmocka_unit_test(test_repeated), cmocka_unit_test(test_within),
        cmocka_unit_test(test_pairs),    cmocka_unit_test(test_page),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
