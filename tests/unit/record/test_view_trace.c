/* test_view_trace.c - the report of a trace: findings first, any JSON borne.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shown.h"

#include "base/mem.h"
#include "base/rng.h"
#include "record/doc_private.h"
#include "record/report.h"

#define FINDING                                                                \
    "{'code': 'D14', 'title': 'slow saves', 'what': 'Saves stop it.',"         \
    " 'evidence': '3 saves', 'change': 'save later', 'sure': 'sure',"          \
    " 'seconds': 2.5, 'gain': 2, 'once': false, 'risk': false,"                \
    " 'examples': [{'at_s': 1, 'path': 'ck/</script>', 'detail': '1 s'}]}"

static const char whole[] =
    "{'command': 'trace', 'time': '2026-11-17T00:00:00Z', 'weir': '1',"
    " 'run': {'program': 'python3 train.py', 'seconds': 9.5, 'io_share': 0.25,"
    "  'process_share': 0.2, 'mains': 1, 'workers': 2, 'workers_at_once': 2,"
    "  'processes': 3, 'ranks': 0, 'events': 123456, 'lost_events': 7,"
    "  'damage': 'cut off'},"
    " 'findings': [" FINDING "],"
    " 'data_set': {'files': 10, 'file_bytes': 1000, 'read_bytes': 3000,"
    "  'unique_bytes': 1000, 'reads': 30, 'sequential': 15, 'read_s': 1},"
    " 'over_time': {'at_s': [0, 1, 2], 'read_bytes_per_s': [1e6, 2e6, 0],"
    "  'written_bytes_per_s': [0, 0, 5e6], 'reads_per_s': [10, 20, 0],"
    "  'metadata_per_s': [1, 2, 3]},"
    " 'lanes': {'bin_s': 0.5, 'threads': 9, 'list': ["
    "  {'pid': 7, 'tid': 7, 'job': 'main', 'rank': -1, 'busy': [1, 50, null]},"
    "  {'pid': 8, 'tid': 9, 'job': 'worker', 'rank': 3, 'busy': [0, 99]},"
    "  {'pid': 5, 'tid': 5, 'job': 'other', 'program': '/bin/git',"
    "   'busy': [2]}]},"
    " 'read_heat': {'bin_s': 0.5, 'levels': ["
    "  {'below_s': 1e-6, 'reads': [5, 6]}, {'below_s': 2e-6, 'reads': [1, "
    "0]}]},"
    " 'latencies': [{'call': 'open', 'count': 5, 'p50_s': 0.001,"
    "  'below': [[1e-6, 2], [2e-6, 3]]}],"
    " 'read_sizes': [{'to_bytes': 1024, 'count': 3, 'bytes': 9, 'seconds': 1},"
    "  {'to_bytes': -1, 'count': 1, 'bytes': 9, 'seconds': 3}],"
    " 'epochs': [{'from_s': 0, 'to_s': 1}, {'from_s': 1, 'to_s': 2}],"
    " 'phases': [{'kind': 'train', 'from_s': 0, 'to_s': 2}],"
    " 'saves': [{'from_s': 1, 'to_s': 2, 'bytes': 5, 'waits': true,"
    "  'path': 'ck'}],"
    " 'files': [{'path': 'a', 'seconds': 1, 'reads': 3}]}";

static json_t *parsed(const char *text)
{
    char copy[sizeof(whole)];
    json_t *j;
    size_t k = 0;

    for (; text[k]; k++)
        copy[k] = text[k] == '\'' ? '"' : text[k];
    copy[k] = '\0';
    j = json_loads(copy, 0, NULL);
    assert_non_null(j);
    return j;
}

static struct wr_doc *report(const json_t *const *list, size_t n)
{
    static const char *const paths[] = {"a.wtrace", "b.wtrace"};
    struct wr_doc *d = NULL;
    weir_err err;

    assert_int_equal(wr_report(&(struct wr_report_spec){.paths = paths,
                                                        .records = list,
                                                        .count = n,
                                                        .title = "t"},
                               &d, NULL, &err),
                     0);
    return d;
}

static char *text_of(const struct wr_doc *d)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    wr_doc_print_text(d, &(struct wr_doc_text_style){.width = 100}, out);
    fclose(out);
    return text;
}

static void test_whole(void **state)
{
    json_t *j = parsed(whole);
    struct wr_doc *d = report((const json_t *const *)&j, 1);
    const struct wr_doc_chart *c;
    char *text = text_of(d);

    (void)state;
    assert_string_equal(d->sections[0]->title, "Findings");
    assert_string_equal(d->sections[1]->title, "D14: slow saves");
    assert_non_null(strstr(text, "I/O takes 25.0 % of the run"));
    assert_non_null(strstr(text, "save later"));
    assert_non_null(strstr(text, "2.5 s per epoch"));
    assert_non_null(strstr(text, "The trace is not complete: cut off"));
    assert_non_null(strstr(text, "7 events were over the budget"));
    c = shown_chart(d, "Processes and threads");
    assert_int_equal(c->kind, WR_DOC_HEAT);
    assert_int_equal(c->series_count, 3);
    assert_string_equal(c->series[0]->name, "main 7");
    assert_string_equal(c->series[1]->name, "rank 3 worker 8/9");
    assert_string_equal(c->series[2]->name, "git 5");
    assert_true(c->series[0]->y[1] == 50 && c->series[0]->x[1] == 0.5);
    assert_int_equal(c->band_count, 2);
    c = shown_chart(d, "Time of reads over time");
    assert_int_equal(c->series_count, 2);
    assert_true(c->series[1]->y[1] == 6); /* the fast ones are at the bottom */
    c = shown_chart(d, "Sizes of reads of the data set");
    assert_true(c->series[0]->y[1] == 75 && c->series[1]->y[1] == 25);
    free(text);
    wr_doc_free(d);
    json_decref(j);
}

static void test_nothing(void **state)
{
    json_t *j = parsed("{'command': 'trace'}");
    const json_t *two[] = {j, j};
    struct wr_doc *d = report(two, 1);
    char *text = text_of(d);

    (void)state;
    assert_non_null(strstr(text, "Nothing to change was found."));
    free(text);
    wr_doc_free(d);
    d = report(two, 2);
    text = text_of(d);
    free(text);
    wr_doc_free(d);
    json_decref(j);
}

/* --- any JSON --- */

static json_t *odd_value(struct wr_rng *rng)
{
    static const char *const values[] = {
        "null",   "true",     "-1",   "1e308",  "-1e308",         "\"x\"",
        "[]",     "[[1, 2]]", "{}",   "[{}]",   "[null, 1]",      "0",
        "1e-308", "[1]",      "9e18", "[[[]]]", "{\"list\": [3]}"};

    return json_loads(values[wr_rng_below(rng, WR_ARRAY_LEN(values))],
                      JSON_DECODE_ANY, NULL);
}

/* Puts odd values in the place of some. */
static void spoil(json_t *j, struct wr_rng *rng)
{
    const char *key;
    json_t *value;
    void *next;
    size_t k;

    json_object_foreach_safe(j, next, key, value)
    {
        if (strcmp(key, "command") && wr_rng_below(rng, 10) == 0)
            json_object_set_new(j, key, odd_value(rng));
        else
            spoil(value, rng);
    }
    json_array_foreach(j, k, value)
    {
        if (wr_rng_below(rng, 10) == 0)
            json_array_set_new(j, k, odd_value(rng));
        else
            spoil(value, rng);
    }
}

static void print_all(const struct wr_doc *d)
{
    char *page = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&page, &size);
    weir_err err;
    int r;

    assert_non_null(out);
    free(text_of(d));
    wr_doc_print_csv(d, out);
    r = wr_doc_print_html(d, out, &err);
    fclose(out);
    free(page);
    assert_true(r == 0 || r == WEIR_ENOTSUP);
}

static void test_any(void **state)
{
    struct wr_rng rng = {.seed = 16};

    (void)state;
    for (unsigned i = 0; i < 400; i++) {
        json_t *j = parsed(whole);
        const json_t *two[] = {j, j};
        struct wr_doc *d;

        spoil(j, &rng);
        d = report(two, 1 + i % 2);
        print_all(d);
        wr_doc_free(d);
        json_decref(j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
