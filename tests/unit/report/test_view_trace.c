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
#include "report/doc_private.h"
#include "report/report.h"
#include "report/result.h"

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

/* --- what weir trace prints --- */

static char *printed(const char *record, unsigned width)
{
    struct wr_doc_text_style style = {.width = width};
    json_t *j = parsed(record);
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    weir_err err;

    assert_non_null(out);
    assert_int_equal(wr_result_print(j, style, out, &err), 0);
    fclose(out);
    json_decref(j);
    return text;
}

static void assert_says(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("not \"%s\" in:\n%s", words, text);
}

/* The same words as the page, without charts. */
static void test_printed(void **state)
{
    char *text = printed(whole, 100);

    (void)state;
    assert_says(text, "\nProgram    python3 train.py\n"
                      "Processes  3: 1 main, 2 workers (2 at once), 0 ranks\n"
                      "Events     123,456\n");
    assert_says(text, "\n7 events were over the budget: ");
    assert_says(text, "\nThe trace is not complete: cut off.\n");
    assert_says(text, "\nI/O takes 25.0 % of the run of 9.5 s, ");
    assert_says(text, "\nD14: slow saves\n  Saves stop it.\n"
                      "Lost      2.5 s per epoch\n"
                      "Expected  2 s less per epoch (sure)\n");
    assert_says(text, "  - Evidence: 3 saves\n  - Change: save later\n");
    assert_says(text, "1.000  1 s   ck/</script>\n");
    assert_says(text, "Data set         10 files, 1.0 KB; 3.0 KB read, 1.0 KB "
                      "of it different (3.00 times)\n");
    assert_says(text,
                "1 KiB         3    75.0%    9 B  1.00 s  25.0%  9 B/s\n");
    assert_says(text,
                " more         1    25.0%    9 B  3.00 s  75.0%  3 B/s\n");
    assert_says(text, "open      5      -  1.0 ms");
    assert_says(text, "train    0.00  2.00 s");
    assert_null(strstr(text, "time (s)")); /* no chart */
    assert_null(strstr(text, "The machine"));
    free(text);
}

/* What is known of some traces alone. */
static void test_printed_more(void **state)
{
    static const char more[] =
        "{'command': 'trace', 'run': {'seconds': 2, 'merged': 4, 'ranks': 4,"
        "  'lost_records': 17, 'left_out': 20, 'batches': 46,"
        "  'batch_gap_s': 0.0021},"
        " 'findings': [{'code': 'D15', 'title': 'unsafe', 'risk': true,"
        "  'seconds': 3, 'what': 'x'}, {'code': 'D99', 'title': 'odd'},"
        "  {'code': 'S06', 'title': 'once', 'seconds': 0.5, 'gain': 0.25,"
        "  'once': true, 'sure': 'likely'}],"
        " 'data_set': {'files': 1, 'read_bytes': 1000, 'reads': 4, 'read_s': 2,"
        "  'opens': 3, 'shared_files': 1, 'device_bytes': 250,"
        "  'resident_bytes': 25, 'resident_of': 100,"
        "  'common': [{'bytes': 512, 'count': 3}, {'bytes': 8, 'count': 1}]}}";
    char *text = printed(more, 200);

    (void)state;
    assert_says(text, "Made of  4 traces, by weir trace merge\n");
    assert_says(text, "\n17 of the kernel's records are lost: ");
    assert_says(text, "first rows, 20 are left out.\n");
    assert_says(text, "\nD15: unsafe\n  x\nLost  a risk\n");
    assert_says(text, "\nLost  not known\n");
    assert_says(text, "\nLost      500 ms per run\n"
                      "Expected  250 ms less per run (likely)\n");
    assert_says(text,
                "Usual sizes      75.0 % of reads ask for 512 bytes, 25.0 "
                "% of reads ask for 8 bytes\n");
    assert_says(text, "Each request     500 B/s; 3 opens\n");
    assert_says(text, "Devices gave     250 B: 75.0 % of what was read came "
                      "from the page cache\n");
    assert_says(text, "In memory        25.0 % of the data set at the end\n");
    assert_says(text, "Shared           1 files were read by more than one "
                      "rank\n");
    assert_says(text, "Batches          46, with pauses of more than 2.1 ms "
                      "between them\n");
    assert_null(strstr(text, "Nothing to change"));
    free(text);
    text = printed("{'command': 'trace'}", 80);
    assert_says(text, "\nNothing to change was found.\n");
    assert_null(strstr(text, "Data set"));
    free(text);
}

/* Long tables are cut and say so; names cannot move the cursor, and sentences
 * keep to the width. */
static void test_printed_long(void **state)
{
    json_t *j = parsed("{'command': 'trace', 'saves': [], 'files': []}");
    char *record, *text;

    (void)state;
    for (int k = 0; k < 15; k++)
        json_array_append_new(json_object_get(j, "saves"),
                              json_pack("{s:i, s:i, s:b, s:s}", "from_s", k,
                                        "to_s", k + 1, "waits", k & 1, "path",
                                        "/out/\033[31mmodel"));
    record = json_dumps(j, 0);
    text = printed(record, 60);
    assert_null(strchr(text, '\033'));
    assert_says(text, "saves: the first 12 of 15 are in\n");
    assert_says(text, "  12   11.00  1.00 s");
    assert_null(strstr(text, "  13   12.00"));
    free(text);
    free(record);
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
        cmocka_unit_test(test_printed),
        cmocka_unit_test(test_printed_more),
        cmocka_unit_test(test_printed_long),
        cmocka_unit_test(test_any),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
